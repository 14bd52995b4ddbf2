import { ApiError } from '../../contract/errors';
import type { Finding } from '../../contract/evidence';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { RiskLevel } from '../../contract/sessions';
import type { Database } from '../../db/client';
import { type AuditedContext, recordAct } from '../audit/acts';
import { MIN_SEGMENTS } from '../detection/change-point';
import { type Judgement, RULE_SET_VERSION, scoreSegments, scoreTrace } from '../detection/score';
import type { Trace } from '../detection/trace';
import { classifyRisk, computeScoreBin } from '../domain/risk';
import type { Fact } from '../pipeline/facts';
import type { Ingester } from '../pipeline/ingest';
import { type KeptBatch, toDocumentId, unpackBatch, unpackTrace } from './packing';

// Judges sessions of the past by the present rules. Their traces are kept for TRACE_DAYS.

export interface RescoreRequest {
  /** Null: all integrations. */
  integrationId: string | null;
  /** Nothing is written. */
  isDryRun: boolean;
  traceDays: number;
}

export interface RescoreReport {
  ruleSetVersion: string;
  isDryRun: boolean;
  /** Sessions whose score was of other rules. */
  judged: number;
  /** Sessions that got a new score. */
  recorded: number;
  /** Still open: not recorded, because the server scores them at their next batch and at their close. */
  open: number;
  /** Not judged: their score is already of these rules, or a customer's pipeline gave it. */
  current: number;
  foreign: number;
  /** Sessions that change their class, and which rules find something in them now, or no longer do. */
  changes: ClassChange[];
  /** The first of these sessions. */
  sessions: ChangedSession[];
}

interface ClassChange {
  from: RiskLevel;
  to: RiskLevel;
  sessions: number;
  found: Record<string, number>;
  gone: Record<string, number>;
}

interface ChangedSession {
  integrationId: string;
  sessionId: string;
  from: RiskLevel;
  to: RiskLevel;
  scoreBefore: number;
  score: number;
}

/** Traces are large, so few are in memory at a time. */
const PAGE_SIZE = 20;
const MAX_SHOWN_SESSIONS = 100;
const DAY_MS = 86_400_000;

/**
 * Judges the stored sessions of one or all integrations by the present rules, and records the scores of those that are closed. It
 * fires no events about them; alert rules count the new scores. A run that was interrupted continues where it stopped, because
 * sessions that have a score of these rules are left alone. NOT_FOUND for an unknown integration.
 */
export async function rescoreSessions(
  { db, actor }: AuditedContext,
  ingester: Pick<Ingester, 'ingestFacts'>,
  { integrationId, isDryRun, traceDays }: RescoreRequest,
): Promise<RescoreReport> {
  const integrations = await db.query<RiskThresholds & { id: string }>(LIST_INTEGRATIONS, [integrationId]);
  if (integrationId !== null && integrations.length === 0) throw new ApiError('NOT_FOUND', 'Integration not found');
  const report: RescoreReport = {
    ...{ ruleSetVersion: RULE_SET_VERSION, isDryRun, judged: 0, recorded: 0, open: 0, current: 0, foreign: 0 },
    ...{ changes: [], sessions: [] },
  };
  const firstDay = new Date(Date.now() - traceDays * DAY_MS).toISOString().slice(0, 10);

  for (const { id, ...thresholds } of integrations) {
    let isNoted = false;
    for await (const page of readPages(db, id, firstDay)) {
      const facts: Fact[] = [];
      for (const row of page) {
        const trace = await readTrace(db, row, report);
        if (!trace) continue;
        const judgement = scoreTrace(trace);
        report.judged++;
        noteChange(report, { integrationId: id, row, judgement, thresholds });
        if (row.status === 'Scored' && row.body !== null) facts.push(writeScore(row, judgement, trace));
        else report.open++;
      }
      if (isDryRun || facts.length === 0) continue;
      // Before the first score, so that none changes without an entry.
      if (!isNoted) {
        const act = { action: 'SessionsRescored', integrationId: id, subjectId: id } as const;
        await db.orm.transaction((tx) =>
          recordAct(tx, actor, { ...act, details: { ruleSetVersion: RULE_SET_VERSION } }),
        );
        isNoted = true;
      }
      await ingester.ingestFacts({ integrationId: id, facts, isOurs: true, isOfPast: true });
      report.recorded += facts.length;
    }
  }
  return report;
}

/** A session of a pixel, with its present score. */
interface SessionRow {
  key: string;
  day: string;
  sessionId: string;
  userAgent: string;
  /** As it was looked up when the session closed. */
  isReplay: boolean | null;
  status: string;
  label: 1 | -1 | null;
  scoreBin: number | null;
  botScore: number | null;
  detectionFlags: string[];
  scoredAt: string | null;
  ruleSetVersion: string | null;
  /** The trace of a closed session whose score is of other rules. */
  body: Buffer | null;
  now: string;
}

