import type { Database } from '../../db/client';
import type { Logger } from '../platform/log';
import { composeEntryFold } from './entry-folds';

// The fold (docs/counts.md). Only one fold runs at a time, in one transaction with one snapshot. Every statement sees the same
// changes, and the last one removes them.

/** Moves the changes of sessions into the counts. Returns how many, or 0 if another process is folding. */
export function foldSessionDeltas(db: Pick<Database, 'transact'>): Promise<number> {
  return db.transact(
    async (query, commitWith) => {
      await query('set transaction isolation level repeatable read', []);
      const [lock] = await query<{ isOurs: boolean }>(TRY_LOCK, []);
      if (!lock!.isOurs) return 0;
      await query(FOLD_SEEN, []);
      await query(FOLD_COUNTS, []);
      await query(FOLD_DIMENSIONS, []);
      await query(FOLD_ENTITIES, []);
      await query(ADD_OTHERS, []);
      await query(FOLD_PAIRS, []);
      await query(FOLD_ROW_COUNTS, []);
      const removed = await commitWith(REMOVE_DELTAS, []);
      return removed.length;
    },
    { isLong: true },
  );
}

/** After this many changes, a fold starts, because readers must add up all unfolded changes. */
const MAX_UNFOLDED = 4_000;

/**
 * Creates a function that counts changes and starts a fold in the background when many have accumulated. The function never
 * throws.
 */
export function createFolder(db: Database, log: Logger): (changes: number) => void {
  let unfolded = 0;
  let isFolding = false;
  return (changes) => {
    unfolded += changes;
    if (unfolded < MAX_UNFOLDED || isFolding) return;
    unfolded = 0;
    isFolding = true;
    foldSessionDeltas(db)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'could not fold the counts; the cron of the next minute retries it'),
      )
      .finally(() => {
        isFolding = false;
      });
  };
}

/** Only its holder changes counts that come from sessions. */
const LOCK_KEY = `hashtext('fold-session-deltas')`;
export const TRY_LOCK = `select pg_try_advisory_xact_lock(${LOCK_KEY}) as "isOurs"`;
/** Waits for the fold to end, and keeps it from beginning until the transaction ends. */
export const LOCK_FOLD = `select pg_advisory_xact_lock(${LOCK_KEY})`;

/** The user and the device of a delta. Users always count at level 0; devices count at the session's bin. */
export const SEEN = `cross join lateral (values ('user', user_id, 0::smallint), ('device', fingerprint, bin)) who(kind, value, level)`;
export const IS_SEEN = `value is not null and level >= 0`;

/** Reads the element of a tally (docs/counts.md) that counts the sessions with at least a bin. `bin` is SQL. */
export const countAtLeast = (column: string, bin: string) => `coalesce(${column}[${bin} + 3], 0)`;

const LEVELS = Array.from({ length: 104 }, (_, index) => index - 2);

/** Aggregates rows with a count and a `bin` to a tally. `count` is SQL. A sum of bigints is numeric and takes half as long again. */
export const aggregateTally = (count: string) =>
  `(array[${LEVELS.map((level) => `sum((${count})::int) filter (where bin >= ${level})`).join(', ')}])[:max(bin) + 3]::int[]`;

/** Adds the excluded row's tally to the stored one in an `on conflict` clause. By element, in half the time of `unnest`. */
const addTally = (table: string, column: string) => {
  const sums = LEVELS.map((_, index) =>
    [table, 'excluded'].map((row) => `coalesce(${row}.${column}[${index + 1}], 0)`).join(' + '),
  );
  return `${column} = (array[${sums.join(', ')}])[:greatest(cardinality(${table}.${column}), cardinality(excluded.${column}))]`;
};

/**
 * For the users and devices that the changes name, adds the steps with the changes and subtracts the steps without them
 * (docs/counts.md, "The staircase of distinct counts"). All parts of the statement see the hours as they were before it. A user has
 * one step, in the last hour with a session. So of a user, only the hours since the first changed one are read, and the last before it.
 * They are numbered, because numbers are sorted and grouped in less time than texts.
 */
