import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database, Transaction } from '../../db/client';
import { staff, staffSessions } from '../../db/schema';
import { ApiError } from '../contract/errors';
import type { CreateStaffInput, StaffAccount, StaffRole } from '../contract/staff';
import { createId } from '../platform/ids';
import { hashPassword } from './passwords';

const notFound = () => new ApiError('NOT_FOUND', 'Staff account not found');

/** Creates an account. INVALID_REQUEST naming `email` where that address has one already. */
export async function createStaff(db: Database, input: CreateStaffInput): Promise<{ id: string }> {
  const { email, password, role, name = email.slice(0, email.lastIndexOf('@')) } = input;
  const id = createId('stf');
  const passwordHash = await hashPassword(password);
  const created = await db.orm
    .insert(staff)
    .values({ id, email, name: name.slice(0, 100), role, passwordHash })
    .onConflictDoNothing({ target: staff.email })
    .returning({ id: staff.id });
  if (created.length === 0)
    throw new ApiError('INVALID_REQUEST', `email ${email} already has an account`, { field: 'email' });
  return { id };
}

/** Replaces the password of an account and ends all its sessions. NOT_FOUND for an unknown address. */
export async function setStaffPassword(
  db: Database,
  input: { email: string; password: string },
): Promise<{ id: string }> {
  const passwordHash = await hashPassword(input.password);
  return db.orm.transaction(async (tx) => {
    const [changed] = await tx
      .update(staff)
      .set({ passwordHash })
      .where(eq(staff.email, input.email))
      .returning({ id: staff.id });
    if (!changed) throw notFound();
    await tx.delete(staffSessions).where(eq(staffSessions.staffId, changed.id));
    return changed;
  });
}

/** Lists all accounts, by address. */
export async function listStaff(db: Database): Promise<StaffAccount[]> {
  const { id, email, name, role, disabled, createdAt } = staff;
  return db.orm
    .select({
      ...{ id, email, name, role, disabled, createdAt },
      sessions: sql<number>`count(*) filter (where ${staffSessions.expiresAt} > now())::int`,
    })
    .from(staff)
    .leftJoin(staffSessions, eq(staffSessions.staffId, staff.id))
    .groupBy(staff.id)
    .orderBy(asc(staff.email));
}

/** Gives an account another role, effective on its next request. INVALID_REQUEST where no admin would be left. */
export async function setStaffRole(db: Database, input: { id: string; role: StaffRole }): Promise<void> {
  await changeAccount(db, (tx) =>
    tx.update(staff).set({ role: input.role }).where(eq(staff.id, input.id)).returning({ id: staff.id }),
  );
}

/** Disables an account and ends its sessions. INVALID_REQUEST where no admin would be left. */
export async function disableStaff(db: Database, { id }: { id: string }): Promise<void> {
  await changeAccount(db, async (tx) => {
    await tx.delete(staffSessions).where(eq(staffSessions.staffId, id));
    return tx.update(staff).set({ disabled: true }).where(eq(staff.id, id)).returning({ id: staff.id });
  });
}

/** Lets a disabled account sign in again. */
export async function enableStaff(db: Database, { id }: { id: string }): Promise<void> {
  const enabled = await db.orm.update(staff).set({ disabled: false }).where(eq(staff.id, id)).returning();
  if (enabled.length === 0) throw notFound();
}

/** Ends all sessions of an account; it may sign in again. */
export async function revokeStaffSessions(db: Database, { id }: { id: string }): Promise<{ revoked: number }> {
  const [account] = await db.orm.select({ id: staff.id }).from(staff).where(eq(staff.id, id));
  if (!account) throw notFound();
  const ended = await db.orm.delete(staffSessions).where(eq(staffSessions.staffId, id)).returning();
  return { revoked: ended.length };
}

/** Changes an account unless that leaves nobody who could change it back. */
async function changeAccount(db: Database, change: (tx: Transaction) => Promise<{ id: string }[]>) {
  await db.orm.transaction(async (tx) => {
    // Two admins who demote each other at once: the second waits here and sees what the first did.
    await tx.select({ id: staff.id }).from(staff).where(eq(staff.role, 'admin')).orderBy(asc(staff.id)).for('update');
    const changed = await change(tx);
    if (changed.length === 0) throw notFound();
    const [admin] = await tx
      .select({ id: staff.id })
      .from(staff)
      .where(and(eq(staff.role, 'admin'), eq(staff.disabled, false)))
      .limit(1);
    if (!admin) throw new ApiError('INVALID_REQUEST', 'id is the last admin; make another one first', { field: 'id' });
  });
}
