'use client';
import { readSort, SORT } from '../list-pages';
import { useUrlState } from './url-state';

/** The order of a list, kept in the URL. The list's own order is not written there. */
export interface Sorting {
  current: string;
  set(sort: string | null): void;
}

/** The order of the page's list; `usual` is the one without a choice. A change closes the details. */
export function useSorting(usual: string): Sorting {
  const { params, change } = useUrlState();
  return {
    current: readSort(params, usual),
    set: (sort) => change({ [SORT]: sort === usual ? null : sort, selected: null, delivery: null }),
  };
}
