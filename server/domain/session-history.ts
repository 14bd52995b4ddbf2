import type { ActorKind } from '../../contract/audit';
import { ApiError } from '../../contract/errors';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import { type HistoryStep, MAX_HISTORY_STEPS, type SessionHistory } from '../../contract/session-history';
import type { Confidence } from '../../contract/sessions';
import type { VerdictReason } from '../../contract/verdicts';
import type { DomainContext } from './context';
import { showVerdict } from './labels';
import { classifyRisk, computeScoreBin } from './risk';

/** Something that can have changed the class of a session. Columns of other causes are null. */
export interface HistoryRow {
  at: string;
  cause: HistoryStep['cause'];
  botScore: number | null;
  ruleSetVersion: string | null;
  /** The thresholds from then on, for a change of them; those of the time, for a verdict; the present ones, for the beginning. */
  mediumAt: number | null;
  botAt: number | null;
  /** Before a change of thresholds. */
  before: RiskThresholds | null;
  label: 1 | -1 | null;
  confidence: Confidence | null;
  reasons: VerdictReason[] | null;
  notes: string | null;
  actorKind: ActorKind | null;
  actorName: string | null;
}

/**
 * Reads why a session had its class at each time: its scores, its verdicts and the changes of the thresholds since it began.
 * NOT_FOUND as getSession.
 */
export async function getSessionHistory(
  { db, integration }: DomainContext,
  { sessionId }: { sessionId: string },
): Promise<SessionHistory> {
  const rows = await db.query<HistoryRow>(READ_HISTORY, [integration.id, sessionId, MAX_HISTORY_STEPS + 1]);
  if (rows.length === 0) throw new ApiError('NOT_FOUND', 'Session not found');
  return buildHistory(rows);
}

/**
 * One statement, so that all belongs together. Each part walks its index from the newest row. A session that is scored after
 * its label keeps the label, so the order of time is the order of effect; verdicts of the same time are in the order of their
 * entries.
 */
const READ_HISTORY = `
  with s as (
    select s.created_at, i.medium_at, i.bot_at from sessions s join integrations i on i.id = s.integration_id
     where s.integration_id = $1 and s.id = $2)
  select 'Began' as cause, created_at as at, null::float8 as "botScore", null as "ruleSetVersion", medium_at as "mediumAt",
         bot_at as "botAt", null::jsonb as before, null::smallint as label, null as confidence, null::text[] as reasons,
         null as notes, null as "actorKind", null as "actorName", 0 as entry
    from s
   union all
  (select 'Scored', scored_at, bot_score, rule_set_version, null, null, null, null, null, null, null, null, null, 0
     from session_scores where integration_id = $1 and session_id = $2 and exists (select from s)
    order by scored_at desc limit $3::int)
   union all
  (select 'ThresholdsChanged', occurred_at, null, null, (details->'after'->>'mediumAt')::smallint,
          (details->'after'->>'botAt')::smallint, details->'before', null, null, null, null, null, null, 0
     from audit_entries
    where integration_id = $1 and action = 'ThresholdsChanged' and occurred_at >= (select created_at from s)
    order by occurred_at desc, id desc limit $3::int)
   union all
  (select case when is_undo then 'LabelUndone' when label is null then 'LabelRemoved' else 'Labeled' end, decided_at,
          bot_score, rule_set_version, medium_at, bot_at, null, label, confidence, reasons, notes, actor_kind, actor_name, entry
     from session_verdicts where integration_id = $1 and session_id = $2 and exists (select from s)
    order by entry desc limit $3::int)
   order by at, entry`;

/** Builds the steps from rows in the order of time. Exported for tests. */
export function buildHistory(rows: readonly HistoryRow[]): SessionHistory {
  const [began] = rows.filter(({ cause }) => cause === 'Began');
  // A pipeline may say that a session was scored before it began.
  const later = rows.filter((row) => row !== began);
  const firstChange = later.find(({ before }) => before !== null);
  let thresholds = firstChange?.before ?? { mediumAt: began!.mediumAt!, botAt: began!.botAt! };
  let score: Pick<HistoryStep, 'botScore' | 'ruleSetVersion'> = { botScore: null, ruleSetVersion: null };
  let label: HistoryRow['label'] = null;
  const steps = [began!, ...later].map((row): HistoryStep => {
    const isVerdict = row.actorKind !== null;
    if (row.cause === 'Scored') score = { botScore: row.botScore, ruleSetVersion: row.ruleSetVersion };
    if (row.cause === 'ThresholdsChanged') thresholds = { mediumAt: row.mediumAt!, botAt: row.botAt! };
    if (isVerdict) label = row.label;
    // A verdict knows what its author saw, unless it is older than the history.
    const seen = isVerdict && row.mediumAt !== null ? { mediumAt: row.mediumAt, botAt: row.botAt! } : thresholds;
    const shown = isVerdict ? { botScore: row.botScore, ruleSetVersion: row.ruleSetVersion } : score;
    const scoreBin = shown.botScore === null ? null : computeScoreBin(shown.botScore);
    return {
      ...{ at: row.at, cause: row.cause },
      riskLevel: label === null ? classifyRisk(scoreBin, seen) : showVerdict(label),
      verdict: label && showVerdict(label),
      ...{ confidence: row.confidence, reasons: row.reasons ?? [], notes: row.notes },
      labeledBy: row.actorKind && { kind: row.actorKind, name: row.actorName },
      ...{ ...shown, ...seen },
    };
  });
  return cutHistory(steps);
}

/**
 * Leaves out what is too old to be answered. Of each cause at most one row more than the limit was read, so nothing is missing
 * between the newest steps.
 */
function cutHistory(steps: HistoryStep[]): SessionHistory {
  const isComplete = steps.length <= MAX_HISTORY_STEPS;
  return { steps: isComplete ? steps : steps.slice(-MAX_HISTORY_STEPS), isComplete };
}
