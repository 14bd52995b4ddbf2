import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Page } from '../../../../../contract/pagination';

interface Kept<Row> {
  pages: Page<Row>[] | undefined;
  rows: Row[] | undefined;
}

/**
 * The rows of a keyset list that grows at its head while it is refetched. Rows that new ones push past the last loaded
 * page stay in the list, so that readers there do not lose their place. Give the component a new key when the filters
 * change.
 */
export function useStableRows<Row extends { id: string }>(pages: Page<Row>[] | undefined): Row[] | undefined {
  const [kept, setKept] = useState<Kept<Row>>({ pages: undefined, rows: undefined });
  if (kept.pages === pages) return kept.rows;
  const fetched = pages?.flatMap(({ data }) => data);
  const lastId = fetched?.at(-1)?.id;
  const at = pages?.at(-1)?.pagination.hasMore ? (kept.rows?.findIndex(({ id }) => id === lastId) ?? -1) : -1;
  const rows = at < 0 ? fetched : [...(fetched ?? []), ...(kept.rows ?? []).slice(at + 1)];
  setKept({ pages, rows });
  return rows;
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
