import type { DemoSession, DemoVerdict } from '../../contract/demo';
import type { Finding } from '../../contract/evidence';
import type { Database } from '../../db/client';
import { createMinuteCounter, createTimeBudget, type TimeBudget } from '../collector/limits';
import { type KeptBatch, toDocumentId, unpackBatch, unpackTrace } from '../collector/packing';
import { deriveSessionId } from '../collector/tokens';
import { scoreTrace } from '../detection/score';
import { visitEvents } from '../detection/trace';
import { type PackedNumbers, unpackNumbers } from '../detection/varints';
import { findIntegration } from '../domain/integrations';
import { getSessionEvidence } from '../domain/session-evidence';
import { getSession } from '../domain/sessions';
import type { DemoSite, Service } from '../service';

/** Larger sessions are not read, because the page asks every second. */
const MAX_READ_BYTES = 512 * 1024;
/** Reading and judging take this share of the process, whatever a page sends and however often it asks. A visitor's session takes 1 ms. */
const LIVE_SHARE = 0.1;
const LIVE_BURST_MS = 1_000;
const liveTime = createTimeBudget(LIVE_SHARE, LIVE_BURST_MS);

/** The page asks once a second, the demo's agent five times. In all, about a hundred pages can ask. */
const callsOfSession = createMinuteCounter(600);
const callsInAll = createMinuteCounter(6_000);

/** Counts a call in this process. Returns false if there are too many in this minute. */
export const takeDemoCall = (nonce: string): boolean => callsOfSession.take(nonce) && callsInAll.take('');

/**
 * Reads the verdict on the session that a tab of the demo page began with this nonce. Score and class are those that the
 * dashboard shows. The findings of an open session are computed here, because scores are sent only when something changes.
 * Without time for that, they are those of the latest score.
 */
export async function readDemoVerdict(
  service: Service,
  demo: DemoSite,
  nonce: string,
  time: TimeBudget = liveTime,
): Promise<DemoVerdict> {
  const { db, secrets } = service;
  const { integrationId } = demo;
  const sessionId = deriveSessionId(secrets.collectorKey, demo.siteId, nonce);
  const [row] = await db.query<Row>(READ_SESSION, [integrationId, sessionId]);
  const found = row && (await findIntegration(db, integrationId));
  if (!found) return { session: null };
  const context = { db, cursorKey: secrets.cursorKey, integration: found.integration };
  const [session, evidence, { findings, kept }] = await Promise.all([
    getSession(context, { sessionId }),
    getSessionEvidence(context, { sessionId }),
    readKept(db, row, time),
  ]);
  const path = [integrationId, 'sessions', sessionId].map(encodeURIComponent).join('/');
  return {
    session: {
      id: sessionId,
      startedAt: session.createdAt,
      closedAt: row.closedAt,
      riskLevel: session.riskLevel,
      botScore: evidence.botScore,
      ruleSetVersion: evidence.ruleSetVersion,
      scoredAt: evidence.scoredAt,
      findings: findings ?? evidence.findings,
      kept,
      botDetected: row.firedAt === null ? null : { firedAt: row.firedAt, deliveries: row.deliveries },
      dashboardPath: `/dashboard/${path}`,
    },
  };
}

interface Row {
  userAgent: string;
  closedAt: string | null;
  key: string;
  day: string;
  firedAt: string | null;
  deliveries: number;
}

const READ_SESSION = `
  select s.closed_at as "closedAt", c.key, c.day::text, c.user_agent as "userAgent", e.created_at as "firedAt",
         (select count(*)::int from webhook_deliveries d
           where d.integration_id = e.integration_id and d.event_id = e.id) as deliveries
    from sessions s
    join collected_sessions c on c.integration_id = s.integration_id and c.session_id = s.id
    left join domain_events e on e.integration_id = s.integration_id and e.type = 'BotDetected' and e.natural_key = s.id
   where s.integration_id = $1 and s.id = $2`;

/** What is kept of a session, and what the rules find in it: null once it is closed, and if it is not read. */
interface Kept {
  kept: DemoSession['kept'];
  findings: Finding[] | null;
}

/** Reads what is kept of a session: its batches, or after the close its trace and the batches that came later. */
async function readKept(db: Database, { key, day, userAgent, closedAt }: Row, time: TimeBudget): Promise<Kept> {
  const parameters = [day, key];
  const [size] = await db.query<{ count: number; bytes: number }>(MEASURE, parameters);
  const { count = 0, bytes = 0 } = size ?? {};
  const unread: Kept = { kept: { batches: count, bytes, events: null }, findings: null };
  if (bytes > MAX_READ_BYTES || !time.hasTime()) return unread;
  const [traces, rows] = await Promise.all([
    db.query<{ body: Buffer }>(READ_TRACE, parameters),
    db.query<BatchRow>(READ_BATCHES, parameters),
  ]);
  // Other calls may have taken the time in the meantime. Nothing waits from here on.
  if (!time.hasTime()) return unread;
  const startedAt = performance.now();
  const batches = [...traces.flatMap(({ body }) => unpackTrace(body)), ...rows.map(readBatch)];
  const events = batches.reduce((sum, batch) => sum + countEvents(batch.events), 0);
  const isLive = closedAt === null && batches.length > 0;
  const findings = isLive ? scoreTrace({ userAgent, batches }).findings : null;
  time.spend(performance.now() - startedAt);
  return { kept: { batches: count, bytes, events }, findings };
}

interface BatchRow {
  document: string;
  sequence: number;
  receivedAt: string;
  body: Buffer;
}

const readBatch = ({ document, sequence, receivedAt, body }: BatchRow): KeptBatch =>
  unpackBatch(body, { d: toDocumentId(document), n: sequence, receivedAtMs: Date.parse(receivedAt) });

const BATCHES = 'session_batches where day = $1::date and session_key = $2::bigint';
const TRACES = 'session_traces where day = $1::date and session_key = $2::bigint';
const MEASURE = `
  select coalesce(sum(batches), 0)::int as count, coalesce(sum(bytes), 0)::int as bytes from (
    select count(*) as batches, sum(octet_length(body)) as bytes from ${BATCHES}
    union all select sum(batches), sum(octet_length(body)) from ${TRACES}) kept`;
const READ_TRACE = `select body from ${TRACES}`;
const READ_BATCHES = `select document, sequence, received_at as "receivedAt", body from ${BATCHES}`;

function countEvents(events: PackedNumbers): number {
  let count = 0;
  visitEvents(unpackNumbers(events), () => {
    count++;
  });
  return count;
}
