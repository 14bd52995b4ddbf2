import type { Database, Query } from '../../db/client';
import type { Logger } from '../platform/log';

// What a trigger appended to `session_deltas` is folded into the counts by one transaction at a time, from one snapshot:
// every statement sees the same changes, and the last one removes them.

/** Moves the changes of sessions into the counts. Answers how many; 0 too while another process is folding. */
export function foldSessionDeltas(db: Database): Promise<number> {
  return db.transact(async (query, commitWith) => {
    await query('set transaction isolation level repeatable read', []);
    const [lock] = await query<{ isOurs: boolean }>(TRY_LOCK, []);
    if (!lock!.isOurs) return 0;
    await foldSeen(query);
    await query(FOLD_COUNTS, []);
    await query(FOLD_DIMENSIONS, []);
    await query(FOLD_ENTITIES, []);
    await query(ADD_OTHERS, [-1]);
    await query(FOLD_PAIRS, []);
    await query(ADD_OTHERS, [1]);
    const removed = await commitWith(REMOVE_DELTAS, []);
    return removed.length;
  });
}

/** Unfolded changes that a reader may have to add up in passing. */
const MAX_UNFOLDED = 4_000;

/** Creates what is told of every few changes, and folds in the background whenever many have piled up. Never throws. */
export function createFolder(db: Database, log: Logger): (changes: number) => void {
  let unfolded = 0;
  let isFolding = false;
  return (changes) => {
    unfolded += changes;
    if (unfolded < MAX_UNFOLDED || isFolding) return;
    unfolded = 0;
    isFolding = true;
    foldSessionDeltas(db)
      .catch((error: unknown) => log.warn({ err: error }, 'could not fold the counts; the next minute will'))
      .finally(() => {
        isFolding = false;
      });
  };
}

/** The steps of whoever the changes name are taken away, and added again as they are with the changes. */
async function foldSeen(query: Query) {
  await query(ADD_STEPS, [-1]);
  await query(FOLD_HOURS, []);
  await query(ADD_STEPS, [1]);
}

const TRY_LOCK = `select pg_try_advisory_xact_lock(hashtext('fold-session-deltas')) as "isOurs"`;

/** Both kinds of those who are seen in a delta; only what may be a bot says when a device was seen as one. */
export const SEEN = `cross join lateral (values ('user', user_id, 0::smallint), ('device', fingerprint, bin)) who(kind, value, level)`;
export const IS_SEEN = `value is not null and level >= 0`;

const ADD_STEPS = `
  with named as (
    select distinct integration_id, kind, value from session_deltas ${SEEN} where ${IS_SEEN}),
  tops as (
    select integration_id, kind, value, hour, max(h.bin) as bin
      from named join seen_hours h using (integration_id, kind, value) where h.sessions > 0
     group by integration_id, kind, value, hour),
  later as (
    select *, max(bin) over (partition by integration_id, kind, value order by hour desc
                              rows between unbounded preceding and 1 preceding) as best from tops),
  steps as (
    select integration_id, kind, hour, bin, 1 as n from later where best is null or bin > best
     union all
    select integration_id, kind, hour, best, -1 from later where bin > best)
  insert into seen_steps (integration_id, kind, grain, start, bin, count)
  select integration_id, kind, grain, start, bin, $1::int * sum(n)
    from steps cross join lateral (values ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))) g(grain, start)
   group by integration_id, kind, grain, start, bin having sum(n) <> 0
  on conflict (integration_id, kind, grain, start, bin) do update set count = seen_steps.count + excluded.count`;

const FOLD_HOURS = `
  insert into seen_hours (integration_id, kind, value, hour, bin, sessions)
  select integration_id, kind, value, hour, level, sum(sign) from session_deltas ${SEEN} where ${IS_SEEN}
   group by integration_id, kind, value, hour, level having sum(sign) <> 0
  on conflict (integration_id, kind, value, hour, bin) do update set sessions = seen_hours.sessions + excluded.sessions`;

/** The counts of `session_rollups` by name, each as what one change adds to it. */
const COUNTS = {
  sessions: 'sign',
  events: 'sign * events',
  active: 'sign * is_active',
  scored: 'case when score_micros is null then 0 else sign end',
  score_micros: 'coalesce(sign * score_micros, 0)',
  matched: 'case when user_id is null then 0 else sign end',
  confidence_micros: 'coalesce(sign * confidence_micros, 0)',
  labeled_bot: 'case when label = 1 then sign else 0 end',
  labeled_human: 'case when label = -1 then sign else 0 end',
  deviceless: 'case when fingerprint is null then sign else 0 end',
};
const COUNT_NAMES = Object.keys(COUNTS);
/** The columns of `session_rollups` for readers, and the same of a change. */
export const COUNT_COLUMNS = COUNT_NAMES.join(', ');
export const DELTA_COUNTS = Object.entries(COUNTS)
  .map(([name, expression]) => `${expression} as ${name}`)
  .join(', ');

