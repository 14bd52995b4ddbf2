import { describeError } from './query-client';

/** How the pages of a keyset list follow each other. */
export const PAGES = {
  getNextPageParam: ({ pagination }: { pagination: { nextCursor?: string | undefined } }) => pagination.nextCursor,
};

interface Pages {
  state: { data?: { pages: unknown[] } | undefined };
}

/** Says when to read a list again. That reads every shown page, so more pages are read less often. */
export const refreshEvery =
  (shortestMs: number) =>
  ({ state }: Pages): number =>
    shortestMs * (state.data?.pages.length ?? 1);

interface KeysetList<Row> {
  data: { pages: { data: Row[] }[] } | undefined;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  refetch(): unknown;
  fetchNextPage(): unknown;
}

/** Converts a keyset list to the props of a DataTable: its rows so far, its error, and how to load more. */
export function listRows<Row>(list: KeysetList<Row>) {
  return {
    rows: list.data?.pages.flatMap(({ data }) => data),
    error: list.error ? describeError(list.error) : null,
    onRetry: () => void list.refetch(),
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    onLoadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
    },
  };
}

/** The parameter of a page's query with the order of its list. */
export const SORT = 'sort';

/**
 * Reads the order from a page's query. The first of `orders` is the one without a choice, and that of a list that does not know the
 * address's: an error would stand where another one is chosen.
 */
export const readSort = <Order extends string>(search: URLSearchParams, orders: readonly [Order, ...Order[]]) =>
  orders.find((order) => order === search.get(SORT)) ?? orders[0];
