import { BotDetectionError } from './errors.js';
import type { Schemas } from './operations.js';

/** One page of a list. It may be empty while `hasMore` is true. */
export interface Page<T> {
  items: T[];
  hasMore: boolean;
  /** Where the next page begins. With `sort: 'oldest'` the last page has one too: ask with it again later. */
  nextCursor: string | null;
  /** The page size in effect, possibly smaller than asked for. */
  limit: number;
}

/** A page as the API returns it. */
export interface PageAnswer<T> {
  data: T[];
  pagination: Schemas['ListSessionsResponse']['pagination'];
}

/**
 * A list that is read while it is walked: `for await (const item of list)` gives its items, `list.pages()` its pages.
 * Each walk begins with the first page.
 */
export class PagedList<T> implements AsyncIterable<T> {
  readonly #readPage: (cursor: string | undefined) => Promise<PageAnswer<T>>;
  readonly #firstCursor: string | undefined;

  constructor(readPage: (cursor: string | undefined) => Promise<PageAnswer<T>>, firstCursor: string | undefined) {
    this.#readPage = readPage;
    this.#firstCursor = firstCursor;
  }

  /** The first page alone. */
  async page(): Promise<Page<T>> {
    return this.#read(this.#firstCursor);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let cursor = this.#firstCursor; ; ) {
      const page = await this.#read(cursor);
      yield page;
      if (!page.hasMore) return;
      // To end here would look like the end of the list. A cache that ignores the query answers the same page again and again.
      if (page.nextCursor === null) throw new BotDetectionError('the list goes on, but the page has no cursor');
      if (page.nextCursor === cursor) throw new BotDetectionError('the list goes on, but the page leads to itself');
      cursor = page.nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  async #read(cursor: string | undefined): Promise<Page<T>> {
    const { data, pagination } = await this.#readPage(cursor);
    const { hasMore, limit, nextCursor = null } = pagination;
    return { items: data, hasMore, nextCursor, limit };
  }
}
