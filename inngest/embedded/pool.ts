import { Pool, type PoolClient } from 'pg';

/**
 * Settings that the engine's statements need, whatever the role or the database sets: no limits, because a listener is idle
 * and a migration waits for another one; and to see what was committed while they waited for a lock. postgres.js leaves out
 * the number 0.
 */
export const ENGINE_SESSION: { [setting: string]: string } = {
  default_transaction_isolation: 'read committed',
  idle_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
};
/** The same as pg takes it. */
const OPTIONS = Object.entries(ENGINE_SESSION).map(([name, value]) => `-c ${name}=${value.replace(' ', '\\ ')}`);

type TakeClient = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;
type Release = (error?: Error | boolean) => void;

/**
 * Ignores a second release of a client that was taken with a callback. If the connection of graphile-worker's listener breaks
 * before its LISTEN is answered, and after the workers begin to stop, it releases its client twice. pg then throws in a
 * promise that nothing handles, which would end the process.
 */
class LenientPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(take: TakeClient): void;
  override connect(take?: TakeClient): Promise<PoolClient> | undefined {
    if (!take) return super.connect();
    super.connect((error, client, release) => {
      // A pool that is closing gives no function either.
      if (!client) return take(error, client, release);
      let isReleased = false;
      take(error, client, (reason) => {
        if (!isReleased) release(reason);
        isReleased = true;
      });
    });
  }
}

/**
 * Adds the engine's settings to an address, and reads TLS from it like postgres.js, which opens all other connections:
 * `require` encrypts and does not check the certificate, as in libpq. pg checks it.
 */
function readAddress(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const own = url.searchParams.get('options') ?? '';
  url.searchParams.set('options', [own, ...OPTIONS].join(' ').trim());
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl');
  url.searchParams.delete('sslmode');
  url.searchParams.delete('ssl');
  const isPlain = mode === null || mode === 'disable' || mode === 'false';
  const isUnchecked = mode === 'require' || mode === 'prefer' || mode === 'allow';
  return { connectionString: url.href, ssl: isPlain ? false : { rejectUnauthorized: !isUnchecked } };
}

/**
 * Opens connections for graphile-worker. The caller ends the pool: when graphile-worker closes a pool that it opened,
 * it stops listening to errors first, and an error of a closing connection would end the process.
 */
export function openPool(databaseUrl: string, max: number): Pool {
  const ignore = () => {};
  return new LenientPool({ ...readAddress(databaseUrl), max })
    .on('error', ignore)
    .on('connect', (client) => client.on('error', ignore));
}
