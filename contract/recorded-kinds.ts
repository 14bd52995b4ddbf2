// The kinds that a recording names by their index. This file imports nothing, because pages of the dashboard import its values.

/** Kinds of keys: coarser than those that the pixel tells, so that nobody reads words out of a recording. */
export const RECORDED_KEYS = ['character', 'erase', 'navigate', 'modifier', 'other'] as const;
export type RecordedKey = (typeof RECORDED_KEYS)[number];

/** How text came or went, apart from typing. */
export const RECORDED_TEXTS = ['paste', 'copy', 'cut', 'drop', 'insert'] as const;
export type RecordedText = (typeof RECORDED_TEXTS)[number];

/** Classes of the length of a text: at most so many characters. The last one has no bound. */
export const TEXT_LENGTHS = [10, 100, 1_000, Number.POSITIVE_INFINITY] as const;
