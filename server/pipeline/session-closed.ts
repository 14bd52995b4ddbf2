import { z } from 'zod';
import { type BatchDraft, FactRefusal, type FactResult } from './draft';
import { factId, factTime } from './fact-fields';
import { settleOutcome } from './session-outcome';

export const sessionClosed = z.object({
  kind: z.literal('sessionClosed'),
  sessionId: factId(),
  closedAt: factTime(),
});

/** A session ends, once. */
export function applySessionClosed(fact: z.output<typeof sessionClosed>, draft: BatchDraft): FactResult {
  const session = draft.requireSession(fact.sessionId);
  const { row } = session;
  if (row.closedAt !== null) return draft.repeat(fact.kind, fact.sessionId, row.closedAt === fact.closedAt);
  draft.assertNotAhead('closedAt', fact.closedAt);
  if (fact.closedAt < row.createdAt) throw new FactRefusal('closedAt: is before the session’s start');
  row.closedAt = fact.closedAt;
  draft.touch(session);
  settleOutcome(session, draft);
  return 'accepted';
}
