import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { isPseudonym } from '../../contract/pseudonyms';
import { REFUSAL_DAYS, type UserErasure } from '../../contract/user-erasures';
import type { Transaction } from '../../db/client';
import { userErasures } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import type { Secrets } from '../platform/secrets';
import type { DomainContext } from './context';
import { createPseudonym, hashSubject, hashUser, type UserKey } from './erased-users';

export type ErasureContext = DomainContext & AuditedContext & { secrets: Secrets };
/** What tells whether a user was erased. */
export interface RefusalContext {
  secrets: Pick<Secrets, 'erasureKey'>;
}
type ErasureRow = typeof userErasures.$inferSelect;

const NOTHING = { sessions: 0, traces: 0, events: 0, deliveries: 0, reports: 0, texts: 0 };

/**
 * Begins the erasure of a user: from its commit on, facts about them are refused. Returns its receipt, or that of the erasure that
 * runs already. An unknown user is erased too, so that nothing becomes known of them. UNSUPPORTED_OPERATION for the id that an erased
 * user has now.
 */
export async function requestErasure(context: ErasureContext, { userId }: { userId: string }): Promise<UserErasure> {
  if (isPseudonym(userId)) throw new ApiError('UNSUPPORTED_OPERATION', 'The user was erased already');
  const integrationId = context.integration.id;
  const { erasureKey } = context.secrets;
  const isRunning = and(
    eq(userErasures.integrationId, integrationId),
    eq(userErasures.userId, userId),
    isNotNull(userErasures.userId),
  );
  return context.db.orm.transaction(async (tx) => {
    const [begun] = await tx
      .insert(userErasures)
      .values({
        ...{ integrationId, id: createId('era'), userId, pseudonym: createPseudonym() },
        userHash: Buffer.from(hashUser(erasureKey, { integrationId, userId }), 'hex'),
        refusedUntil: sql`now() + ${REFUSAL_DAYS}::int * interval '1 day'`,
        knownUser: { id: userId, name: null, email: null, url: null },
        position: { step: 0 },
        counts: NOTHING,
      })
      .onConflictDoNothing()
      .returning();
    if (!begun) {
      const [running] = await tx.select().from(userErasures).where(isRunning);
      // It ended at this moment: nothing is left to erase.
      if (!running) throw new ApiError('SERVICE_UNAVAILABLE', 'The user was erased at this moment; ask again');
      return showErasure(running);
    }
    const subjectId = hashSubject(erasureKey, { integrationId, userId });
    const details = { receiptId: begun.id };
    await recordAct(tx, context.actor, { action: 'UserErasureRequested', integrationId, subjectId, details });
    return showErasure(begun);
  });
}

/** Refuses to store anything about a user who was erased. In the transaction that stores it, which an erasure then waits for. */
export async function assertNotErased(tx: Transaction, erasureKey: Buffer, user: UserKey): Promise<void> {
  const { integrationId, userHash, refusedUntil } = userErasures;
  const hash = Buffer.from(hashUser(erasureKey, user), 'hex');
  const [erased] = await tx
    .select({ one: sql`1` })
    .from(userErasures)
    .where(and(eq(integrationId, user.integrationId), eq(userHash, hash), gt(refusedUntil, sql`now()`)))
    .limit(1);
  if (erased) throw new ApiError('UNSUPPORTED_OPERATION', 'The user was erased: nothing is stored about them');
}

/** Finds the receipt of an erasure. NOT_FOUND for an unknown one. */
export async function getErasure(context: DomainContext, { receiptId }: { receiptId: string }): Promise<UserErasure> {
  const [row] = await context.db.orm
    .select()
    .from(userErasures)
    .where(and(eq(userErasures.integrationId, context.integration.id), eq(userErasures.id, receiptId)));
  if (!row) throw new ApiError('NOT_FOUND', 'Receipt not found');
  return showErasure(row);
}

const showErasure = ({ id, requestedAt, completedAt, refusedUntil, counts }: ErasureRow): UserErasure => ({
  id,
  status: completedAt === null ? 'Running' : 'Completed',
  requestedAt,
  completedAt,
  refusedUntil,
  sessionCount: counts.sessions,
  traceCount: counts.traces,
  eventCount: counts.events,
  deliveryCount: counts.deliveries,
  reportCount: counts.reports,
  textCount: counts.texts,
});