const FOLD_SEEN = `
  with changed as materialized (
    select dense_rank() over (order by integration_id, kind, value) as number,
           integration_id, kind, value, hour, level as bin, sum(sign)::int as sessions
      from session_deltas ${SEEN} where ${IS_SEEN} group by integration_id, kind, value, hour, level having sum(sign) <> 0
     order by integration_id, kind, value, hour, level),
  written as (
    insert into seen_hours (integration_id, kind, value, hour, bin, sessions)
    select integration_id, kind, value, hour, bin, sessions from changed
    on conflict (integration_id, kind, value, hour, bin) do update set sessions = seen_hours.sessions + excluded.sessions),
  named as materialized (
    select number, integration_id, kind, value, min(hour) as first from changed group by number, integration_id, kind, value),
  hours as (
    select number, hour, bin, h.sessions::int as before, 0 as change
      from named n join seen_hours h using (integration_id, kind, value)
     where h.hour >= case n.kind when 'user' then n.first else '-infinity' end
     union all
    select number, h.hour, h.bin, h.sessions::int, 0
      from named n cross join lateral (
        select hour, bin, sessions from seen_hours h
         where h.integration_id = n.integration_id and h.kind = 'user' and h.value = n.value and h.hour < n.first and h.sessions > 0
         order by hour desc limit 1) h
     where n.kind = 'user'
     union all
    select number, hour, bin, 0, sessions from changed),
  totals as (
    select number, hour, bin, sum(before) as before, sum(before + change) as after from hours group by number, hour, bin),
  tops as (
    select number, hour, max(bin) filter (where before > 0) as before, max(bin) filter (where after > 0) as after
      from totals group by number, hour),
  later as (
    select *, max(before) over later_hours as best_before, max(after) over later_hours as best_after
      from tops window later_hours as (partition by number order by hour desc
                                        rows between unbounded preceding and 1 preceding)),
  steps as (
    select number, hour, bin, sign from later cross join lateral (
      values (before, -1, best_before is null or before > best_before), (best_before, 1, before > best_before),
             (after, 1, best_after is null or after > best_after), (best_after, -1, after > best_after)) s(bin, sign, is_step)
     where (before, best_before) is distinct from (after, best_after) and is_step and bin is not null),
  cells as (
    select integration_id, kind, grain, start, bin, sum(sign) as n
      from steps join named using (number)
           cross join lateral (values ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))) g(grain, start)
     group by integration_id, kind, grain, start, bin having sum(sign) <> 0)
  insert into seen_steps (integration_id, kind, grain, start, count)
  select integration_id, kind, grain, start, ${aggregateTally('n')} from cells group by integration_id, kind, grain, start
  on conflict (integration_id, kind, grain, start) do update set ${addTally('seen_steps', 'count')}`;

/** The plain counts of `session_rollups`: the name, and what one change adds. */
const COUNTS = {
  events: 'sign * events',
  active: 'sign * is_active',
  scored: 'case when score_micros is null then 0 else sign end',
  score_micros: 'coalesce(sign * score_micros, 0)',
  matched: 'case when user_id is null then 0 else sign end',
  confidence_micros: 'coalesce(sign * confidence_micros, 0)',
  labeled_bot: 'case when label = 1 then sign else 0 end',
  labeled_human: 'case when label = -1 then sign else 0 end',
};
/** What one change adds to the tally `deviceless`. */
export const DEVICELESS = 'case when fingerprint is null then sign else 0 end';
const COUNT_NAMES = Object.keys(COUNTS);
/** The columns of `session_rollups` for readers, and the same columns of a change. */
export const COUNT_COLUMNS = COUNT_NAMES.join(', ');
export const DELTA_COUNTS = Object.entries(COUNTS)
  .map(([name, expression]) => `${expression} as ${name}`)
  .join(', ');

const sumOf = (expression: string, name: string) => `sum(${expression}) as ${name}`;

const FOLD_COUNTS = `
  with cells as (
    select integration_id, hour, bin, ${sumOf('sign', 'sessions')}, ${sumOf(DEVICELESS, 'deviceless')},
           ${Object.entries(COUNTS)
             .map(([name, expression]) => sumOf(expression, name))
             .join(', ')}
      from session_deltas group by integration_id, hour, bin)
  insert into session_rollups (integration_id, grain, start, sessions, deviceless, ${COUNT_COLUMNS})
  select integration_id, grain, start, ${aggregateTally('sessions')}, ${aggregateTally('deviceless')},
         ${COUNT_NAMES.map((name) => `sum(${name})`).join(', ')}
    from cells cross join lateral (
      values ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('all', '-infinity'::timestamptz)) g(grain, start)
   group by integration_id, grain, start
  on conflict (integration_id, grain, start) do update
  set ${addTally('session_rollups', 'sessions')}, ${addTally('session_rollups', 'deviceless')},
      ${COUNT_NAMES.map((name) => `${name} = session_rollups.${name} + excluded.${name}`).join(', ')}`;

/** Splits a delta into rows for its origin, device type and browser. */
export const DIMENSIONS = `cross join lateral (
  values ('origin', origin, bin), ('device', device_type, -2::smallint), ('browser', browser, -2::smallint)) d(dimension, value, level)`;

