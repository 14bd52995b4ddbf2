'use client';
import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Page } from '../../contract/pagination';

/** How often a list that is open asks for newer rows. Not while the page is hidden. */
export const REFRESH_MS = 15_000;

interface NewestFirst<Row> {
  data: { pages: Page<Row>[] } | undefined;
  dataUpdatedAt: number;
}

/**
 * Counts the rows that a newest-first list has got since it was loaded. `first` asks for its first page, `listKey` is the key of the
 * list. `show` loads the list again. The rows stay where they are until then, because somebody may be working on one.
 */
export function useNewRows<Row extends { id: string }>(
  list: NewestFirst<Row>,
  // The options of tRPC have a separate type for each procedure.
  first: { queryKey: QueryKey; queryFn?: unknown },
  listKey: QueryKey,
  isNewestFirst: boolean,
) {
  const queryClient = useQueryClient();
  const [shownAtMs, setShownAtMs] = useState(0);
  const { data, dataUpdatedAt } = useQuery<Page<Row>>({
    ...(first as { queryKey: QueryKey }),
    enabled: isNewestFirst && list.data !== undefined,
    initialData: list.data?.pages[0],
    initialDataUpdatedAt: list.dataUpdatedAt,
    refetchInterval: REFRESH_MS,
  });
  const listed = new Set(list.data?.pages.flatMap((page) => page.data.map(({ id }) => id)));
  // What was read before the list was shown again says nothing of it.
  const isOutdated = dataUpdatedAt < shownAtMs;
  return {
    ...countNewRows(isOutdated ? [] : (data?.data ?? []), listed),
    show() {
      setShownAtMs(Date.now());
      void queryClient.resetQueries({ queryKey: listKey });
    },
  };
}

/**
 * Counts the rows before the first one that the list has. That need not be the list's first row, which may have left the filter since.
 * `isMore`: there may be more than counted, because the newest page has no row of the list.
 */
export function countNewRows(newest: readonly { id: string }[], listed: ReadonlySet<string>) {
  const end = newest.findIndex(({ id }) => listed.has(id));
  return { newRows: end < 0 ? newest.length : end, isMore: end < 0 && listed.size > 0 };
}
