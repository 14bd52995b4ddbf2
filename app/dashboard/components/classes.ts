/** Joins the class names that are there. */
export const joinClasses = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ');

/** Text of a cell that gives way: cut to what its column, of the width `100%`, has left. */
export const GIVES_WAY = 'block truncate [contain:inline-size]';
