import { and, eq } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Finding } from '../../contract/evidence';
import type { Page } from '../../contract/pagination';
import {
  type ListSessionEventsInput,
  NO_EVENT_TYPE,
  SESSION_EVENT_TYPES,
  type SessionEvent,
  type SessionEventType,
  type StaffSessionDetails,
} from '../../contract/session-events';
import { sessionEvents, sessions } from '../../db/schema';
import type { DomainContext } from './context';
import { ascending, readPage } from './pages';
import { summariseFindings } from './session-evidence';

type EventRow = typeof sessionEvents.$inferSelect;

const BY_SEQUENCE = ascending(sessionEvents, 'sequence');

/** Lists a session's events by their sequence (specification: GET /v1/sessions/{sessionId}/events). NOT_FOUND as getSession. */
export async function listSessionEvents(
  context: DomainContext,
  input: ListSessionEventsInput,
): Promise<Page<SessionEvent>> {
  const { sessionId } = input;
  const isOfSession = and(
    eq(sessionEvents.integrationId, context.integration.id),
    eq(sessionEvents.sessionId, sessionId),
  );
  const page = await readPage(context, { route: 'sessions/events', filters: { sessionId } }, input, {
    read: (after, limit) =>
      context.db.orm
        .select()
        .from(sessionEvents)
        .where(and(isOfSession, BY_SEQUENCE.isAfter(after)))
        .orderBy(...BY_SEQUENCE.orderBy)
        .limit(limit),
    locate: BY_SEQUENCE.locate,
    show: showEvent,
  });
  if (page.data.length === 0) await assertSession(context, sessionId);
  return page;
}

/** Checks that a session exists. Only needed for an empty page, because every event belongs to a session. */
async function assertSession(context: DomainContext, sessionId: string): Promise<void> {
  const [session] = await context.db.orm
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.integrationId, context.integration.id), eq(sessions.id, sessionId)));
  if (!session) throw new ApiError('NOT_FOUND', 'Session not found');
}

const showEvent = (row: EventRow): SessionEvent => ({
  id: `${row.sessionId}:${row.sequence}`,
  sessionId: row.sessionId,
  sequence: row.sequence,
  type: row.type,
  timestamp: row.timestamp,
  url: row.url,
  durationMs: row.durationMs,
  eventCount: row.eventCount,
  metadata: row.metadata,
});

/** The number of events of a type in a stretch of the timeline. A stretch may lie before or after the session. */
export interface StretchCount {
  stretch: number;
  type: SessionEventType;
  count: number;
}

interface DetailsRow {
  labeledAt: string | null;
  labeledBy: string | null;
  startTime: string;
  endTime: string;
  pageUrl: string;
  stretchSeconds: number;
  counts: StretchCount[];
  navigations: { url: string; timestamp: string; durationMs: number | null }[];
  scoredAt: string | null;
  ruleSetVersion: string | null;
  /** Null if the latest score brought none, and before scoring. */
  findings: Finding[] | null;
}

/**
 * Reads the course of a session (specification: Session details), with the counts by type of each stretch and who labelled it,
 * which only staff see. NOT_FOUND as getSession.
 */
export async function getSessionDetails(
  context: DomainContext,
  input: { sessionId: string },
): Promise<StaffSessionDetails> {
  const [row] = await context.db.query<DetailsRow>(READ_DETAILS, [context.integration.id, input.sessionId]);
  if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
  const { startTime, endTime, pageUrl, counts } = row;
  const durationSeconds = (Date.parse(endTime) - Date.parse(startTime)) / 1000;
  const countOf = (type: SessionEventType) => sum(counts.filter((one) => one.type === type));
  return {
    sessionId: input.sessionId,
    labeledAt: row.labeledAt,
    labeledBy: row.labeledBy,
    startTime,
    endTime,
    durationSeconds,
    eventCounts: {
      total: sum(counts),
      mouse: countOf('mouse'),
      scroll: countOf('scroll'),
      keyboard: countOf('keyboard'),
      touch: countOf('touch'),
      form: countOf('form'),
    },
    timeline: buildTimeline(startTime, durationSeconds, row.stretchSeconds, counts),
    pageHistory: [
      { url: pageUrl, timestamp: startTime, type: 'load', durationMs: null },
      ...row.navigations.map(({ url, timestamp, durationMs }) => ({
        url,
        timestamp: new Date(timestamp).toISOString(),
        type: 'navigation' as const,
        durationMs,
      })),
    ],
    evidence: row.findings && {
      ruleSetVersion: row.ruleSetVersion,
      scoredAt: row.scoredAt!,
      findings: summariseFindings(row.findings),
    },
  };
}

