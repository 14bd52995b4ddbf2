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
  // The options of tRPC have a type of their own for each procedure.
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
  const known = list.data?.pages[0]?.data[0]?.id;
  const rows = data?.data ?? [];
  // What was read before the list was shown again says nothing of it.
  const isOutdated = dataUpdatedAt < shownAtMs;
  const at = known === undefined ? rows.length : isOutdated ? 0 : rows.findIndex(({ id }) => id === known);
  return {
    newRows: at < 0 ? rows.length : at,
    /** Whether there may be more new rows than counted. */
    isMore: at < 0,
    show() {
      setShownAtMs(Date.now());
      void queryClient.resetQueries({ queryKey: listKey });
    },
  };
}
