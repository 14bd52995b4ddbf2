const UNAVAILABLE_CODES = new Set([
  // The network and postgres.js.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
  // Our own watch (db/watch.ts).
  ...['DATABASE_AWAY', 'DATABASE_BUSY'],
  // Postgres: shutting down, starting up, out of connections, the database taken away (a backup is being restored).
  ...['57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', '3D000'],
  // PgBouncer, of every cause: no server to be had, or none in time.
  '08P01',
  // Out of disk or memory, read-only (a standby, after a failover), and longer at a statement than we let it be.
  ...['53100', '53200', '25006', '57014'],
]);

/** Refused unasked, because the database is known not to answer. */
export class DatabaseAwayError extends Error {
  readonly code = 'DATABASE_AWAY';
}

/** Refused unasked, because as many statements wait for an answer already as connections can carry. */
export class DatabaseBusyError extends Error {
  readonly code = 'DATABASE_BUSY';
}

/** Whether an error, or what caused it, says that the database cannot be reached, or cannot work, at the moment. */
export function isUnavailable(error: unknown): boolean {
  return hasCode(error, (code) => UNAVAILABLE_CODES.has(code));
}

/** Whether the watch refused it unasked: of an outage that is known already there is nothing to tell for each request. */
export function isKnownOutage(error: unknown): boolean {
  return hasCode(error, (code) => code === 'DATABASE_AWAY' || code === 'DATABASE_BUSY');
}

function hasCode(error: unknown, isIt: (code: string) => boolean): boolean {
  for (let e = error; e instanceof Object; e = (e as { cause?: unknown }).cause) {
    if (isIt(String((e as { code?: unknown }).code))) return true;
  }
  return false;
}
