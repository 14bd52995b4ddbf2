import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Page } from '../../../../../contract/pagination';

const MAX_COPIES = 50;
/** Each page makes the list be read again less often. */
const MAX_PAGES = 10;

interface Kept<Row> {
  /** Undefined while the rows load. */
  rows: Row[] | undefined;
  /** How many of them, at the end, are as they were read before they were pushed past the last page. */
  copies: number;
  /** Whether the pages have more rows than the reader asked for. */
  isCut: boolean;
}

/**
 * Finds the rows to show once the pages were read again. Rows that new ones have pushed past the last page are kept as copies, until a
 * further page brings them. Of that page only those are shown, so that the next ones to be pushed are on it too. `asked` is how
 * many pages the reader asked for.
 */
export function keepRows<Row extends { id: string }>(
  before: Row[] | undefined,
  pages: Page<Row>[] | undefined,
  asked: number,
): Kept<Row> {
  const fetched = pages?.flatMap(({ data }) => data);
  const whole = { rows: fetched, copies: 0, isCut: false };
  if (!before || !pages || !fetched || pages.length >= MAX_PAGES || !pages.at(-1)?.pagination.hasMore) return whole;
  const places = new Map(before.map(({ id }, place) => [id, place]));
  const last = fetched.findLastIndex(({ id }) => places.has(id));
  if (last < 0) return whole;
  if (last === fetched.length - 1) {
    const from = places.get(fetched[last]!.id)! + 1;
    const copies = before.slice(from, from + MAX_COPIES);
    return { rows: [...fetched, ...copies], copies: copies.length, isCut: false };
  }
  const askedFor = pages.slice(0, asked).reduce((sum, { data }) => sum + data.length, 0);
  const rows = fetched.slice(0, Math.max(last + 1, askedFor));
  return { rows, copies: 0, isCut: rows.length < fetched.length };
}

interface KeysetPages<Row> {
  data: { pages: Page<Row>[] } | undefined;
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isError: boolean;
  fetchNextPage(): unknown;
}

/**
 * The rows of a keyset list that grows at its head while it is refetched, and what a table needs to load more. Rows that new
 * ones push past the last loaded page stay in the list, so that readers there keep their place. They are read again with it,
 * up to ten pages. Give the component a new key when the filters change.
 */
export function useStableRows<Row extends { id: string }>(list: KeysetPages<Row>) {
  const pages = list.data?.pages;
  const [asked, setAsked] = useState(pages?.length || 1);
  const [kept, setKept] = useState(() => ({ pages, asked, ...keepRows(undefined, pages, asked) }));
  const isOutdated = kept.pages !== pages || kept.asked !== asked;
  const { rows, copies, isCut } = isOutdated ? keepRows(kept.rows, pages, asked) : kept;
  if (isOutdated) setKept({ pages, asked, rows, copies, isCut });
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const isBehind = copies > 0 && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (isBehind) void fetchNextPage();
  }, [isBehind, fetchNextPage]);
  const onLoadMore = () => {
    if (list.isFetchingNextPage) return;
    setAsked((pages?.length ?? 0) + (isCut ? 0 : 1));
    if (!isCut && hasNextPage) void fetchNextPage();
  };
  return { rows, hasMore: hasNextPage || isCut, onLoadMore };
}

/**
 * Keeps the scroll position when new rows arrive in `box` above the visible ones. The browser's scroll anchoring does
 * not handle this case. Switch it off in the box, so that the position is never corrected twice.
 */
export function useScrollAnchor(box: RefObject<HTMLElement | null>, rows: unknown[] | undefined) {
  const head = useRef<Element | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the rows change
  useLayoutEffect(() => {
    const first = box.current?.querySelector('tbody tr') ?? null;
    const before = head.current;
    head.current = first;
    if (!first || !before?.isConnected || first === before) return;
    const top = first.getBoundingClientRect().top;
    if (top < 0) window.scrollBy(0, before.getBoundingClientRect().top - top);
  }, [rows]);
}
