import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// scrypt as OWASP advises it where 16 MiB a password is to suffice.
const COST = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** Derivations under way at once in a process: many guesses wait for each other instead of filling memory and threads. */
const LANES = 2;
const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
let nextLane = 0;

function derive(password: string, salt: Buffer): Promise<Buffer> {
  const lane = nextLane++ % LANES;
  const derived = lanes[lane]!.then(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // Two spellings of one character (é) are one password, whatever keyboard they come from.
        scrypt(password.normalize('NFKC'), salt, KEY_BYTES, COST, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );
  lanes[lane] = derived.catch(() => {});
  return derived;
}

/** Hashes a password: `scrypt$N$r$p$salt$key`, the last two in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), key.toString('base64')].join('$');
}

/** Whether a password is the one that was hashed. Without a hash (an unknown account) the same work is done, for false. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt, key] = hash?.split('$') ?? [];
  const expected = key === undefined ? randomBytes(KEY_BYTES) : Buffer.from(key, 'base64');
  const derived = await derive(password, salt === undefined ? randomBytes(SALT_BYTES) : Buffer.from(salt, 'base64'));
  return timingSafeEqual(derived, expected) && hash !== null;
}
