const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Removes marks that turn the direction of text: an id could turn what stands after it. Scripts that run from the right need none of
 * them.
 */
export const removeDirectionMarks = (text: string): string => text.replace(DIRECTION_MARKS, '');
