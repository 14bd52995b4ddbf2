import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../contract/errors';

// The parameters that OWASP advises for scrypt with 16 MiB per password.
const COST = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/**
 * How many derivations a process runs at once. Further ones queue, so that many guesses do not fill the threads. Beyond the queue
 * they are refused: guesses from many addresses must not make staff wait for hours.
 */
const LANES = 2;
const MAX_QUEUED = 20;
const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
let nextLane = 0;
let queued = 0;

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  if (queued >= LANES + MAX_QUEUED)
    throw new ApiError('SERVICE_UNAVAILABLE', 'Too many passwords are being checked; try again in a few seconds');
  queued++;
  const lane = nextLane++ % LANES;
  const derived = lanes[lane]!.then(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // Different encodings of one character (é) are the same password, whatever keyboard typed it.
        scrypt(password.normalize('NFKC'), salt, KEY_BYTES, COST, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );
  lanes[lane] = derived.catch(() => {});
  try {
    return await derived;
  } finally {
    queued--;
  }
}

/** Hashes a password: `scrypt$N$r$p$salt$key`, the last two in base64. Throws SERVICE_UNAVAILABLE if too many wait. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), key.toString('base64')].join('$');
}

/**
 * Checks a password against a hash. Without a hash (an unknown account) it does the same work and returns false. Throws
 * SERVICE_UNAVAILABLE if too many wait.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt, key] = hash?.split('$') ?? [];
  const expected = key === undefined ? randomBytes(KEY_BYTES) : Buffer.from(key, 'base64');
  const derived = await derive(password, salt === undefined ? randomBytes(SALT_BYTES) : Buffer.from(salt, 'base64'));
  return timingSafeEqual(derived, expected) && hash !== null;
}
