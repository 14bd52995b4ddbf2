import { ApiError } from '../../contract/errors';
import {
  type ListVisitedPagesInput,
  MAX_VISITED_PAGES,
  type VisitedPage,
  type VisitedPages,
} from '../../contract/session-context';
import type { DomainContext } from './context';

/** A change of the page, or of whether it can be seen. */
export interface PageChange {
  type: 'navigation' | 'visibility';
  /** Null: the page that is in front. */
  url: string | null;
  atMs: number;
  /** Of `visibility`: `visible` or `hidden`. */
  state: string | null;
}

export interface PageSpan {
  pageUrl: string;
  startMs: number;
  /** The end of the last event. Null: there is none, so nobody knows how long a page was used. */
  lastEventMs: number | null;
}

interface Visit {
  url: string;
  atMs: number;
  spentMs: number;
}

/**
 * Measures for how long each page of a session was in front: from its page change until the next one, or until it was hidden,
 * and again from when it was shown. The last page ends with the last event. `changes` are in the order of time.
 */
export function measurePages(span: PageSpan, changes: readonly PageChange[]): VisitedPage[] {
  const first: Visit = { url: span.pageUrl, atMs: span.startMs, spentMs: 0 };
  const visits = [first];
  let front: Visit | null = first;
  let sinceMs = span.startMs;
  const bringToFront = (next: Visit | null, atMs: number) => {
    if (front) front.spentMs += Math.max(0, atMs - sinceMs);
    front = next;
    sinceMs = atMs;
  };
  for (const { type, url, atMs, state } of changes) {
    if (type === 'navigation') {
      if (url === null) continue;
      const visit = { url, atMs, spentMs: 0 };
      visits.push(visit);
      bringToFront(visit, atMs);
    } else if (state === 'hidden') {
      // Another tab may be hidden while this one is in front.
      if (front !== null && (url === null || url === front.url)) bringToFront(null, atMs);
    } else if (state === 'visible') {
      const shown = url === null ? visits.at(-1) : visits.findLast((visit) => visit.url === url);
      if (shown && shown !== front) bringToFront(shown, atMs);
    }
  }
  const isKnown = span.lastEventMs !== null;
  if (span.lastEventMs !== null) bringToFront(null, span.lastEventMs);
  return visits.map(({ url, atMs, spentMs }) => ({
    ...{ url, at: new Date(atMs).toISOString(), spentMs: isKnown ? Math.round(spentMs) : null },
  }));
}

/** The dashboard shows so many pages at once. */
const PAGE_SIZE = 50;
/** Page changes and changes of visibility that are read of a session. */
const MAX_CHANGES = 5_000;

interface ChangesRow {
  pageUrl: string;
  startedAt: string;
  lastEventAt: string | null;
  changes: { type: PageChange['type']; url: string | null; timestamp: string; state: string | null }[];
}

/**
 * Lists the pages of a session in their order, with the time spent on each. Pages after the first 2,000 are only said to be
 * there (`hasMore`). NOT_FOUND as getSession.
 */
export async function listVisitedPages(
  { db, integration }: DomainContext,
  { sessionId, cursor }: ListVisitedPagesInput,
  limit = PAGE_SIZE,
): Promise<VisitedPages> {
  const [row] = await db.query<ChangesRow>(READ_CHANGES, [integration.id, sessionId]);
  if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
  const { pageUrl, startedAt, lastEventAt } = row;
  const changes = row.changes
    .map(({ timestamp, ...change }): PageChange => ({ ...change, atMs: Date.parse(timestamp) }))
    .sort((a, b) => a.atMs - b.atMs);
  const lastEventMs = lastEventAt === null ? null : Date.parse(lastEventAt);
  const pages = measurePages({ pageUrl, startMs: Date.parse(startedAt), lastEventMs }, changes);
  const total = Math.min(pages.length, MAX_VISITED_PAGES);
  const end = Math.min(cursor + limit, total);
  return {
    pages: pages.slice(cursor, end),
    total,
    hasMore: pages.length > total || row.changes.length === MAX_CHANGES,
    nextCursor: end < total ? end : null,
  };
}

/** Along the primary key. Sequences follow time, except where a batch came late. */
const READ_CHANGES = `
  select s.page_url as "pageUrl", s.created_at as "startedAt",
         (select max(timestamp + coalesce(duration_ms, 0) * interval '1 ms') from session_events e
           where e.integration_id = $1 and e.session_id = $2) as "lastEventAt",
         (select coalesce(json_agg(json_build_object('type', type, 'url', url, 'timestamp', timestamp, 'state', state)
                                   order by sequence), '[]')
            from (select type, url, timestamp, sequence, metadata ->> 'state' as state from session_events e
                   where e.integration_id = $1 and e.session_id = $2 and type in ('navigation', 'visibility')
                   order by sequence limit ${MAX_CHANGES}) c) as changes
    from sessions s where s.integration_id = $1 and s.id = $2`;
