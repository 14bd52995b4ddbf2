import { expect } from 'vitest';
import type { Customer } from './customer';

// biome-ignore lint/suspicious/noExplicitAny: items are of any collection
type Item = any;

export interface Walk {
  /** The collection, with its filters. */
  path: string;
  /** Sizes of the pages from the first on, used in turn. */
  pageSizes: number[];
  keyOf(item: Item): unknown;
  /** The keys that must come after an item, in order. After null: all keys. */
  expectAfter(item: Item | null): unknown[];
  /** Runs between two pages. */
  between?(page: number): Promise<void>;
}

const MAX_PAGES = 1_000;

/** Walks a collection to its end and checks that each page has what must come next. Returns the number of pages. */
export async function expectWalk(customer: Customer, walk: Walk): Promise<number> {
  const { path, pageSizes, keyOf, expectAfter } = walk;
  let cursor: string | undefined;
  let last: Item | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const pageSize = pageSizes[page % pageSizes.length]!;
    const rest = expectAfter(last);
    const { status, body } = await customer.get(withQuery(path, { pageSize: String(pageSize), cursor }));
    expect([path, status, body.error]).toEqual([path, 200, undefined]);
    const { data, pagination } = body;
    const keys = data.map(keyOf);
    expect([path, page, keys]).toEqual([path, page, rest.slice(0, keys.length)]);
    expect(keys.length).toBeLessThanOrEqual(pageSize);
    expect(pagination.limit).toBe(pageSize);
    if (!pagination.hasMore) {
      expect([path, page, keys.length]).toEqual([path, page, rest.length]);
      expect(pagination).not.toHaveProperty('nextCursor');
      return page + 1;
    }
    expect(pagination.nextCursor).toMatch(/^[A-Za-z0-9_-]{1,2048}$/);
    cursor = pagination.nextCursor;
    last = data.at(-1) ?? last;
    await walk.between?.(page);
  }
  throw new Error(`${path} has no end`);
}

/** Adds parameters to a path's query, without undefined ones. */
export function withQuery(path: string, more: Record<string, string | undefined>): string {
  const given = Object.entries(more).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`;
}
