/**
 * Settings that our statements need, whatever the role or the database sets: only our own limits, to see what was committed
 * while they waited for a lock, and the schema that migrations name. By default Postgres prefers a schema with the name of the user.
 * Sent when a connection opens, which a transaction pooler does not permit. postgres.js leaves out the number 0.
 */
export const SESSION_SETTINGS: { [setting: string]: string } = {
  default_transaction_isolation: 'read committed',
  idle_session_timeout: '0',
  lock_timeout: '0',
  search_path: 'public',
  statement_timeout: '0',
};

/**
 * Lifts the time limit of transactions in a session. Postgres has it since version 17; a connection that asks for a setting which an older
 * one does not know is refused.
 */
export const LIFT_TRANSACTION_LIMIT =
  "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'";
