import { z } from 'zod';
import { text } from '../../contract/fields';
import { factId, factTime } from './fact-fields';
import { defineFact } from './fact-kind';
import { settleOutcome } from './session-outcome';

/** Scoring of a session failed. This can happen only once. A score always takes precedence, whether it came before or after. */
export const sessionFailedFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionFailed'),
    sessionId: factId(),
    failedAt: factTime(),
    reason: text(1, 1024).nullish(),
  }),
  nameKeys(fact, keys) {
    keys.nameSession(fact.sessionId);
  },
  apply(fact, draft) {
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
  },
});