const FOLD_COUNTS = `
  insert into session_rollups (integration_id, grain, start, bin, ${COUNT_COLUMNS})
  select integration_id, grain, start, bin, ${Object.values(COUNTS)
    .map((expression) => `sum(${expression})`)
    .join(', ')}
    from session_deltas cross join lateral (
      values ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('all', '-infinity'::timestamptz)) g(grain, start)
   group by integration_id, grain, start, bin
  on conflict (integration_id, grain, start, bin) do update
  set ${COUNT_NAMES.map((name) => `${name} = session_rollups.${name} + excluded.${name}`).join(', ')}`;

/** The dimensions of a delta. */
export const DIMENSIONS = `cross join lateral (
  values ('origin', origin, bin), ('device', device_type, 0::smallint), ('browser', browser, 0::smallint)) d(dimension, value, level)`;

const FOLD_DIMENSIONS = `
  insert into dimension_rollups (integration_id, grain, start, dimension, value, bin, sessions)
  select integration_id, grain, start, dimension, value, level, sum(sign)
    from session_deltas ${DIMENSIONS}
   cross join lateral (
      values ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('week', date_trunc('week', hour, 'UTC'))) g(grain, start)
   group by integration_id, grain, start, dimension, value, level having sum(sign) <> 0
  on conflict (integration_id, grain, start, dimension, value, bin) do update
  set sessions = dimension_rollups.sessions + excluded.sessions`;

/**
 * A user's, a course's and the integration's share of a change, with what the other side of it is: the device, the user,
 * and again the user.
 */
export const ENTITIES = `cross join lateral (
  values ('user', user_id, fingerprint), ('course', course_id, user_id), ('all', '', user_id)) e(kind, value, other)`;

const ENTITY_COUNTS = ['sessions', 'scored', 'score_micros', 'confidence_micros'] as const;
/** The columns of `entity_rollups` for readers, and the same of a change. */
export const ENTITY_COLUMNS = ENTITY_COUNTS.join(', ');
export const ENTITY_DELTAS = ENTITY_COUNTS.map((name) => `${COUNTS[name]} as ${name}`).join(', ');

const FOLD_ENTITIES = `
  insert into entity_rollups (integration_id, kind, value, bin, ${ENTITY_COLUMNS})
  select integration_id, kind, value, bin, ${ENTITY_COUNTS.map((name) => `sum(${COUNTS[name]})`).join(', ')}
    from session_deltas ${ENTITIES} where value is not null and kind <> 'all' group by integration_id, kind, value, bin
  on conflict (integration_id, kind, value, bin) do update
  set ${ENTITY_COUNTS.map((name) => `${name} = entity_rollups.${name} + excluded.${name}`).join(', ')}`;

const IS_PAIR = 'value is not null and other is not null';

const FOLD_PAIRS = `
  insert into entity_pairs (integration_id, kind, value, other, sessions)
  select integration_id, kind, value, other, sum(sign) from session_deltas ${ENTITIES} where ${IS_PAIR}
   group by integration_id, kind, value, other having sum(sign) <> 0
  on conflict (integration_id, kind, value, other) do update set sessions = entity_pairs.sessions + excluded.sessions`;

/** As ADD_STEPS: the pairs that the changes name are taken away, and added again as they are then. */
const ADD_OTHERS = `
  with named as (
    select distinct integration_id, kind, value, other from session_deltas ${ENTITIES} where ${IS_PAIR})
  insert into entity_others (integration_id, kind, value, others)
  select integration_id, kind, value, $1::int * count(*) from named join entity_pairs using (integration_id, kind, value, other)
   where sessions > 0 group by integration_id, kind, value
  on conflict (integration_id, kind, value) do update set others = entity_others.others + excluded.others`;

/**
 * The number of a user's devices, a course's users or all users: the folded number, with the pairs that `changes` names (kind,
 * value, other, sign) counted anew. `integrationId` and `value` are SQL.
 */
export const countOthers = (kind: 'user' | 'course' | 'all', integrationId: string, value: string) => `
  (select (coalesce((select others from entity_others o
                     where o.integration_id = ${integrationId} and o.kind = '${kind}' and o.value = ${value}), 0)
           + count(*) filter (where folded + unfolded > 0) - count(*) filter (where folded > 0))::int
     from (select c.unfolded,
                  coalesce((select p.sessions from entity_pairs p
                             where p.integration_id = ${integrationId} and p.kind = '${kind}' and p.value = ${value}
                               and p.other = c.other), 0) as folded
             from (select other, sum(sign) as unfolded from changes
                    where kind = '${kind}' and value = ${value} and other is not null group by other) c) pairs)`;

const REMOVE_DELTAS = 'delete from session_deltas returning 1';
