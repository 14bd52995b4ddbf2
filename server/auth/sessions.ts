import { createHmac, randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Staff } from '../../contract/staff';
import type { Database } from '../../db/client';
import { staffSessions } from '../../db/schema';
import type { Secrets } from '../platform/secrets';

/** What session functions need. */
export interface AuthContext {
  db: Database;
  secrets: Secrets;
}

/** A session ends when it was unused for this long, or when it reaches its maximum age. */
const IDLE = "interval '12 hours'";
const GREATEST_AGE = "interval '14 days'";
/** A session is extended only after this much of it has passed, so that not every request writes. */
const RENEWED_AFTER = "interval '15 minutes'";
export const SESSION_MAX_AGE_SECONDS = 14 * 86_400;

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The hash is keyed, so that a row written straight into the database is not a valid session. */
const hashToken = ({ secrets }: AuthContext, token: string) =>
  createHmac('sha256', secrets.staffSessionKey).update(token).digest();

/**
 * Opens a session of an account and returns its token, which is shown nowhere else. Returns null if the account has another password
 * by now, or is disabled. Deletes expired sessions.
 */
export async function openStaffSession(
  context: AuthContext,
  { id, passwordHash }: { id: string; passwordHash: string },
): Promise<string | null> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const opened = await context.db.query(OPEN, [hashToken(context, token), id, passwordHash]);
  return opened.length === 1 ? token : null;
}

// The lock waits for a change of the password or of the account that is under way, and then sees it. That change ends the sessions that
// it finds, so one that was opened after it for the old password would stay.
const OPEN = `
  with over as (delete from staff_sessions where expires_at < now())
  insert into staff_sessions (token_hash, staff_id, expires_at)
  select $1, id, now() + ${IDLE} from staff where id = $2 and password_hash = $3 and not disabled for share
  returning 1`;

/**
 * Finds the owner of a token. Returns null if the session has ended or was revoked, or if the account is disabled. A use prolongs the
 * session.
 */
export async function findStaff(context: AuthContext, token: string, isUse: boolean): Promise<Staff | null> {
  if (!TOKEN.test(token)) return null;
  const [found] = await context.db.query<Staff & { isDue: boolean }>(FIND, [hashToken(context, token)]);
  if (!found) return null;
  const { isDue, ...staff } = found;
  if (isUse && isDue) await context.db.query(RENEW, [hashToken(context, token)]);
  return staff;
}

const NEXT_END = `least(s.created_at + ${GREATEST_AGE}, now() + ${IDLE})`;
const FIND = `
  select a.id, a.email, a.name, a.role, s.expires_at < ${NEXT_END} - ${RENEWED_AFTER} as "isDue"
    from staff_sessions s join staff a on a.id = s.staff_id
   where s.token_hash = $1 and s.expires_at > now() and not a.disabled`;
const RENEW = `update staff_sessions s set expires_at = ${NEXT_END} where s.token_hash = $1 and s.expires_at > now()`;

/** Ends the session of a token. An unknown token is not an error. */
export async function closeStaffSession(context: AuthContext, token: string): Promise<void> {
  await context.db.orm.delete(staffSessions).where(eq(staffSessions.tokenHash, hashToken(context, token)));
}
