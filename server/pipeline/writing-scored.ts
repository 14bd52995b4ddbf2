import { z } from 'zod';
import { writingEvidenceSchema } from '../../contract/writing';
import { writingScores } from '../../db/schema';
import { count, factId, factTime, unitInterval } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

// The session belongs to a writing tool and need not be one of ours, so the records do not count as records of a session.
const WRITING_SCORES = defineRecords({ table: writingScores, key: ['sessionId', 'scoredAt'], isOfSession: false });

/** A writing session ended with an AI-content score. It need not be a known session. */
export const writingScoredFact = defineFact({
  schema: z.object({
    kind: z.literal('writingScored'),
    sessionId: factId(),
    aiScore: unitInterval(),
    scoredAt: factTime(),
    userId: factId().nullish(),
    documentId: factId().nullish(),
    wordCount: count().nullish(),
    /** The browsing session in which the text was written. */
    browsingSessionId: factId().nullish(),
    /** Why the text has its score. */
    evidence: writingEvidenceSchema.nullish(),
  }),
  records: WRITING_SCORES,
  listUsers: ({ userId }) => [userId ?? []].flat(),
  nameKeys(fact, keys) {
    const { sessionId, scoredAt } = fact;
    keys.nameRecord(WRITING_SCORES, { integrationId: keys.integrationId, sessionId, scoredAt });
  },
  apply(fact, draft) {
    const { sessionId, aiScore, scoredAt } = fact;
    const content = {
      sessionId,
      aiScore,
      scoredAt,
      userId: fact.userId ?? null,
      documentId: fact.documentId ?? null,
      wordCount: fact.wordCount ?? null,
    };
    const score: RecordRow<typeof WRITING_SCORES> = {
      integrationId: draft.integrationId,
      ...content,
      browsingSessionId: fact.browsingSessionId ?? null,
      evidence: fact.evidence ?? null,
    };
    const existing = draft.findRecord(WRITING_SCORES, score);
    if (existing) return draft.repeat(fact.kind, sessionId, isSameRecord(existing, score));
    draft.assertNotAhead('scoredAt', scoredAt);
    draft.addRecord(WRITING_SCORES, score);
    draft.fireEvent('WritingSessionScored', content);
    return 'accepted';
  },
});
