import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { SignInInput, Staff } from '../../contract/staff';
import type { Database } from '../../db/client';
import { staff } from '../../db/schema';
import { verifyPassword } from './passwords';
import { type AuthContext, openStaffSession } from './sessions';

/** Attempts per window of the database's clock: for one account from anywhere, and from one client address. */
const TRIES = { account: 10, address: 50 };
const WINDOW_SECONDS = 15 * 60;

export type SignIn =
  | { outcome: 'signed-in'; staff: Staff; token: string }
  /** Unknown address, wrong password or disabled account. The answer does not reveal which. */
  | { outcome: 'refused' }
  | { outcome: 'throttled'; retryAfterSeconds: number };

/**
 * Signs in with email and password. Attempts are counted in the database before the password is checked, so that
 * parallel guesses at several processes count, too. A success takes back the account's attempts. An attempt beyond a limit
 * writes no row, so that nobody fills the table with names of accounts.
 */
export async function signIn(context: AuthContext, input: SignInInput, clientAddress: string): Promise<SignIn> {
  const { db } = context;
  const email = input.email.trim().toLowerCase();
  // Hashed, so that a bucket has a fixed length and a password typed into the wrong field is not stored.
  const account = `account:${createHash('sha256').update(email).digest('base64url')}`;
  const buckets = [account, `address:${clientAddress.slice(0, 64)}`];
  const tries = await countTries(db, buckets);
  if (!tries.isCounted) return { outcome: 'throttled', retryAfterSeconds: tries.resetSeconds };
  const [found] = await db.orm.select().from(staff).where(eq(staff.email, email));
  const isRight = await verifyPassword(input.password, found?.passwordHash ?? null);
  if (!found || !isRight || found.disabled) return { outcome: 'refused' };
  await db.query(FORGIVE, buckets);
  const { id, name, role } = found;
  return { outcome: 'signed-in', staff: { id, email, name, role }, token: await openStaffSession(context, id) };
}

async function countTries(db: Database, buckets: string[]) {
  const [counted] = await db.query<{ isCounted: boolean; resetSeconds: number }>(COUNT, buckets);
  return counted!;
}

const WINDOW = `to_timestamp(floor(extract(epoch from now()) / ${WINDOW_SECONDS}) * ${WINDOW_SECONDS})`;
// The address always comes before the account: it decides if the account is written, and two attempts cannot deadlock.
const COUNT = `
  with address as (
    insert into sign_in_windows as w (bucket, window_start, tries) values ($2, ${WINDOW}, 1)
        on conflict (bucket, window_start) do update set tries = w.tries + 1 where w.tries < ${TRIES.address}
    returning 1),
  account as (
    insert into sign_in_windows as w (bucket, window_start, tries) select $1, ${WINDOW}, 1 from address
        on conflict (bucket, window_start) do update set tries = w.tries + 1 where w.tries < ${TRIES.account}
    returning 1)
  select exists (select 1 from account) as "isCounted",
         ceil(${WINDOW_SECONDS} - mod(extract(epoch from now()), ${WINDOW_SECONDS}))::int as "resetSeconds"`;

/**
 * Resets the account's attempts, which its owner made. Of the address, which others may share, only this attempt is
 * taken back.
 */
const FORGIVE = `
  insert into sign_in_windows as w (bucket, window_start, tries) values ($2, ${WINDOW}, 0), ($1, ${WINDOW}, 0)
      on conflict (bucket, window_start) do update
     set tries = case when w.bucket = $1 then 0 else greatest(w.tries - 1, 0) end`;

/** Removes the windows of sign-in attempts that have ended. Returns how many. */
export async function pruneSignInWindows(db: Database): Promise<number> {
  const { count } = await db.sql`delete from sign_in_windows where window_start < now() - interval '1 hour'`;
  return count;
}
