const UNAVAILABLE_CODES = new Set([
  // The network and postgres.js.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
  // TLS: the certificate expired or is not trusted (OpenSSL's codes, and Node's for another host), or Postgres speaks no TLS any more.
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  'ERR_SSL_WRONG_VERSION_NUMBER',
  // Our own database watch (db/watch.ts).
  ...['DATABASE_AWAY', 'DATABASE_BUSY'],
  // Postgres: shutting down, starting up, out of connections, or the database was removed (a backup is being restored).
  ...['57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', '3D000'],
  // Postgres lets the user in no more: its password was changed, perhaps before that of the settings.
  ...['28P01', '28000'],
  // PgBouncer, for any cause: no server available, or none in time.
  '08P01',
  // Out of disk or memory, read-only (a standby after a failover), or a statement, a lock or a pause of a transaction took too long.
  ...['53100', '53200', '25006', '57014', '55P03', '25P03', '25P04'],
]);

/** Thrown without asking the database, because it is known not to answer. */
export class DatabaseAwayError extends Error {
  readonly code = 'DATABASE_AWAY';
}

/** Thrown without asking the database, because as many statements already wait as the connections can carry. */
export class DatabaseBusyError extends Error {
  readonly code = 'DATABASE_BUSY';
}

/** Whether an error or its cause says that the database cannot be reached, or cannot work, at the moment. */
export function isUnavailable(error: unknown): boolean {
  return hasCode(error, (code) => UNAVAILABLE_CODES.has(code));
}

/** Whether the user of the database may not do this. */
export function lacksRight(error: unknown): boolean {
  return hasCode(error, (code) => code === '42501');
}

/** Whether a statement took too long. A smaller one may take less, or not wait for the lock of another row. */
export function isTimeout(error: unknown): boolean {
  return hasCode(error, (code) => code === '57014' || code === '55P03');
}

/** Whether a transaction was rolled back for the locks of others. It may succeed if it is tried again. */
export function isLockFailure(error: unknown): boolean {
  return hasCode(error, (code) => code === '40P01' || code === '55P03');
}

/** Whether the watch refused the statement. The outage is already logged, so single requests need no log line. */
export function isKnownOutage(error: unknown): boolean {
  return hasCode(error, (code) => code === 'DATABASE_AWAY' || code === 'DATABASE_BUSY');
}

/** The level of the log for an error that ended a request or a job. */
export function findFaultLevel(error: unknown): 'debug' | 'warn' | 'error' {
  if (isKnownOutage(error)) return 'debug';
  return isUnavailable(error) ? 'warn' : 'error';
}

function hasCode(error: unknown, isIt: (code: string) => boolean): boolean {
  for (let e = error; e instanceof Object; e = (e as { cause?: unknown }).cause) {
    if (isIt(String((e as { code?: unknown }).code))) return true;
  }
  return false;
}
