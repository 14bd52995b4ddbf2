import { ApiError } from '../../contract/errors';
import {
  type EvidenceSummary,
  type Finding,
  MAX_SHOWN_SCORES,
  MAX_SUMMARY_FINDINGS,
  type SessionEvidence,
} from '../../contract/evidence';
import type { DomainContext } from './context';

/** A score of the session. A session without scores has one row in which all is null. */
interface ScoreRow {
  scoredAt: string | null;
  botScore: number;
  detectionFlags: string[];
  ruleSetVersion: string | null;
  /** Of the latest score only: the others are not read. */
  findings: Finding[] | null;
}

/**
 * Reads why a session has its score (GET /v1/sessions/{sessionId}/evidence), in one statement, so that score and findings
 * belong together. NOT_FOUND if the integration has no such session.
 */
export async function getSessionEvidence(
  { db, integration }: DomainContext,
  { sessionId }: { sessionId: string },
): Promise<SessionEvidence> {
  const rows = await db.query<ScoreRow>(READ_SCORES, [integration.id, sessionId, MAX_SHOWN_SCORES]);
  const latest = rows.at(-1);
  if (!latest) throw new ApiError('NOT_FOUND', 'Session not found');
  const { scoredAt, botScore, ruleSetVersion, findings } = latest;
  return {
    sessionId,
    ...{ botScore, ruleSetVersion, scoredAt },
    findings: sortByWeight(findings ?? []),
    scores: scoredAt === null ? [] : rows.map(showScore),
  };
}

/** Those of one weight keep their order. */
const sortByWeight = (findings: readonly Finding[]) => findings.toSorted((a, b) => b.weight - a.weight);

/** Sums up what the rules found, that which counts most first. */
export const summariseFindings = (findings: readonly Finding[]): EvidenceSummary['findings'] =>
  sortByWeight(findings.filter(({ state }) => state === 'found'))
    .slice(0, MAX_SUMMARY_FINDINGS)
    .map(({ state: _, moments: __, ...summary }) => summary);

const showScore = ({ scoredAt, botScore, detectionFlags }: ScoreRow) => ({
  ...{ scoredAt: scoredAt!, botScore, detectionFlags },
});

/** The session's own score is the latest of its scores. */
const READ_SCORES = `
  select c.scored_at as "scoredAt", c.bot_score as "botScore", c.detection_flags as "detectionFlags",
         c.rule_set_version as "ruleSetVersion", case when c.scored_at = s.scored_at then c.evidence end as findings
    from sessions s left join lateral (
         select * from session_scores c where c.integration_id = s.integration_id and c.session_id = s.id
          order by c.scored_at desc limit $3::int) c on true
   where s.integration_id = $1 and s.id = $2
   order by c.scored_at`;
