/** Joins the class names that are there. */
export const joinClasses = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ');
