import { createHash } from 'node:crypto';
import type { Database } from '../../db/client';

// Tries of secrets that people type or are given: passwords and the tokens of invitations.

/** Tries per window of the database's clock: of one secret from anywhere, and from one client address. */
const MAX_TRIES = { secret: 10, address: 50 };
const WINDOW_SECONDS = 15 * 60;

/** Where a try is counted: with the secret and with the client address. */
export type TryBuckets = [secret: string, address: string];

/** The answer beyond a limit. */
export interface Throttled {
  outcome: 'throttled';
  retryAfterSeconds: number;
}

/** Lists where a try of an account's password, or of an invitation's token, counts. */
export function listTryBuckets(kind: 'account' | 'invitation', name: string, clientAddress: string): TryBuckets {
  // Hashed, so that a bucket has a fixed length, and no token or password typed into the wrong field is stored.
  const hash = createHash('sha256').update(name).digest('base64url');
  return [`${kind}:${hash}`, `address:${clientAddress.slice(0, 64)}`];
}

/**
 * Counts a try before the secret is checked, so that parallel guesses at several processes count, too. Returns null if it is
 * within the limits. A try beyond a limit writes no row, so that nobody fills the table with names.
 */
export async function countTry(db: Database, buckets: TryBuckets): Promise<Throttled | null> {
  const [counted] = await db.query<{ isCounted: boolean; resetSeconds: number }>(COUNT, buckets);
  const { isCounted, resetSeconds } = counted!;
  return isCounted ? null : { outcome: 'throttled', retryAfterSeconds: resetSeconds };
}

const WINDOW = `to_timestamp(floor(extract(epoch from now()) / ${WINDOW_SECONDS}) * ${WINDOW_SECONDS})`;
// The address always comes before the secret: it decides if the secret is written, and two tries cannot deadlock.
const COUNT = `
  with address as (
    insert into sign_in_windows as w (bucket, window_start, tries) values ($2, ${WINDOW}, 1)
        on conflict (bucket, window_start) do update set tries = w.tries + 1 where w.tries < ${MAX_TRIES.address}
    returning 1),
  secret as (
    insert into sign_in_windows as w (bucket, window_start, tries) select $1, ${WINDOW}, 1 from address
        on conflict (bucket, window_start) do update set tries = w.tries + 1 where w.tries < ${MAX_TRIES.secret}
    returning 1)
  select exists (select 1 from secret) as "isCounted",
         ceil(${WINDOW_SECONDS} - mod(extract(epoch from now()), ${WINDOW_SECONDS}))::int as "resetSeconds"`;

/**
 * Resets the tries of a secret after a right one. Of the address, which others may share, only this try is taken back.
 */
export async function forgiveTry(db: Database, buckets: TryBuckets): Promise<void> {
  await db.query(FORGIVE, buckets);
}

const FORGIVE = `
  insert into sign_in_windows as w (bucket, window_start, tries) values ($2, ${WINDOW}, 0), ($1, ${WINDOW}, 0)
      on conflict (bucket, window_start) do update
     set tries = case when w.bucket = $1 then 0 else greatest(w.tries - 1, 0) end`;

/** Removes the windows of tries that have ended. Returns how many. */
export async function pruneTries(db: Database): Promise<number> {
  const { count } = await db.sql.unsafe("delete from sign_in_windows where window_start < now() - interval '1 hour'");
  return count;
}