/** A stretch is a sixtieth of the session, rounded up to seconds, so there are at most this many. */
const MAX_STRETCHES = 60;

/** The page history has the first page and at most this many navigations, because a visitor can cause any number. */
const MAX_NAVIGATIONS = 499;

const READ_DETAILS = `
  with e as materialized (
    select type, timestamp, sequence, url, duration_ms, event_count from session_events
     where integration_id = $1 and session_id = $2),
  s as (
    select page_url, created_at, labeled_at, labeled_by, scored_at,
           greatest(created_at, coalesce(closed_at, (select max(timestamp) from e))) as end_at
      from sessions where integration_id = $1 and id = $2),
  span as (
    select *, greatest(1, ceil(extract(epoch from end_at - created_at) / 60))::int as stretch_seconds from s)
  select labeled_at as "labeledAt", labeled_by as "labeledBy", created_at as "startTime", end_at as "endTime", page_url as "pageUrl", stretch_seconds as "stretchSeconds",
         (select coalesce(json_agg(c), '[]') from (
            select greatest(-1, least(${MAX_STRETCHES}, floor(extract(epoch from timestamp - created_at) / stretch_seconds)))::int
                     as stretch,
                   type, sum(event_count) as count
              from e group by 1, 2) c) as counts,
         (select coalesce(json_agg(json_build_object('url', url, 'timestamp', timestamp, 'durationMs', duration_ms)
                                   order by timestamp, sequence), '[]')
            from (select * from e where type = 'navigation' and url is not null
                   order by timestamp, sequence limit ${MAX_NAVIGATIONS}) n) as navigations,
         span.scored_at as "scoredAt", c.rule_set_version as "ruleSetVersion", c.evidence as findings
    from span left join lateral (
         select * from session_scores c
          where c.integration_id = $1 and c.session_id = $2 and c.scored_at = span.scored_at limit 1) c on true`;

const sum = (counts: { count: number }[]) => counts.reduce((total, { count }) => total + count, 0);

/**
 * Builds the timeline: stretches without gaps over the whole session. Events before its start count in the first stretch,
 * events after its end in the last.
 */
export function buildTimeline(
  startTime: string,
  durationSeconds: number,
  stretchSeconds: number,
  counts: StretchCount[],
): StaffSessionDetails['timeline'] {
  const length = Math.max(1, Math.ceil(durationSeconds / stretchSeconds));
  const stretches = Array.from({ length }, () => new Map<SessionEventType, number>());
  for (const { stretch, type, count } of counts) {
    const counted = stretches[Math.min(Math.max(stretch, 0), length - 1)]!;
    counted.set(type, (counted.get(type) ?? 0) + count);
  }
  const totals = stretches.map((counted) => sum([...counted.values()].map((count) => ({ count }))));
  const busiest = Math.max(...totals);
  return stretches.map((counted, index) => ({
    timestamp: new Date(Date.parse(startTime) + index * stretchSeconds * 1000).toISOString(),
    eventCount: totals[index]!,
    dominantEventType: findDominantType(counted),
    activityLevel: busiest === 0 ? 0 : totals[index]! / busiest,
    countsByType: Object.fromEntries(counted),
  }));
}

/** Finds the most frequent type. Of types with the same count, it takes the first in the contract's list. */
function findDominantType(counted: Map<SessionEventType, number>): SessionEventType | typeof NO_EVENT_TYPE {
  const most = Math.max(0, ...counted.values());
  if (most === 0) return NO_EVENT_TYPE;
  return SESSION_EVENT_TYPES.find((type) => counted.get(type) === most)!;
}