const FOLD_DIMENSIONS = `
  with cells as (
    select integration_id, hour, dimension, value, level as bin, sum(sign) as n
      from session_deltas ${DIMENSIONS} group by integration_id, hour, dimension, value, level having sum(sign) <> 0)
  insert into dimension_rollups (integration_id, grain, start, dimension, value, sessions)
  select integration_id, grain, start, dimension, value, ${aggregateTally('n')}
    from cells cross join lateral (
      values ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('week', date_trunc('week', hour, 'UTC'))) g(grain, start)
   group by integration_id, grain, start, dimension, value
  on conflict (integration_id, grain, start, dimension, value) do update set ${addTally('dimension_rollups', 'sessions')}`;

/**
 * Splits a change into rows for its user, its course and the whole integration. `other` is the counted partner: the user's
 * device, the course's user, the integration's user.
 */
export const ENTITIES = `cross join lateral (
  values ('user', user_id, fingerprint), ('course', course_id, user_id), ('all', '', user_id)) e(kind, value, other)`;

const { scored, score_micros, confidence_micros } = COUNTS;
const ENTITY_COUNTS = { sessions: 'sign', scored, score_micros, confidence_micros };
const ENTITY_NAMES = Object.keys(ENTITY_COUNTS);
/** The columns of `entity_rollups` for readers, and the same columns of a change. */
export const ENTITY_COLUMNS = ENTITY_NAMES.join(', ');
export const ENTITY_DELTAS = Object.entries(ENTITY_COUNTS)
  .map(([name, expression]) => `${expression} as ${name}`)
  .join(', ');

const FOLD_ENTITIES = `
  insert into entity_rollups (integration_id, kind, value, bin, ${ENTITY_COLUMNS})
  select integration_id, kind, value, bin, ${Object.values(ENTITY_COUNTS)
    .map((expression) => `sum(${expression})`)
    .join(', ')}
    from session_deltas ${ENTITIES} where value is not null and kind <> 'all' group by integration_id, kind, value, bin
   order by integration_id, kind, value, bin
  on conflict (integration_id, kind, value, bin) do update
  set ${ENTITY_NAMES.map((name) => `${name} = entity_rollups.${name} + excluded.${name}`).join(', ')}`;

const IS_PAIR = 'value is not null and other is not null';

const FOLD_PAIRS = `
  insert into entity_pairs (integration_id, kind, value, other, sessions)
  select integration_id, kind, value, other, sum(sign) from session_deltas ${ENTITIES} where ${IS_PAIR}
   group by integration_id, kind, value, other having sum(sign) <> 0
   order by integration_id, kind, value, other
  on conflict (integration_id, kind, value, other) do update set sessions = entity_pairs.sessions + excluded.sessions`;

/** For the pairs that the changes name, adds the number of pairs with the changes minus the number without them. */
const ADD_OTHERS = `
  with changed as materialized (
    select integration_id, kind, value, other, sum(sign) as change from session_deltas ${ENTITIES} where ${IS_PAIR}
     group by integration_id, kind, value, other having sum(sign) <> 0)
  insert into entity_others (integration_id, kind, value, others)
  select integration_id, kind, value, sum((coalesce(p.sessions, 0) + change > 0)::int - (coalesce(p.sessions, 0) > 0)::int) as added
    from changed left join entity_pairs p using (integration_id, kind, value, other)
   group by integration_id, kind, value having sum((coalesce(p.sessions, 0) + change > 0)::int - (coalesce(p.sessions, 0) > 0)::int) <> 0
  on conflict (integration_id, kind, value) do update set others = entity_others.others + excluded.others`;

/**
 * Counts a user's devices, a course's users or all users: the folded number, corrected for the pairs that its changes (other, sign)
 * name. `integrationId`, `value` and `changes` are SQL.
 */
export const countOthers = (
  kind: 'user' | 'course' | 'all',
  integrationId: string,
  value: string,
  changes = `(select other, sign from changes where kind = '${kind}' and value = ${value}) own`,
) => `
  (select (coalesce((select others from entity_others o
                     where o.integration_id = ${integrationId} and o.kind = '${kind}' and o.value = ${value}), 0)
           + count(*) filter (where folded + unfolded > 0) - count(*) filter (where folded > 0))::int
     from (select c.unfolded,
                  coalesce((select p.sessions from entity_pairs p
                             where p.integration_id = ${integrationId} and p.kind = '${kind}' and p.value = ${value}
                               and p.other = c.other), 0) as folded
             from (select other, sum(sign) as unfolded from ${changes} where other is not null group by other) c) pairs)`;

/** A trigger counts what it removes by minute (docs/counts.md, "Counts by minute"). */
const REMOVE_DELTAS = 'delete from session_deltas returning 1';

const FOLD_ROW_COUNTS = composeEntryFold('row_counts', { key: ['integration_id', 'kind'], counts: ['rows'] });