async function* readPages(db: Database, integrationId: string, firstDay: string): AsyncGenerator<SessionRow[]> {
  let after = '';
  for (;;) {
    const parameters = [integrationId, after, firstDay, RULE_SET_VERSION, PAGE_SIZE];
    const page = await db.query<SessionRow>(READ_PAGE, parameters);
    if (page.length > 0) yield page;
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)!.sessionId;
  }
}

/** Reads the trace of a session, unless its score is of these rules or not ours. Null if there is nothing to judge. */
async function readTrace(db: Database, row: SessionRow, report: RescoreReport): Promise<Trace | null> {
  const { scoredAt, ruleSetVersion, userAgent, isReplay, body } = row;
  if (scoredAt === null) report.open++;
  else if (ruleSetVersion === null) report.foreign++;
  else if (ruleSetVersion === RULE_SET_VERSION) report.current++;
  else {
    const batches = body === null ? await readBatches(db, row) : unpackTrace(body);
    if (batches.length > 0) return { userAgent, batches, isReplay };
  }
  return null;
}

async function readBatches(db: Database, { day, key }: SessionRow): Promise<KeptBatch[]> {
  const rows = await db.query<{ document: string; sequence: number; receivedAt: string; body: Buffer }>(READ_BATCHES, [
    day,
    key,
  ]);
  return rows.map(({ document, sequence, receivedAt, body }) =>
    unpackBatch(body, { d: toDocumentId(document), n: sequence, receivedAtMs: Date.parse(receivedAt) }),
  );
}

/** Later than the score before, so that it becomes the session's score. The score before stays in its history. */
function writeScore({ sessionId, scoredAt, now }: SessionRow, judgement: Judgement, trace: Trace): Fact {
  const { botScore, detectionFlags, findings, ruleSetVersion } = judgement;
  const segments = scoreSegments(trace);
  const atMs = Math.max(Date.parse(now), Date.parse(scoredAt!) + 1);
  return {
    ...{ kind: 'sessionScored', sessionId, botScore, detectionFlags, scoredAt: new Date(atMs).toISOString() },
    ...{ evidence: findings satisfies Finding[], ruleSetVersion },
    ...(segments.length >= MIN_SEGMENTS && { segments }),
  };
}

interface Rescored {
  integrationId: string;
  row: SessionRow;
  judgement: Judgement;
  thresholds: RiskThresholds;
}

/** Notes a session that changes its class. A label decides the class of its session whatever the score. */
function noteChange(
  { changes, sessions }: RescoreReport,
  { integrationId, row, judgement, thresholds }: Rescored,
): void {
  const from = classifyRisk(row.scoreBin, thresholds);
  const to = classifyRisk(computeScoreBin(judgement.botScore), thresholds);
  if (row.label !== null || from === null || to === null || from === to) return;
  let change = changes.find((known) => known.from === from && known.to === to);
  if (!change) {
    change = { from, to, sessions: 0, found: {}, gone: {} };
    changes.push(change);
  }
  change.sessions++;
  const [before, now] = [new Set(row.detectionFlags), new Set(judgement.detectionFlags)];
  for (const flag of now) if (!before.has(flag)) change.found[flag] = (change.found[flag] ?? 0) + 1;
  for (const flag of before) if (!now.has(flag)) change.gone[flag] = (change.gone[flag] ?? 0) + 1;
  if (sessions.length >= MAX_SHOWN_SESSIONS) return;
  const [scoreBefore, score] = [row.botScore!, judgement.botScore];
  sessions.push({ integrationId, sessionId: row.sessionId, from, to, scoreBefore, score });
}

const LIST_INTEGRATIONS = `
  select id, medium_at as "mediumAt", bot_at as "botAt" from integrations
   where $1::text is null or id = $1::text order by id`;

const READ_PAGE = `
  select c.key, c.day::text, c.session_id as "sessionId", c.user_agent as "userAgent", c.is_replay as "isReplay", s.status, s.label,
         s.score_bin as "scoreBin", s.bot_score as "botScore", s.detection_flags as "detectionFlags",
         s.scored_at as "scoredAt", p.rule_set_version as "ruleSetVersion", now() as now,
         case when p.rule_set_version <> $4::text then t.body end as body
    from collected_sessions c
    join sessions s on s.integration_id = c.integration_id and s.id = c.session_id
    left join session_scores p
      on p.integration_id = s.integration_id and p.session_id = s.id and p.scored_at = s.scored_at
    left join session_traces t on t.day = c.day and t.session_key = c.key
   where c.integration_id = $1::text and c.session_id > $2::text and c.day >= $3::date
   order by c.session_id limit $5::int`;

const READ_BATCHES = `
  select document, sequence, received_at as "receivedAt", body from session_batches
   where day = $1::date and session_key = $2::bigint`;
