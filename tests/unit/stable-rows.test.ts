import { describe, expect, it } from 'vitest';
import { keepRows } from '../../app/dashboard/[integrationId]/webhooks/[id]/stable-rows';
import type { Page } from '../../contract/pagination';

interface Row {
  id: string;
  /** In which refresh it was read. */
  readIn: number;
}

const SIZE = 50;
/** A list with the rows `newest` to 1, of which some have left the filter, as it is read in pages. */
function readPages(newest: number, count: number, readIn: number, left = new Set<number>()): Page<Row>[] {
  const numbers = Array.from({ length: newest }, (_, n) => newest - n).filter((n) => !left.has(n));
  return Array.from({ length: count }, (_, page) => ({
    data: numbers.slice(page * SIZE, (page + 1) * SIZE).map((n) => ({ id: `${n}`, readIn })),
    pagination: { hasMore: numbers.length > (page + 1) * SIZE, limit: SIZE },
  }));
}
const idsOf = (rows: Row[] | undefined) => rows?.map(({ id }) => Number(id)) ?? [];
const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

/** Reads a list again and again that gets `growth` rows each time. A further page is loaded as soon as rows are copies. */
function watch({ refreshes, growth, isFilled }: { refreshes: number; growth: number; isFilled: boolean }) {
  let pages = 1;
  let shown = keepRows<Row>(undefined, readPages(1_000, pages, 0), 1);
  for (let n = 1; n <= refreshes; n++) {
    shown = keepRows(shown.rows, readPages(1_000 + n * growth, pages, n), 1);
    while (isFilled && shown.copies > 0) {
      pages += 1;
      shown = keepRows(shown.rows, readPages(1_000 + n * growth, pages, n), 1);
    }
  }
  return { ...shown, pages };
}

describe('the rows of a list that is watched while it grows', () => {
  it('are at most those that are loaded and one page, also if no further page can be loaded', () => {
    const { rows, copies } = watch({ refreshes: 60, growth: 7, isFilled: false });
    expect(copies).toBe(SIZE);
    expect(idsOf(rows)).toEqual(range(1_420, 1_321));
  });

  it('are all as they are now, and keep their place, once the page after them is loaded', () => {
    const { rows, copies, pages, isCut } = watch({ refreshes: 60, growth: 1, isFilled: true });
    expect(idsOf(rows)).toEqual(range(1_060, 951));
    expect(new Set(rows?.map(({ readIn }) => readIn))).toEqual(new Set([60]));
    // A further page only when the one before is used up.
    expect({ copies, pages, isCut }).toEqual({ copies: 0, pages: 3, isCut: true });
  });

  it('are those of at most ten pages, however long it is watched', () => {
    const { rows, copies, pages } = watch({ refreshes: 600, growth: 7, isFilled: true });
    expect({ length: rows?.length, copies, pages }).toEqual({ length: 500, copies: 0, pages: 10 });
    expect(idsOf(rows)).toEqual(range(5_200, 4_701));
  });

  it('are as many as were asked for, if some have left the filter', () => {
    const before = keepRows<Row>(undefined, readPages(200, 2, 0), 2).rows;
    const { rows, isCut } = keepRows(before, readPages(200, 2, 1, new Set([200, 150, 101])), 2);
    expect(idsOf(rows)).toEqual(range(199, 98).filter((n) => n !== 150 && n !== 101));
    expect(isCut).toBe(false);
  });

  it('do not have those that have left the filter beyond the last page, once the page after it is loaded', () => {
    const before = keepRows<Row>(undefined, readPages(200, 1, 0), 1).rows;
    const left = new Set([152, 151]);
    const pushed = keepRows(before, readPages(203, 1, 1, left), 1);
    expect([idsOf(pushed.rows).slice(-4), pushed.copies]).toEqual([[154, 153, 152, 151], 3]);
    const { rows } = keepRows(pushed.rows, readPages(203, 2, 2, left), 1);
    expect(idsOf(rows)).toEqual(range(203, 153));
  });

  it('are all of the pages once the reader asks for more', () => {
    const { rows } = watch({ refreshes: 1, growth: 1, isFilled: true });
    expect(rows?.length).toBe(51);
    expect(keepRows(rows, readPages(1_001, 2, 1), 2)).toMatchObject({ rows: { length: 100 }, isCut: false });
    expect(keepRows(rows, readPages(1_001, 3, 1), 3)).toMatchObject({ rows: { length: 150 }, isCut: false });
  });

  it('are those of the pages alone if all is new', () => {
    const before = keepRows<Row>(undefined, readPages(200, 1, 0), 1).rows;
    const { rows, copies } = keepRows(before, readPages(400, 1, 1), 1);
    expect([idsOf(rows), copies]).toEqual([range(400, 351), 0]);
  });
});
