import { z } from 'zod';
import { word } from './fields';
import { pageQuery } from './pagination';
import { listSessionsInput } from './sessions';

// The orders of lists. Of the public API, the lists of webhook events and deliveries take `timeSort`, others have one order each.

/** Of lists by time. */
export const TIME_SORTS = ['newest', 'oldest'] as const;
export type TimeSort = (typeof TIME_SORTS)[number];
export const timeSort = word(TIME_SORTS).prefault('newest');

/** `highestScore` sorts the newest 5,000 sessions of the filters only. */
export const SESSION_SORTS = [...TIME_SORTS, 'highestScore'] as const;

export const USER_SORTS = ['id', 'name', 'lastSeen', 'sessions', 'highestScore'] as const;
export type UserSort = (typeof USER_SORTS)[number];

export const COURSE_SORTS = ['id', 'name', 'lastSeen', 'sessions'] as const;
export type CourseSort = (typeof COURSE_SORTS)[number];

/** The filters of `GET /v1/sessions`, and an order. */
export const listSortedSessionsInput = listSessionsInput.safeExtend({ sort: word(SESSION_SORTS).default('newest') });
export type ListSortedSessionsInput = z.infer<typeof listSortedSessionsInput>;

export const listSortedUsersInput = z.object({ sort: word(USER_SORTS).default('id'), ...pageQuery });
export type ListSortedUsersInput = z.infer<typeof listSortedUsersInput>;

export const listSortedCoursesInput = z.object({ sort: word(COURSE_SORTS).default('id'), ...pageQuery });
export type ListSortedCoursesInput = z.infer<typeof listSortedCoursesInput>;
