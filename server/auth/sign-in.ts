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
 * parallel guesses at several processes count, too. A success takes back the account's attempts.
 */
export async function signIn(context: AuthContext, input: SignInInput, clientAddress: string): Promise<SignIn> {
  const { db } = context;
  const email = input.email.trim().toLowerCase();
  // Hashed, so that a bucket has a fixed length and a password typed into the wrong field is not stored.
  const account = `account:${createHash('sha256').update(email).digest('base64url')}`;
  const buckets = [account, `address:${clientAddress.slice(0, 64)}`];
  const tries = await countTries(db, buckets);
  if (tries.account > TRIES.account || tries.address > TRIES.address)
    return { outcome: 'throttled', retryAfterSeconds: tries.resetSeconds };
  const [found] = await db.orm.select().from(staff).where(eq(staff.email, email));
  const isRight = await verifyPassword(input.password, found?.passwordHash ?? null);
  if (!found || !isRight || found.disabled) return { outcome: 'refused' };
  await db.query(FORGIVE, buckets);
  const { id, name, role } = found;
  return { outcome: 'signed-in', staff: { id, email, name, role }, token: await openStaffSession(context, id) };
}

async function countTries(db: Database, buckets: string[]) {
  const [counted] = await db.query<{ account: number; address: number; resetSeconds: number }>(COUNT, buckets);
  return counted!;
}

const WINDOW = `to_timestamp(floor(extract(epoch from now()) / ${WINDOW_SECONDS}) * ${WINDOW_SECONDS})`;
// The account always comes before the address, so that two attempts cannot deadlock.
const COUNT = `
  with past as (delete from sign_in_windows where window_start < now() - interval '1 day'),
  counted as (
    insert into sign_in_windows as w (bucket, window_start, tries) values ($1, ${WINDOW}, 1), ($2, ${WINDOW}, 1)
        on conflict (bucket, window_start) do update set tries = w.tries + 1
    returning bucket, tries)
  select (select tries from counted where bucket = $1) as account, (select tries from counted where bucket = $2) as address,
         ceil(${WINDOW_SECONDS} - mod(extract(epoch from now()), ${WINDOW_SECONDS}))::int as "resetSeconds"`;

/**
 * Resets the account's attempts, which its owner made. Of the address, which others may share, only this attempt is
 * taken back.
 */
const FORGIVE = `
  insert into sign_in_windows as w (bucket, window_start, tries) values ($1, ${WINDOW}, 0), ($2, ${WINDOW}, 0)
      on conflict (bucket, window_start) do update
     set tries = case when w.bucket = $1 then 0 else greatest(w.tries - 1, 0) end`;
