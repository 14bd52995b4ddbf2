import type { AuditAction } from '../../contract/audit';
import type { Database, Transaction } from '../../db/client';
import { auditEntries } from '../../db/schema';
import { createId } from '../platform/ids';

/** Who acts. `name` is what people know them by: an account's address, a masked key. */
export type Actor =
  | { kind: 'Staff'; id: string; name: string; clientAddress: string | null }
  | { kind: 'ApiKey'; id: string; name: string }
  | { kind: 'Operator' };

/** What every function takes whose change is noted: it cannot be called without saying who asks for it. */
export interface AuditedContext {
  db: Database;
  actor: Actor;
}

/** For the command line, whose user has the database itself. */
export const asOperator = (db: Database): AuditedContext => ({ db, actor: { kind: 'Operator' } });

/** What was done. `details` never hold a secret. */
export interface Act {
  action: AuditAction;
  /** Null for what is done to accounts. */
  integrationId: string | null;
  subjectId: string;
  details: Record<string, unknown>;
}

/** Notes an act in the transaction that does it: the two stand or fall together. */
export async function recordAct(tx: Transaction, actor: Actor, act: Act): Promise<void> {
  const { kind, id = null, name = null, clientAddress = null } = actor as Partial<Actor & { kind: 'Staff' }> & Actor;
  await tx.insert(auditEntries).values({
    ...{ id: createId('aud'), actorKind: kind, actorId: id, actorName: name, clientAddress },
    ...act,
  });
}
