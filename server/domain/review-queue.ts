import {
  type ListQueueInput,
  LOWEST_QUEUED_BIN,
  MAX_QUEUED,
  MAX_TOLD_VERDICTS,
  type ReviewCase,
  type ReviewQueue,
  type ReviewWindow,
  SAMPLE_DAYS,
} from '../../contract/review';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { showVerdict } from './labels';
import { getSessionDetails } from './session-events';
import { getSessionEvidence } from './session-evidence';
import { getSession } from './sessions';

// What needs a verdict. A queue is read once and then stays as it is, so that nothing moves while somebody works through it.

interface QueuedRow {
  openedAt: string;
  total: number;
  sessions: { id: string; score: number | null }[];
}

/** Reads a queue: how many sessions wait, and the first of them. */
export async function listQueue(
  { db, integration }: DomainContext,
  { queue, window, timeZone }: ListQueueInput,
): Promise<ReviewQueue> {
  const [row] =
    queue === 'sample'
      ? await db.query<QueuedRow>(READ_SAMPLE, [integration.id, MAX_QUEUED])
      : await db.query<QueuedRow>(READ_BY_SCORE, [integration.id, MAX_QUEUED, integration.mediumAt, window, timeZone]);
  return { queue, window, ...row! };
}

const WINDOW_STARTS: Record<ReviewWindow, string> = {
  today: `date_trunc('day', now(), $5::text)`,
  '24h': `now() - interval '24 hours'`,
  '7d': `now() - interval '7 days'`,
};
const CASES = Object.entries(WINDOW_STARTS).map(([window, start]) => `when '${window}' then ${start}`);

/** Of more than so many sessions that wait, the newest are queued and counted. */
const MAX_EXAMINED = 20_000;

/** As in the error rates: of the day before these, the free plan has removed some sessions, so it counts nowhere. */
const IN_SAMPLE = `r.integration_id = (select $1::text) and r.day > current_date - ${SAMPLE_DAYS}`;

/**
 * Walks the index `sessions_review` backwards through the window, in the way of `session-walks.ts`, so that the plan does not depend on
 * statistics; the index alone has all that is needed. Sessions of the sample wait in its own queue, where their score is hidden: here
 * their place would tell it. `not in` hashes the few ids of the sample once.
 */
const READ_BY_SCORE = `
  with waiting as materialized (
    select * from (
      select s.id, s.score_bin, s.created_at from sessions s
       where s.integration_id = (select $1::text) and s.label is null and s.score_bin >= ${LOWEST_QUEUED_BIN}
         and s.score_bin >= (select $3::smallint)
         and (s.created_at, s.score_bin, s.id) >= ((select case $4::text ${CASES.join(' ')} end), (select 0::smallint), (select ''))
       order by s.created_at desc, s.score_bin desc, s.id desc limit (select ${MAX_EXAMINED}::int)) recent
     where id not in (select r.session_id from review_sample r where ${IN_SAMPLE}))
  select now() as "openedAt", (select count(*) from waiting)::int as total,
         (select coalesce(json_agg(json_build_object('id', id, 'score', score_bin)
                                   order by score_bin desc, created_at desc, id desc), '[]')
            from (select * from waiting order by score_bin desc, created_at desc, id desc limit $2) first) as sessions`;

/** Each session is found by its key, whatever the statistics say. */
const READ_SAMPLE = `
  with waiting as materialized (
    select r.day, r.position, r.session_id
      from review_sample r cross join lateral (
           select 1 from sessions s
            where s.integration_id = r.integration_id and s.id = r.session_id and s.label is null limit 1) s
     where ${IN_SAMPLE})
  select now() as "openedAt", (select count(*) from waiting)::int as total,
         (select coalesce(json_agg(json_build_object('id', session_id, 'score', null) order by day, position), '[]')
            from (select * from waiting order by day, position limit $2) first) as sessions`;

/**
 * Reads what a reviewer needs to decide on some sessions, in the order of their ids. Leaves out sessions that do not exist. A session
 * of the sample has no score, class, flags and evidence until it has a verdict.
 */
export async function listCases(
  context: DomainContext,
  { sessionIds }: { sessionIds: string[] },
): Promise<ReviewCase[]> {
  const { db, integration } = context;
  const ids = [...new Set(sessionIds)];
  const [drawn, ...cases] = await Promise.all([
    db.query<{ sessionId: string }>(READ_DRAWN, [integration.id, JSON.stringify(ids)]),
    ...ids.map((sessionId) => readCase(context, sessionId)),
  ]);
  const sample = new Set(drawn.map(({ sessionId }) => sessionId));
  return cases
    .filter((found) => found !== null)
    .map((found) => (sample.has(found.session.id) && found.session.label === null ? hideScore(found) : found));
}

const READ_DRAWN = `
  select r.session_id as "sessionId" from review_sample r
   where r.integration_id = $1 and r.session_id in (select value from json_array_elements_text($2::text::json))`;

/** Returns null for a session that does not exist, such as one that retention has removed. */
async function readCase(context: DomainContext, sessionId: string): Promise<ReviewCase | null> {
  try {
    const input = { sessionId };
    const [session, details, evidence] = await Promise.all([
      getSession(context, input),
      getSessionDetails(context, input),
      getSessionEvidence(context, input),
    ]);
    return { session, details, evidence, isBlind: false };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'NOT_FOUND') return null;
    throw error;
  }
}

const hideScore = ({ session, details }: ReviewCase): ReviewCase => ({
  session: { ...session, botScore: null, riskLevel: null, detectionFlags: [] },
  details: { ...details, evidence: null },
  evidence: null,
  isBlind: true,
});

interface VerdictRow {
  sessionId: string;
  label: 1 | -1 | null;
  decidedAt: string;
  isOwn: boolean;
}

/** Lists what has been decided since a time, so that reviewers do not work on the same session. The latest decision counts. */
export async function listVerdicts(
  { db, integration, actor }: DomainContext & AuditedContext,
  { since }: { since: string },
) {
  const actorId = actor.kind === 'Operator' ? null : actor.id;
  const rows = await db.query<VerdictRow>(READ_VERDICTS, [integration.id, since, MAX_TOLD_VERDICTS, actorId]);
  const latest = new Map(rows.map((row) => [row.sessionId, row]));
  return [...latest.values()].map(({ sessionId, label, decidedAt, isOwn }) => ({
    ...{ sessionId, decidedAt, isOwn, verdict: label === null ? null : showVerdict(label) },
  }));
}

const READ_VERDICTS = `
  select session_id as "sessionId", label, decided_at as "decidedAt",
         coalesce(actor_id = $4, false) as "isOwn"
    from session_verdicts where integration_id = $1 and decided_at >= $2
   order by decided_at, session_id, entry limit $3`;
