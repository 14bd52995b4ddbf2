'use client';
import { readSort, SORT } from '../list-pages';
import { useUrlState } from './url-state';

/** The order of a list, kept in the URL. The list's own order is not written there. */
export interface Sorting<Order extends string = string> {
  current: Order;
  set(sort: string | null): void;
}

/** The order of the page's list, one of `orders`; the first is the one without a choice. A change closes the details. */
export function useSorting<Order extends string>(orders: readonly [Order, ...Order[]]): Sorting<Order> {
  const { params, change } = useUrlState();
  return {
    current: readSort(params, orders),
    set: (sort) => change({ [SORT]: sort === orders[0] ? null : sort, selected: null, delivery: null }),
  };
}
