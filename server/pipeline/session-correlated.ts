import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { text } from '../../contract/fields';
import type { BatchDraft, CorrelationRow, FactResult } from './draft';
import { factId, factTime, unitInterval } from './fact-fields';

export const sessionCorrelated = z.object({
  kind: z.literal('sessionCorrelated'),
  sessionId: factId(),
  user: z.object({
    id: factId(),
    name: text(1, 512),
    email: text(1, 320).nullish(),
    url: text(1, 8192).nullish(),
  }),
  confidence: unitInterval(),
  contextId: text(1, 256).nullish(),
  correlatedAt: factTime(),
});

/** A session is matched to an LMS user; the latest match stands on the session and is told. */
export function applySessionCorrelated(fact: z.output<typeof sessionCorrelated>, draft: BatchDraft): FactResult {
  const session = draft.requireSession(fact.sessionId);
  const { row } = session;
  const { user, confidence, correlatedAt } = fact;
  const correlation: CorrelationRow = {
    integrationId: draft.integrationId,
    sessionId: fact.sessionId,
    correlatedAt,
    userId: user.id,
    confidence,
    contextId: fact.contextId ?? null,
  };
  const existing = session.correlations.get(correlatedAt);
  if (existing) return draft.repeat(fact.kind, fact.sessionId, isDeepStrictEqual(existing, correlation));
  draft.assertNotAhead('correlatedAt', correlatedAt);
  session.correlations.set(correlatedAt, correlation);
  draft.newCorrelations.push(correlation);
  draft.describeUser({
    integrationId: draft.integrationId,
    id: user.id,
    name: user.name,
    email: user.email ?? null,
    url: user.url ?? null,
    describedAt: correlatedAt,
  });
  // Whom it was matched to before is no news any more.
  if (row.correlatedAt !== null && row.correlatedAt > correlatedAt) return 'accepted';
  Object.assign(row, { userId: user.id, correlationConfidence: confidence, correlatedAt });
  draft.touch(session);
  draft.tell('SessionCorrelated', {
    sessionId: fact.sessionId,
    userId: user.id,
    correlationConfidence: confidence,
    correlatedAt,
    contextId: correlation.contextId ?? row.courseId,
  });
  return 'accepted';
}
