import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Page } from '../../../../../contract/pagination';

interface Kept<Row> {
  pages: Page<Row>[] | undefined;
  rows: Row[] | undefined;
}

/**
 * The rows of a keyset list that grows at its head while it is read again: what new rows push beyond the last page stays
 * in place, so that nobody who reads there loses the place. Give the component another key with other filters.
 */
export function useLastingRows<Row extends { id: string }>(pages: Page<Row>[] | undefined): Row[] | undefined {
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
 * Scrolls with the rows of the table in `box` when new ones come above what is in sight. The browser's own anchoring does
 * not see to it; switch it off in the box, so that it never does so twice.
 */
export function useHeldPlace(box: RefObject<HTMLElement | null>, rows: unknown[] | undefined) {
  const head = useRef<Element | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are other rows
  useLayoutEffect(() => {
    const first = box.current?.querySelector('tbody tr') ?? null;
    const before = head.current;
    head.current = first;
    if (!first || !before?.isConnected || first === before) return;
    const top = first.getBoundingClientRect().top;
    if (top < 0) window.scrollBy(0, before.getBoundingClientRect().top - top);
  }, [rows]);
}
