import type postgres from 'postgres';
import { isLockFailure } from './errors';

// Events are listed by position: the id of the transaction that wrote them, plus a base. `created_at` and ids do not give the order in
// which events become visible: a transaction that began earlier may commit later, behind a client's cursor. So a list in
// this order ends before the first transaction that is still running. Whatever commits later has a higher position.

/** The SQL condition that no transaction which runs now or later can write an event at this position. */
export const isSettled = (position: string) => `${position} < event_position(pg_snapshot_xmin(pg_current_snapshot()))`;

/**
 * Moves all later positions behind all earlier ones. A restored database counts its transactions from an earlier number on, in another
 * cluster from the beginning; without this, new events would be behind the cursors that clients hold. The new base follows the clock,
 * because a restored database does not know which positions it has given since. No database begins 2^20 transactions a second, so the
 * clock is always ahead.
 *
 * Nobody may be writing events meanwhile. Returns false if a transaction keeps the table for longer than a start may hold up writers; then
 * nothing is done. A VACUUM or ANALYZE keeps it too, as after a restore. Autovacuum yields after a second
 * (`deadlock_timeout`).
 */
export async function advanceEventPositions(sql: postgres.Sql): Promise<boolean> {
  try {
    await sql.unsafe(ADVANCE);
    return true;
  } catch (error) {
    if (!isLockFailure(error)) throw error;
    return false;
  }
}

const ADVANCE = `
  do $$ begin
    if to_regprocedure('event_position(xid8)') is null then return; end if;
    perform set_config('lock_timeout', '2s', true);
    lock table domain_events in share row exclusive mode;
    execute format(
      'create or replace function event_position(transaction xid8) returns bigint language sql immutable parallel safe
         as ''select transaction::text::bigint + %s''',
      greatest(event_position('0'),
               (floor(extract(epoch from clock_timestamp()))::bigint << 20) - pg_current_xact_id()::text::bigint));
  end $$`;
