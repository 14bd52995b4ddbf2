const UNAVAILABLE_CODES = new Set([
  // The network and postgres.js.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
  // Postgres: shutting down, starting up, out of connections, the database taken away (a backup is being restored).
  ...['57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', '3D000'],
  // PgBouncer, of every cause: no server to be had, or none in time.
  '08P01',
]);

/** Whether an error, or what caused it, says that the database cannot be reached at the moment. */
export function isUnavailable(error: unknown): boolean {
  for (let e = error; e instanceof Object; e = (e as { cause?: unknown }).cause) {
    if (UNAVAILABLE_CODES.has(String((e as { code?: unknown }).code))) return true;
  }
  return false;
}
