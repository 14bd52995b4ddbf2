/**
 * Writes the text of a Postgres array. postgres.js can write arrays itself only if it queries the array types on each new
 * connection. If the connection breaks during that query, an unhandled rejection ends the process.
 */
export function arrayOf(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join()}}`;
}
