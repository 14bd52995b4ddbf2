import { describeError } from './query-client';

/** How the pages of a keyset list follow each other. */
export const PAGES = {
  getNextPageParam: ({ pagination }: { pagination: { nextCursor?: string | undefined } }) => pagination.nextCursor,
};

interface KeysetList<Row> {
  data: { pages: { data: Row[] }[] } | undefined;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  refetch(): unknown;
  fetchNextPage(): unknown;
}

/** What a DataTable takes of a keyset list: its rows so far, its fault, how to go on. */
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
