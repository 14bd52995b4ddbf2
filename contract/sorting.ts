import { z } from 'zod';
import { word } from './fields';
import { pageQuery } from './pagination';
import { listSessionsInput } from './sessions';
import { COURSE_SORTS, SESSION_SORTS, TIME_SORTS, USER_SORTS } from './sort-orders';

// Lists in an order. Of the public API, the lists of webhook events and deliveries take `timeSort`, others have one order each.

export const timeSort = word(TIME_SORTS).prefault('newest');

/** The filters of `GET /v1/sessions`, and an order. */
export const listSortedSessionsInput = listSessionsInput.safeExtend({ sort: word(SESSION_SORTS).default('newest') });
export type ListSortedSessionsInput = z.infer<typeof listSortedSessionsInput>;

export const listSortedUsersInput = z.object({ sort: word(USER_SORTS).default('id'), ...pageQuery });
export type ListSortedUsersInput = z.infer<typeof listSortedUsersInput>;

export const listSortedCoursesInput = z.object({ sort: word(COURSE_SORTS).default('id'), ...pageQuery });
export type ListSortedCoursesInput = z.infer<typeof listSortedCoursesInput>;
