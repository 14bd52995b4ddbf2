import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { BatchDraft, FactResult, WritingScoreRow } from './draft';
import { count, factId, factTime, unitInterval } from './fact-fields';

export const writingScored = z.object({
  kind: z.literal('writingScored'),
  sessionId: factId(),
  aiScore: unitInterval(),
  scoredAt: factTime(),
  userId: factId().nullish(),
  documentId: factId().nullish(),
  wordCount: count().nullish(),
});

/** A writing session, which need not be a known session, closed with an AI-content score. */
export function applyWritingScored(fact: z.output<typeof writingScored>, draft: BatchDraft): FactResult {
  const { sessionId, aiScore, scoredAt } = fact;
  const content = {
    sessionId,
    aiScore,
    scoredAt,
    userId: fact.userId ?? null,
    documentId: fact.documentId ?? null,
    wordCount: fact.wordCount ?? null,
  };
  const score: WritingScoreRow = { integrationId: draft.integrationId, ...content };
  const existing = draft.findRecord('writingScores', score);
  if (existing) return draft.repeat(fact.kind, sessionId, isDeepStrictEqual(existing, score));
  draft.assertNotAhead('scoredAt', scoredAt);
  draft.addRecord('writingScores', score);
  draft.tell('WritingSessionScored', content);
  return 'accepted';
}
