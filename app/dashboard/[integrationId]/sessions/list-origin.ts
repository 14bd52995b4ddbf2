// A session's page knows from its address which list its reader came from, so that it can go to the next one of that list.

const ORIGIN = 'from';

/** A list of sessions: that of the sessions page with its filters, or a queue of the review page. */
export type Origin = { page: 'sessions'; search: URLSearchParams } | { page: 'review'; openedAt: string };

/** Names the sessions list with the filters of its address. The selected row is not part of it. */
export function readListOrigin(search: URLSearchParams | Record<string, string>): string {
  const filters = new URLSearchParams(search);
  filters.delete('selected');
  return filters.size > 0 ? `sessions?${filters}` : 'sessions';
}

/** Names a queue by the time at which it was opened. */
export const composeQueueOrigin = (openedAt: string) => `review?opened=${encodeURIComponent(openedAt)}`;

/** Adds the list to the address of a session's page. */
export const withOrigin = (href: string, origin: string) => `${href}?${new URLSearchParams({ [ORIGIN]: origin })}`;

/** Reads which list the reader of a session's page came from. Null for none, and for anything that is no list of ours. */
export function readOrigin(search: URLSearchParams): (Origin & { origin: string }) | null {
  const origin = search.get(ORIGIN) ?? '';
  const [page, query] = origin.split(/\?(.*)/s);
  const filters = new URLSearchParams(query);
  if (page === 'sessions') return { origin, page, search: filters };
  const openedAt = filters.get('opened');
  return page === 'review' && openedAt ? { origin, page, openedAt } : null;
}
