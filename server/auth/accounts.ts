import { and, asc, eq, or, sql } from 'drizzle-orm';
import type { AuditAction } from '../../contract/audit';
import { ApiError } from '../../contract/errors';
import type { CreateStaffInput, SetStaffRoleInput, StaffAccount } from '../../contract/staff';
import type { Database, Transaction } from '../../db/client';
import { staff, staffInvitations, staffSessions } from '../../db/schema';
import { type Actor, type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import { lockAccounts, requireAdmin } from './account-locks';
import { lockInvitations, revokeInvitations } from './invitations';
import { hashPassword } from './passwords';

/** Of a name that is made of an address. */
const MAX_GIVEN_NAME = 100;

const notFound = () => new ApiError('NOT_FOUND', 'Staff account not found');

/** Records a change to an account. The entry holds `email`, so that people can read it. */
const noteAct = (
  tx: Transaction,
  actor: Actor,
  action: AuditAction,
  account: { id: string; email: string },
  details: Record<string, unknown> = {},
) =>
  recordAct(tx, actor, {
    ...{ action, integrationId: null, subjectId: account.id },
    details: { email: account.email, ...details },
  });

/** Creates an account. INVALID_REQUEST naming `email` if the address already has one, FORBIDDEN if the actor is no admin any more. */
export async function createStaff({ db, actor }: AuditedContext, input: CreateStaffInput): Promise<{ id: string }> {
  const { email, password, role, name = email.slice(0, Math.min(email.lastIndexOf('@'), MAX_GIVEN_NAME)) } = input;
  const id = createId('stf');
  const passwordHash = await hashPassword(password);
  await db.orm.transaction(async (tx) => {
    await lockAccounts(tx, actor);
    await lockInvitations(tx);
    const created = await tx
      .insert(staff)
      .values({ id, email, name, role, passwordHash })
      .onConflictDoNothing({ target: staff.email })
      .returning({ id: staff.id });
    if (created.length === 0)
      throw new ApiError('INVALID_REQUEST', `email ${email} already has an account`, { field: 'email' });
    await revokeInvitations(tx, actor, eq(staffInvitations.email, email));
    await noteAct(tx, actor, 'StaffCreated', { id, email }, { role });
  });
  return { id };
}

/** Replaces the password of an account, and ends all its sessions and its link to a new one. Throws NOT_FOUND for an unknown address. */
export async function setStaffPassword(
  { db, actor }: AuditedContext,
  { email, password }: { email: string; password: string },
): Promise<{ id: string }> {
  const passwordHash = await hashPassword(password);
  return db.orm.transaction(async (tx) => {
    const [changed] = await tx
      .update(staff)
      .set({ passwordHash })
      .where(eq(staff.email, email))
      .returning({ id: staff.id });
    if (!changed) throw notFound();
    await tx.delete(staffSessions).where(eq(staffSessions.staffId, changed.id));
    await tx.delete(staffInvitations).where(eq(staffInvitations.staffId, changed.id));
    await noteAct(tx, actor, 'StaffPasswordSet', { id: changed.id, email });
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

/**
 * Changes the role of an account, effective on its next request. The open links of somebody who is no admin any more are
 * revoked. Throws INVALID_REQUEST if no admin would be left, or with the field `replaced` if the role is another one than that.
 */
export async function setStaffRole(context: AuditedContext, input: SetStaffRoleInput): Promise<void> {
  const { id, role, replaced } = input;
  await changeAccount(context, id, async (tx, account) => {
    if (account.role === role) return;
    if (replaced && account.role !== replaced)
      throw new ApiError('INVALID_REQUEST', `Somebody has made ${account.name} ${account.role} since`, {
        field: 'replaced',
      });
    await tx.update(staff).set({ role }).where(eq(staff.id, id));
    if (role !== 'admin') await revokeInvitations(tx, context.actor, eq(staffInvitations.createdBy, account.email));
    await noteAct(tx, context.actor, 'StaffRoleChanged', account, { before: account.role, after: role });
  });
}

/**
 * Disables an account, ends its sessions and revokes the open links that it made or that are for it. Throws INVALID_REQUEST
 * if no admin would be left.
 */
export async function disableStaff(context: AuditedContext, { id }: { id: string }): Promise<void> {
  await changeAccount(context, id, async (tx, account) => {
    await tx.delete(staffSessions).where(eq(staffSessions.staffId, id));
    if (account.disabled) return;
    await tx.update(staff).set({ disabled: true }).where(eq(staff.id, id));
    const isTheirs = or(eq(staffInvitations.staffId, id), eq(staffInvitations.createdBy, account.email))!;
    await revokeInvitations(tx, context.actor, isTheirs);
    await noteAct(tx, context.actor, 'StaffDisabled', account);
  });
}

/** Lets a disabled account sign in again. */
export async function enableStaff(context: AuditedContext, { id }: { id: string }): Promise<void> {
  await changeAccount(context, id, async (tx, account) => {
    if (!account.disabled) return;
    await tx.update(staff).set({ disabled: false }).where(eq(staff.id, id));
    await noteAct(tx, context.actor, 'StaffEnabled', account);
  });
}

/** Ends all sessions of an account. It may sign in again. NOT_FOUND for an unknown id, FORBIDDEN if the actor is no admin any more. */
export async function revokeStaffSessions(
  { db, actor }: AuditedContext,
  { id }: { id: string },
): Promise<{ revoked: number }> {
  return db.orm.transaction(async (tx) => {
    const locked = await lockAccounts(tx, actor, id);
    const account = locked.find((row) => row.id === id);
    if (!account) throw notFound();
    // Rows of sessions that have ended by themselves stay until somebody signs in.
    const isOpen = sql<boolean>`${staffSessions.expiresAt} > now()`;
    const rows = await tx.delete(staffSessions).where(eq(staffSessions.staffId, id)).returning({ isOpen });
    const revoked = rows.filter(({ isOpen }) => isOpen).length;
    if (revoked > 0) await noteAct(tx, actor, 'StaffSessionsEnded', account, { sessions: revoked });
    return { revoked };
  });
}

/**
 * Changes an account under a lock, unless no active admin would be left. NOT_FOUND for an unknown id, FORBIDDEN if the actor is no
 * admin any more.
 */
async function changeAccount(
  { db, actor }: AuditedContext,
  id: string,
  change: (tx: Transaction, account: typeof staff.$inferSelect) => Promise<void>,
) {
  await db.orm.transaction(async (tx) => {
    // When two admins demote each other at once, the second waits for this lock and then sees the first change.
    const isConcerned = or(eq(staff.role, 'admin'), eq(staff.id, id));
    const locked = await tx.select().from(staff).where(isConcerned).orderBy(asc(staff.id)).for('update');
    requireAdmin(actor, locked);
    const account = locked.find((row) => row.id === id);
    if (!account) throw notFound();
    await change(tx, account);
    const [admin] = await tx
      .select({ id: staff.id })
      .from(staff)
      .where(and(eq(staff.role, 'admin'), eq(staff.disabled, false)))
      .limit(1);
    if (!admin) throw new ApiError('INVALID_REQUEST', 'id is the last admin; make another one first', { field: 'id' });
  });
}
