import { z } from 'zod';
import { FactRefusal } from './draft';
import { factId, factTime } from './fact-fields';
import { defineFact } from './fact-kind';
import { settleOutcome } from './session-outcome';

/** A session ended. A session can end only once. */
export const sessionClosedFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionClosed'),
    sessionId: factId(),
    closedAt: factTime(),
    /** The session names somebody, although perhaps nobody who counts. So nobody else is inferred. */
    isNamed: z.boolean().nullish(),
  }),
  nameKeys(fact, keys) {
    keys.nameSession(fact.sessionId);
  },
  apply(fact, draft) {
    const session = draft.requireSession(fact.sessionId);
    const { row } = session;
    if (row.closedAt !== null) return draft.repeat(fact.kind, fact.sessionId, row.closedAt === fact.closedAt);
    draft.assertNotAhead('closedAt', fact.closedAt);
    if (fact.closedAt < row.createdAt) throw new FactRefusal('closedAt: is before the session’s start');
    row.closedAt = fact.closedAt;
    // The session may follow from its device to the user of it.
    if (row.userId === null && row.fingerprint !== null && !fact.isNamed) draft.concern(fact.sessionId, 'closed');
    draft.touch(session);
    settleOutcome(session, draft);
    return 'accepted';
  },
});
