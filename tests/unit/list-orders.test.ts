import { expect, it } from 'vitest';
import { readSort } from '../../app/dashboard/list-pages';
import { SESSION_SORTS, USER_SORTS } from '../../contract/sort-orders';

it.each([
  ['', 'newest', 'id'],
  ['sort=highestScore', 'highestScore', 'highestScore'],
  ['sort=name', 'newest', 'name'],
  // What the list refuses: an error would stand where another order is chosen.
  ['sort=zz', 'newest', 'id'],
  ['sort=', 'newest', 'id'],
])('the orders of sessions and users with ?%s', (search, ofSessions, ofUsers) => {
  const query = new URLSearchParams(search);
  expect([readSort(query, SESSION_SORTS), readSort(query, USER_SORTS)]).toEqual([ofSessions, ofUsers]);
});
