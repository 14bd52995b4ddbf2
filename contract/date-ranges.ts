/** Ranges of days that end today, as an address names them. A saved link with one moves with time. */
export const RANGE_NAMES = ['today', '7d', '30d'] as const;
export type RangeName = (typeof RANGE_NAMES)[number];
