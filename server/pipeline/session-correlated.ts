import { z } from 'zod';
import { text } from '../../contract/fields';
import { sessionCorrelations } from '../../db/schema';
import { RELIABLE_CONFIDENCE } from '../domain/correlation';
import { type SessionRow, UNVERIFIED_AT } from './draft';
import { factId, factTime, unitInterval, webUrl } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

const CORRELATIONS = defineRecords({
  table: sessionCorrelations,
  key: ['sessionId', 'correlatedAt'],
  isOfSession: true,
});

/** A session was matched to an LMS user. The session keeps the latest match. Only a match that is the latest fires an event. */
export const sessionCorrelatedFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionCorrelated'),
    sessionId: factId(),
    user: z.object({
      id: factId(),
      name: text(1, 512),
      email: text(1, 320).nullish(),
      url: webUrl().nullish(),
    }),
    confidence: unitInterval(),
    contextId: text(1, 256).nullish(),
    correlatedAt: factTime(),
    /** Anyone could have said this. It describes a user of whom nothing is known, and never replaces what is known. */
    isUnverified: z.boolean().nullish(),
    /** The user follows only from the device. Any other match counts more, whenever it was made. */
    isInferred: z.boolean().nullish(),
  }),
  records: CORRELATIONS,
  listUsers: ({ user }) => [user.id],
  nameKeys(fact, keys) {
    const { sessionId, correlatedAt } = fact;
    keys.nameSession(sessionId);
    keys.nameRecord(CORRELATIONS, { integrationId: keys.integrationId, sessionId, correlatedAt });
    keys.nameCorrelatedUser(fact.user.id);
  },
  apply(fact, draft) {
    const session = draft.requireSession(fact.sessionId);
    const { row } = session;
    const { user, confidence, correlatedAt } = fact;
    const correlation: RecordRow<typeof CORRELATIONS> = {
      integrationId: draft.integrationId,
      sessionId: fact.sessionId,
      correlatedAt,
      userId: user.id,
      confidence,
      contextId: fact.contextId ?? null,
    };
    const existing = draft.findRecord(CORRELATIONS, correlation);
    if (existing) return draft.repeat(fact.kind, fact.sessionId, isSameRecord(existing, correlation));
    draft.assertNotAhead('correlatedAt', correlatedAt);
    draft.addRecord(CORRELATIONS, correlation);
    draft.describeUser({
      integrationId: draft.integrationId,
      id: user.id,
      name: user.name,
      email: user.email ?? null,
      url: user.url ?? null,
      describedAt: fact.isUnverified ? UNVERIFIED_AT : correlatedAt,
    });
    if (confidence >= RELIABLE_CONFIDENCE) draft.concern(fact.sessionId, 'correlated');
    const isInferred = fact.isInferred ?? false;
    if (isReplaced(row, { isInferred, correlatedAt })) return 'accepted';
    Object.assign(row, { userId: user.id, correlationConfidence: confidence, correlatedAt, isInferred });
    draft.touch(session);
    draft.fireEvent('SessionCorrelated', {
      sessionId: fact.sessionId,
      userId: user.id,
      correlationConfidence: confidence,
      correlatedAt,
      contextId: correlation.contextId ?? row.courseId,
    });
    return 'accepted';
  },
});

/** Whether the session has a better match: then a new one neither changes it nor fires an event. */
function isReplaced(row: SessionRow, { isInferred, correlatedAt }: { isInferred: boolean; correlatedAt: string }) {
  if (row.correlatedAt === null) return false;
  const wasInferred = row.isInferred ?? false;
  return wasInferred === isInferred ? row.correlatedAt > correlatedAt : isInferred;
}
