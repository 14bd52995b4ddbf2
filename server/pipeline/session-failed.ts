import { z } from 'zod';
import { text } from '../../contract/fields';
import type { BatchDraft, FactResult } from './draft';
import { factId, factTime } from './fact-fields';
import { settleOutcome } from './session-outcome';

export const sessionFailed = z.object({
  kind: z.literal('sessionFailed'),
  sessionId: factId(),
  failedAt: factTime(),
  reason: text(1, 1024).nullish(),
});

/** Scoring gave up on a session, once; a score outranks that, before it or after. */
export function applySessionFailed(fact: z.output<typeof sessionFailed>, draft: BatchDraft): FactResult {
  const session = draft.requireSession(fact.sessionId);
  const { row } = session;
  const reason = fact.reason ?? null;
  if (row.failedAt !== null) {
    return draft.repeat(fact.kind, fact.sessionId, row.failedAt === fact.failedAt && row.failureReason === reason);
  }
  draft.assertNotAhead('failedAt', fact.failedAt);
  Object.assign(row, { failedAt: fact.failedAt, failureReason: reason });
  draft.touch(session);
  settleOutcome(session, draft);
  return 'accepted';
}
