import { createHmac, randomBytes } from 'node:crypto';
import { and, asc, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import {
  type AcceptInvitationInput,
  type CreatedInvitation,
  type CreateInvitationInput,
  INVITATION_DAYS,
  type PendingInvitation,
  type ShownInvitation,
} from '../../contract/invitations';
import type { Staff } from '../../contract/staff';
import type { Database, Transaction } from '../../db/client';
import { staff, staffInvitations, staffSessions } from '../../db/schema';
import { type Actor, type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import type { Secrets } from '../platform/secrets';
import { lockAccounts } from './account-locks';
import { hashPassword } from './passwords';
import { type AuthContext, openStaffSession } from './sessions';
import { countTry, forgiveTry, listTryBuckets, type Throttled } from './tries';

// An invitation is a link that makes an account, or sets the password of one. The product sends no email: an admin passes the
// link on.

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

type InvitationRow = typeof staffInvitations.$inferSelect;
type InvitingContext = AuditedContext & { secrets: Secrets };

/** The hash is keyed, so that a row written straight into the database is not a valid link. */
const hashToken = (secrets: Secrets, token: string) =>
  createHmac('sha256', secrets.invitationKey).update(token).digest();

const isValid = gt(staffInvitations.expiresAt, sql`now()`);

/** Invites a person to an account. Throws INVALID_REQUEST naming `email` if the address already has one. */
export async function createInvitation(
  context: InvitingContext,
  { email, name, role }: CreateInvitationInput,
): Promise<CreatedInvitation> {
  return context.db.orm.transaction(async (tx) => {
    await lockAccounts(tx, context.actor);
    const [known] = await tx.select({ id: staff.id }).from(staff).where(eq(staff.email, email));
    if (known) throw new ApiError('INVALID_REQUEST', `email ${email} already has an account`, { field: 'email' });
    const created = await insertInvitation(tx, context, { email, name, role, staffId: null });
    await recordAct(tx, context.actor, {
      ...{ action: 'StaffInvited', integrationId: null, subjectId: email, details: { email, role } },
    });
    return created;
  });
}

/** Makes a link with which the owner of an account sets a new password. NOT_FOUND for an unknown account. */
export async function createPasswordLink(context: InvitingContext, { id }: { id: string }): Promise<CreatedInvitation> {
  return context.db.orm.transaction(async (tx) => {
    const account = (await lockAccounts(tx, context.actor, id)).find((row) => row.id === id);
    if (!account) throw new ApiError('NOT_FOUND', 'Staff account not found');
    const { email, name, role, disabled } = account;
    if (disabled) throw new ApiError('INVALID_REQUEST', 'id is a disabled account; enable it first', { field: 'id' });
    const created = await insertInvitation(tx, context, { email, name, role, staffId: id });
    await recordAct(tx, context.actor, {
      ...{ action: 'StaffPasswordLinkCreated', integrationId: null, subjectId: id, details: { email } },
    });
    return created;
  });
}

/** Inserts an invitation in place of an earlier one of the same address. Removes all that have expired. */
async function insertInvitation(
  tx: Transaction,
  { actor, secrets }: InvitingContext,
  fields: Pick<InvitationRow, 'email' | 'name' | 'role' | 'staffId'>,
): Promise<CreatedInvitation> {
  const { email, name } = fields;
  // Two admins who invite the same person at once make one valid link: the second one.
  await lockInvitations(tx);
  await tx
    .delete(staffInvitations)
    .where(or(eq(staffInvitations.email, email), lte(staffInvitations.expiresAt, sql`now()`)));
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const [created] = await tx
    .insert(staffInvitations)
    .values({
      ...fields,
      tokenHash: hashToken(secrets, token),
      createdBy: actor.kind === 'Staff' ? actor.name : null,
      expiresAt: sql`now() + ${INVITATION_DAYS} * interval '1 day'`,
    })
    .returning({ expiresAt: staffInvitations.expiresAt });
  return { token, email, name, expiresAt: created!.expiresAt };
}

/**
 * Makes changes of links wait for each other. Taken after locks on accounts, and before links are changed or accounts are
 * added, so that no two transactions wait for each other.
 */
export const lockInvitations = (tx: Transaction) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtext('staff invitations'))`);

/** Lists the links that still work, by address. */
export async function listInvitations(db: Database): Promise<PendingInvitation[]> {
  const rows = await db.orm.select().from(staffInvitations).where(isValid).orderBy(asc(staffInvitations.email));
  return rows.map((row) => ({ ...showInvitation(row), createdAt: row.createdAt, createdBy: row.createdBy }));
}

const showInvitation = ({ email, name, role, staffId, expiresAt }: InvitationRow): ShownInvitation => ({
  ...{ email, name, role, expiresAt },
  kind: staffId === null ? 'NewAccount' : 'NewPassword',
});

/** Revokes the link of an address. NOT_FOUND if there is none. */
export async function revokeInvitation({ db, actor }: AuditedContext, { email }: { email: string }): Promise<void> {
  await db.orm.transaction(async (tx) => {
    const revoked = await revokeInvitations(tx, actor, and(eq(staffInvitations.email, email), isValid)!);
    if (revoked === 0) throw new ApiError('NOT_FOUND', 'No open link of this address');
  });
}

/** Revokes the links that meet a condition, with an audit entry each. Returns how many. */
export async function revokeInvitations(tx: Transaction, actor: Actor, condition: SQL): Promise<number> {
  const revoked = await tx.delete(staffInvitations).where(condition).returning();
  for (const { email, staffId } of revoked)
    await recordAct(tx, actor, {
      ...{ action: 'StaffInvitationRevoked', integrationId: null, subjectId: staffId ?? email, details: { email } },
    });
  return revoked.length;
}

type Refused = { outcome: 'refused' } | Throttled;

/**
 * Finds what a link does. An unknown, used, revoked or expired link is `refused` and does not say which. Tries are counted
 * like those of a sign-in.
 */
export async function readInvitation(
  context: AuthContext,
  token: string,
  clientAddress: string,
): Promise<{ outcome: 'found'; invitation: ShownInvitation } | Refused> {
  const buckets = listTryBuckets('invitation', token, clientAddress);
  const throttled = await countTry(context.db, buckets);
  if (throttled) return throttled;
  const row = await findInvitation(context, token);
  if (!row) return { outcome: 'refused' };
  await forgiveTry(context.db, buckets);
  return { outcome: 'found', invitation: showInvitation(row) };
}

/** Finds a link that works. One to the password of a disabled account does not. */
async function findInvitation({ db, secrets }: AuthContext, token: string): Promise<InvitationRow | null> {
  if (!TOKEN.test(token)) return null;
  const [found] = await db.orm
    .select({ invitation: staffInvitations })
    .from(staffInvitations)
    .leftJoin(staff, eq(staff.id, staffInvitations.staffId))
    .where(
      and(
        eq(staffInvitations.tokenHash, hashToken(secrets, token)),
        isValid,
        or(isNull(staff.id), eq(staff.disabled, false)),
      ),
    );
  return found?.invitation ?? null;
}

/**
 * Uses a link: makes its account or sets the password of one, and signs in. A link works once, also if it is used twice at
 * the same moment. A new password ends all sessions of its account.
 */
export async function acceptInvitation(
  context: AuthContext,
  input: AcceptInvitationInput,
  clientAddress: string,
): Promise<{ outcome: 'signed-in'; staff: Staff; token: string } | Refused> {
  const { db, secrets } = context;
  const buckets = listTryBuckets('invitation', input.token, clientAddress);
  const throttled = await countTry(db, buckets);
  if (throttled) return throttled;
  // Hashing is expensive, so it is only done for a link that works.
  const found = await findInvitation(context, input.token);
  if (!found) return { outcome: 'refused' };
  const passwordHash = await hashPassword(input.password);
  const accepted = await db.orm.transaction(async (tx) => {
    if (found.staffId !== null) await tx.select().from(staff).where(eq(staff.id, found.staffId)).for('update');
    // Of two transactions, the second waits here and then finds no link.
    await lockInvitations(tx);
    const isIt = eq(staffInvitations.tokenHash, hashToken(secrets, input.token));
    const [taken] = await tx.delete(staffInvitations).where(and(isIt, isValid)).returning();
    if (!taken) return null;
    const account = await (taken.staffId === null
      ? addAccount(tx, taken, input.name ?? taken.name, passwordHash)
      : resetPassword(tx, taken.staffId, passwordHash));
    if (!account) return null;
    const { id, email } = account;
    const actor: Actor = { kind: 'Staff', id, name: email, clientAddress };
    await recordAct(
      tx,
      actor,
      taken.staffId === null
        ? {
            ...{ action: 'StaffInvitationAccepted', integrationId: null, subjectId: id },
            details: { email, role: account.role, invitedBy: taken.createdBy },
          }
        : {
            action: 'StaffPasswordSet',
            integrationId: null,
            subjectId: id,
            details: { email, byLinkOf: taken.createdBy },
          },
    );
    return account;
  });
  const token = accepted && (await openStaffSession(context, { id: accepted.id, passwordHash }));
  if (!accepted || token === null) return { outcome: 'refused' };
  await forgiveTry(db, buckets);
  return { outcome: 'signed-in', staff: accepted, token };
}

const SHOWN = { id: staff.id, email: staff.email, name: staff.name, role: staff.role };

/** Returns null if the address got an account in the meantime. */
async function addAccount(
  tx: Transaction,
  { email, role }: InvitationRow,
  name: string,
  passwordHash: string,
): Promise<Staff | null> {
  const [created] = await tx
    .insert(staff)
    .values({ id: createId('stf'), email, name, role, passwordHash })
    .onConflictDoNothing({ target: staff.email })
    .returning(SHOWN);
  return created ?? null;
}

/** Returns null if the account was disabled in the meantime. */
async function resetPassword(tx: Transaction, staffId: string, passwordHash: string): Promise<Staff | null> {
  const [changed] = await tx
    .update(staff)
    .set({ passwordHash })
    .where(and(eq(staff.id, staffId), eq(staff.disabled, false)))
    .returning(SHOWN);
  if (!changed) return null;
  await tx.delete(staffSessions).where(eq(staffSessions.staffId, staffId));
  return changed;
}
