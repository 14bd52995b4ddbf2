import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { text } from '../../contract/fields';
import { computeScoreBin } from '../domain/risk';
import type { BatchDraft, FactResult, ScoreRow } from './draft';
import { factId, factTime, unitInterval } from './fact-fields';
import { settleOutcome } from './session-outcome';

export const sessionScored = z.object({
  kind: z.literal('sessionScored'),
  sessionId: factId(),
  botScore: unitInterval(),
  detectionFlags: z.array(text(1, 256)).max(100),
  scoredAt: factTime(),
});

/** A score, known by its time; the latest stands on the session. */
export function applySessionScored(fact: z.output<typeof sessionScored>, draft: BatchDraft): FactResult {
  const session = draft.requireSession(fact.sessionId);
  const { row } = session;
  const { botScore, detectionFlags, scoredAt } = fact;
  const score: ScoreRow = {
    integrationId: draft.integrationId,
    sessionId: fact.sessionId,
    scoredAt,
    botScore,
    detectionFlags,
  };
  const existing = session.scores.get(scoredAt);
  if (existing) return draft.repeat(fact.kind, fact.sessionId, isDeepStrictEqual(existing, score));
  draft.assertNotAhead('scoredAt', scoredAt);
  session.scores.set(scoredAt, score);
  draft.newScores.push(score);
  if (row.scoredAt !== null && row.scoredAt > scoredAt) return 'accepted';
  Object.assign(row, { botScore, scoreBin: computeScoreBin(botScore), detectionFlags, scoredAt });
  draft.touch(session);
  settleOutcome(session, draft);
  return 'accepted';
}
