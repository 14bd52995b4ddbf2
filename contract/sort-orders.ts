// The orders of lists, the usual one first. This file imports nothing, because pages of the dashboard import its values.

/** Of lists by time. */
export const TIME_SORTS = ['newest', 'oldest'] as const;
export type TimeSort = (typeof TIME_SORTS)[number];

/** `highestScore` sorts the newest 5,000 sessions of the filters only. */
export const SESSION_SORTS = [...TIME_SORTS, 'highestScore'] as const;

export const USER_SORTS = ['id', 'name', 'lastSeen', 'sessions', 'highestScore'] as const;
export type UserSort = (typeof USER_SORTS)[number];

export const COURSE_SORTS = ['id', 'name', 'lastSeen', 'sessions'] as const;
export type CourseSort = (typeof COURSE_SORTS)[number];
