/**
 * The text of a Postgres array. postgres.js writes arrays itself only after asking each new connection for the array
 * types, and ends the process by an unhandled rejection when that connection breaks at that moment.
 */
export function arrayOf(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join()}}`;
}
