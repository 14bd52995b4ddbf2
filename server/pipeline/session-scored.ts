import { z } from 'zod';
import { evidenceInput, MAX_SEGMENTS, scoredSegmentInput } from '../../contract/evidence';
import { text } from '../../contract/fields';
import { sessionScores } from '../../db/schema';
import { computeScoreBin } from '../domain/risk';
import { factId, factTime, unitInterval } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';
import { settleOutcome } from './session-outcome';

const SCORES = defineRecords({ table: sessionScores, key: ['sessionId', 'scoredAt'], isOfSession: true });

/** A session was scored. A score is identified by its time. The session keeps the latest score. */
export const sessionScoredFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionScored'),
    sessionId: factId(),
    botScore: unitInterval(),
    detectionFlags: z.array(text(1, 256)).max(100),
    scoredAt: factTime(),
    /** What the rules say, and which rules. */
    evidence: evidenceInput.nullish(),
    ruleSetVersion: text(1, 64).nullish(),
    /** How the parts of the session look, in their order: what shows that a program took over. */
    segments: z.array(scoredSegmentInput).max(MAX_SEGMENTS).nullish(),
  }),
  records: SCORES,
  nameKeys(fact, keys) {
    const { sessionId, scoredAt } = fact;
    keys.nameSession(sessionId);
    keys.nameRecord(SCORES, { integrationId: keys.integrationId, sessionId, scoredAt });
  },
  apply(fact, draft) {
    const session = draft.requireSession(fact.sessionId);
    const { row } = session;
    const { botScore, detectionFlags, scoredAt } = fact;
    const score: RecordRow<typeof SCORES> = {
      integrationId: draft.integrationId,
      sessionId: fact.sessionId,
      scoredAt,
      botScore,
      detectionFlags,
      ruleSetVersion: fact.ruleSetVersion ?? null,
      evidence: fact.evidence ?? null,
      segments: fact.segments ?? null,
    };
    const existing = draft.findRecord(SCORES, score);
    if (existing) return draft.repeat(fact.kind, fact.sessionId, isSameRecord(existing, score));
    draft.assertNotAhead('scoredAt', scoredAt);
    draft.addRecord(SCORES, score);
    if (score.segments?.length) draft.concern(fact.sessionId, 'scored');
    if (row.scoredAt !== null && row.scoredAt > scoredAt) return 'accepted';
    Object.assign(row, { botScore, scoreBin: computeScoreBin(botScore), detectionFlags, scoredAt });
    draft.touch(session);
    settleOutcome(session, draft);
    return 'accepted';
  },
});
