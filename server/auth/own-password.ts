import { and, eq } from 'drizzle-orm';
import type { ChangePasswordInput } from '../../contract/invitations';
import type { Staff } from '../../contract/staff';
import { staff, staffInvitations, staffSessions } from '../../db/schema';
import { recordAct } from '../audit/acts';
import { hashPassword, verifyPassword } from './passwords';
import { type AuthContext, openStaffSession } from './sessions';
import { countTry, forgiveTry, listTryBuckets, type Throttled } from './tries';

export type PasswordChange =
  | { outcome: 'changed'; token: string }
  /** The current password is wrong, or somebody changed it at the same moment. */
  | { outcome: 'refused' }
  | Throttled;

/**
 * Changes the password of the signed-in account. Wrong current passwords count like failed sign-ins of the account, so a
 * stolen session gives no further guesses. All sessions of the account end, and links to a new password too; the answer has
 * the token of a new session.
 */
export async function changePassword(
  context: AuthContext,
  { id, email }: Staff,
  { currentPassword, newPassword }: ChangePasswordInput,
  clientAddress: string,
): Promise<PasswordChange> {
  const { db } = context;
  const buckets = listTryBuckets('account', email, clientAddress);
  const throttled = await countTry(db, buckets);
  if (throttled) return throttled;
  const [found] = await db.orm.select({ passwordHash: staff.passwordHash }).from(staff).where(eq(staff.id, id));
  if (!found || !(await verifyPassword(currentPassword, found.passwordHash))) return { outcome: 'refused' };
  const passwordHash = await hashPassword(newPassword);
  const isChanged = await db.orm.transaction(async (tx) => {
    const isUnchanged = and(eq(staff.id, id), eq(staff.passwordHash, found.passwordHash), eq(staff.disabled, false));
    const changed = await tx.update(staff).set({ passwordHash }).where(isUnchanged).returning({ id: staff.id });
    if (changed.length === 0) return false;
    await tx.delete(staffSessions).where(eq(staffSessions.staffId, id));
    await tx.delete(staffInvitations).where(eq(staffInvitations.staffId, id));
    const actor = { kind: 'Staff', id, name: email, clientAddress } as const;
    await recordAct(tx, actor, {
      ...{ action: 'StaffPasswordChanged', integrationId: null, subjectId: id, details: { email } },
    });
    return true;
  });
  const token = isChanged ? await openStaffSession(context, { id, passwordHash }) : null;
  if (token === null) return { outcome: 'refused' };
  await forgiveTry(db, buckets);
  return { outcome: 'changed', token };
}
