import { sql } from 'drizzle-orm';
import type { AuditAction } from '../../contract/audit';
import type { Database, Transaction } from '../../db/client';
import { auditEntries } from '../../db/schema';
import { createId } from '../platform/ids';

/** Who made a change. `name` is readable to people: an account's address or a masked key. */
export type Actor =
  | { kind: 'Staff'; id: string; name: string; clientAddress: string | null }
  | { kind: 'ApiKey'; id: string; name: string }
  | { kind: 'Operator' };

/** The name by which people see who made a change; null for the operator. */
export const nameActor = (actor: Actor): string | null => (actor.kind === 'Operator' ? null : actor.name);

/** The context of every audited function. It cannot be called without naming the actor. */
export interface AuditedContext {
  db: Database;
  actor: Actor;
}

/** The context for the command line, whose user has direct access to the database. */
export const asOperator = (db: Database): AuditedContext => ({ db, actor: { kind: 'Operator' } });

/** An audited change. `details` never hold a secret. */
export interface Act {
  action: AuditAction;
  /** Null for changes to accounts. */
  integrationId: string | null;
  subjectId: string;
  details: Record<string, unknown>;
}

/**
 * Records a change in its own transaction, so that neither is stored without the other. Changes that a lock puts in an order are listed
 * in it.
 */
export async function recordAct(tx: Transaction, actor: Actor, act: Act): Promise<void> {
  const { kind, id = null, name = null, clientAddress = null } = actor as Partial<Actor & { kind: 'Staff' }> & Actor;
  await tx.insert(auditEntries).values({
    ...{ id: createId('aud'), actorKind: kind, actorId: id, actorName: name, clientAddress },
    // Not when the transaction began: it may have waited for the lock of another one that began later.
    occurredAt: sql`clock_timestamp()`,
    ...act,
  });
}
