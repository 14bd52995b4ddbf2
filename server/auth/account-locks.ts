import { asc, inArray } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Transaction } from '../../db/client';
import { staff } from '../../db/schema';
import type { Actor } from '../audit/acts';

// The role of a caller is checked before the transaction. What gives rights to accounts checks it again under a lock, so that
// nobody uses the moment in which an admin is demoted or disabled.

type StaffRow = typeof staff.$inferSelect;

/**
 * Locks the account of the acting admin, and another one. FORBIDDEN unless the admin is still one. A transaction that demotes or
 * disables them now waits, and then finds what they have done.
 */
export async function lockAccounts(tx: Transaction, actor: Actor, id = ''): Promise<StaffRow[]> {
  const actorId = actor.kind === 'Staff' ? actor.id : '';
  // In the order of `changeAccount`, so that no two transactions wait for each other.
  const isOne = inArray(staff.id, [actorId, id]);
  const locked = await tx.select().from(staff).where(isOne).orderBy(asc(staff.id)).for('share');
  requireAdmin(actor, locked);
  return locked;
}

/** Throws FORBIDDEN if staff act whose locked account is not that of an active admin. */
export function requireAdmin(actor: Actor, locked: readonly StaffRow[]): void {
  if (
    actor.kind === 'Staff' &&
    !locked.some(({ id, role, disabled }) => id === actor.id && role === 'admin' && !disabled)
  )
    throw new ApiError('FORBIDDEN', 'Your account is no admin any more');
}
