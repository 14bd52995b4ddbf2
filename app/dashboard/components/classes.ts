/** Joins the class names that are set. */
export const joinClasses = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ');

/** Text of a table cell that shrinks: it is truncated to the space that its column (width `100%`) has left. */
export const TRUNCATED = 'block truncate [contain:inline-size]';
