import type { ListAuditEntriesInput } from '../../contract/audit';
import type { ListDeliveriesInput } from '../../contract/deliveries';
import type { ListAlertsInput, ListAnomaliesInput } from '../../contract/findings';
import type { ListSessionsInput } from '../../contract/sessions';
import { MAX_COUNTED, type Total } from '../../contract/totals';
import type { DomainContext } from './context';
import { findRiskRange } from './risk';
import { countAtLeast, countOthers, ENTITIES } from './rollups';

// How many rows a list has: from the counts where they say it exactly, else up to MAX_COUNTED of a range of one index. Counts know
// sessions that retention has removed, so they count only for what it has not reached.

const exactly = (count: number): Total => ({ count, isExact: true });

/**
 * Counts a range of the index on the integration, a column, a time and the id, at most one row more than MAX_COUNTED. Rows are
 * compared instead of columns, and the range has the index's order, so that no plan reads another index and filters.
 */
async function countRange(
  { db, integration }: DomainContext,
  { table, column, at, id = 'id', condition = 'true' }: CountedIndex,
  { value, start = '-infinity', end = 'infinity' }: { value: string | number; start?: string; end?: string },
): Promise<Total> {
  const type = typeof value === 'number' ? 'smallint' : 'text';
  const edge = (time: string) => `((select $2::${type}), (select ${time}::timestamptz))`;
  return countUpTo(
    db,
    `${table} where integration_id = (select $1::text) and ${condition}
       and (${column}, ${at}) >= ${edge('$3')} and (${column}, ${at}) < ${edge('$4')}
     order by ${column}, ${at}, ${id}`,
    [integration.id, value, start, end],
  );
}

interface CountedIndex {
  table: string;
  column: string;
  at: string;
  id?: string;
  /** Of a partial index. */
  condition?: string;
}

async function countUpTo(db: DomainContext['db'], from: string, values: (string | number)[]): Promise<Total> {
  const statement = `select count(*)::int as count from (select from ${from} limit ${MAX_COUNTED + 1}) r`;
  const [row] = await db.query<{ count: number }>(statement, values);
  const { count } = row!;
  return count > MAX_COUNTED ? { count: MAX_COUNTED, isExact: false } : exactly(count);
}

/** The names of the filters that are given. */
function listGiven(filters: object): string[] {
  const ignored = ['cursor', 'pageSize', 'sort'];
  return Object.entries(filters).flatMap(([name, value]) =>
    value === undefined || ignored.includes(name) ? [] : name,
  );
}
const isOnly = (given: string[], ...names: string[]) => given.every((name) => names.includes(name));

const ofSessions = (column: string): CountedIndex => ({ table: 'sessions', column, at: 'created_at' });
const SESSION_INDEXES = new Map<string, CountedIndex>([
  ['userId', ofSessions('user_id')],
  ['fingerprint', ofSessions('fingerprint')],
  ['courseId', ofSessions('course_id')],
  ['origin', ofSessions('origin')],
  ['label', { ...ofSessions('label'), condition: 'label is not null' }],
  ['detectionFlag', { table: 'session_flags', column: 'flag', at: 'created_at', id: 'session_id' }],
]);

/** Counts the sessions that pass the filters of their list. */
export async function countSessions(context: DomainContext, input: ListSessionsInput): Promise<Total> {
  const given = listGiven(input);
  const { riskLevel, userId, courseId, label, status, startDate, endDate } = input;
  const risk = riskLevel ? findRiskRange(riskLevel, context.integration) : { from: -2, below: 102 };
  if (isOnly(given, 'riskLevel', 'userId') && userId !== undefined)
    return (await countEntity(context, 'user', userId, risk)) ?? countSessionRange(context, given, input);
  if (isOnly(given, 'riskLevel', 'courseId') && courseId !== undefined)
    return (await countEntity(context, 'course', courseId, risk)) ?? countSessionRange(context, given, input);
  const isWhole = await isCounted(context, startDate?.at ?? '-infinity');
  if (isWhole && isOnly(given, 'riskLevel')) return countAll(context, risk);
  if (isWhole && isOnly(given, 'label')) return countLabelled(context, label!);
  if (isWhole && isOnly(given, 'status') && status === 'Active') return countActive(context);
  if (isWhole && isOnly(given, 'riskLevel', 'startDate', 'endDate') && areDays(startDate?.at, endDate?.at))
    return countDays(context, risk, startDate!.at, endDate?.at ?? 'infinity');
  return countSessionRange(context, given, input);
}

type Bins = { from: number; below: number };

/** Whether retention has removed no session since a time. */
async function isCounted({ db, integration }: DomainContext, since: string): Promise<boolean> {
  const pruned = await db.query(
    "select 1 from pruned_ends where integration_id = $1 and kind = 'all' and value = '' and last_seen_at >= $2::timestamptz",
    [integration.id, since],
  );
  return pruned.length === 0;
}

async function readCount({ db }: DomainContext, statement: string, values: unknown[]): Promise<Total> {
  const [row] = await db.query<{ count: number | null }>(statement, values as never);
  return row!.count === null ? null : exactly(row!.count);
}

const inBins = (column: string) => `${countAtLeast(column, '$2::int')} - ${countAtLeast(column, '$3::int')}`;
const IS_IN_BINS = 'bin >= $2::int and bin < $3::int';

const countAll = (context: DomainContext, { from, below }: Bins) =>
  readCount(context, COUNT_ALL, [context.integration.id, from, below]);
const COUNT_ALL = `
  select coalesce(sum(n), 0)::int as count from (
    select ${inBins('sessions')} as n from session_rollups where integration_id = $1 and grain = 'all'
     union all
    select sign from session_deltas where integration_id = $1 and ${IS_IN_BINS}) c`;

const DAY_MS = 86_400_000;
/** Counts by day reach back 100 days (docs/counts.md). */
const COUNTED_DAYS = 99;
const isMidnight = (at: string) => Date.parse(at) % DAY_MS === 0;
const areDays = (start: string | undefined, end: string | undefined) =>
  start !== undefined &&
  isMidnight(start) &&
  Date.parse(start) > Date.now() - COUNTED_DAYS * DAY_MS &&
  (end === undefined || isMidnight(end));

const countDays = (context: DomainContext, { from, below }: Bins, start: string, end: string) =>
  readCount(context, COUNT_DAYS, [context.integration.id, from, below, start, end]);
const COUNT_DAYS = `
  select coalesce(sum(n), 0)::int as count from (
    select ${inBins('sessions')} as n from session_rollups
     where integration_id = $1 and grain = 'day' and start >= $4::timestamptz and start < $5::timestamptz
     union all
    select sign from session_deltas
     where integration_id = $1 and ${IS_IN_BINS} and hour >= $4::timestamptz and hour < $5::timestamptz) c`;

const countLabelled = (context: DomainContext, label: string) =>
  readCount(context, COUNT_LABELLED, [context.integration.id, label]);
const COUNT_LABELLED = `
  select coalesce(sum(case $2 when 'bot' then bots when 'human' then humans else n - bots - humans end), 0)::int as count from (
    select ${countAtLeast('sessions', '-2')} as n, labeled_bot as bots, labeled_human as humans
      from session_rollups where integration_id = $1 and grain = 'all'
     union all
    select sign, case label when 1 then sign else 0 end, case label when -1 then sign else 0 end
      from session_deltas where integration_id = $1) c`;

const countActive = (context: DomainContext) => readCount(context, COUNT_ACTIVE, [context.integration.id]);
const COUNT_ACTIVE = `
  select coalesce(sum(n), 0)::int as count from (
    select active as n from session_rollups where integration_id = $1 and grain = 'all'
     union all
    select sign * is_active from session_deltas where integration_id = $1) c`;

/** Null if retention has removed sessions of the user or course. */
const countEntity = (context: DomainContext, kind: 'user' | 'course', value: string, { from, below }: Bins) =>
  readCount(context, COUNT_ENTITY[kind], [context.integration.id, from, below, value]);
const composeEntity = (kind: 'user' | 'course') => `
  select case when not exists (
           select from pruned_ends where integration_id = $1 and kind = '${kind}' and value = $4) then coalesce(sum(n), 0)::int end as count
    from (select sessions as n from entity_rollups
           where integration_id = $1 and kind = '${kind}' and value = $4 and ${IS_IN_BINS}
           union all
          select sign from session_deltas where integration_id = $1 and ${kind}_id = $4 and ${IS_IN_BINS}) c`;
const COUNT_ENTITY = { user: composeEntity('user'), course: composeEntity('course') };

/** Counts sessions where one index has exactly those that pass: a filter that it serves, and the dates. */
async function countSessionRange(context: DomainContext, given: string[], input: ListSessionsInput): Promise<Total> {
  const [filter, ...others] = given.filter((name) => name !== 'startDate' && name !== 'endDate');
  if (others.length > 0) return null;
  const [start, end] = [input.startDate?.at ?? '-infinity', input.endDate?.at ?? 'infinity'];
  if (filter === undefined) {
    const from = `sessions where integration_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz
      order by created_at, id`;
    return countUpTo(context.db, from, [context.integration.id, start, end]);
  }
  if (filter === 'label' && input.label === 'none') return null;
  const index = SESSION_INDEXES.get(filter as 'origin');
  if (!index) return null;
  const value = filter === 'label' ? (input.label === 'bot' ? 1 : -1) : input[filter as 'origin']!;
  return countRange(context, index, { value, start, end });
}

/** Counts the users that sessions are correlated with. */
export const countUsers = (context: DomainContext): Promise<Total> =>
  readCount(context, COUNT_USERS, [context.integration.id]);
const COUNT_USERS = `
  with changes as materialized (
    select kind, value, other, sign from session_deltas ${ENTITIES} where integration_id = $1 and kind = 'all')
  select ${countOthers('all', '$1', "''")} as count`;

const COUNT_ROWS = `select coalesce(sum(rows), 0)::int as count from row_counts where integration_id = $1 and kind = $2`;

/** Counts the courses that have sessions. */
export const countCourses = (context: DomainContext): Promise<Total> =>
  readCount(context, COUNT_ROWS, [context.integration.id, 'courses']);

const ofAnomalies = (column: string): CountedIndex => ({ table: 'anomalies', column, at: 'detected_at' });
const ANOMALY_INDEXES = new Map<string, CountedIndex>([
  ['sessionId', ofAnomalies('session_id')],
  ['userId', ofAnomalies('user_id')],
  ['anomalyType', ofAnomalies('type')],
  ['severity', ofAnomalies('severity')],
]);

/** Counts the anomalies that pass the filters of their list. */
export async function countAnomalies(context: DomainContext, input: ListAnomaliesInput): Promise<Total> {
  const [filter, ...others] = listGiven(input);
  if (filter === undefined) return readCount(context, COUNT_ROWS, [context.integration.id, 'anomalies']);
  const index = ANOMALY_INDEXES.get(filter);
  if (!index || others.length > 0) return null;
  return countRange(context, index, { value: input[filter as 'userId']! });
}

/** Counts all alerts, or those of a rule. Their statuses are not counted. */
export async function countAlerts(context: DomainContext, { status, ruleId }: ListAlertsInput): Promise<Total> {
  const { db, integration } = context;
  if (status !== undefined) return null;
  if (ruleId !== undefined)
    return countRange(context, { table: 'alerts', column: 'rule_id', at: 'triggered_at' }, { value: ruleId });
  return countUpTo(db, 'alerts where integration_id = $1 order by triggered_at, id', [integration.id]);
}

/** Counts the deliveries of a subscription in a span. Their statuses are not counted. */
export async function countDeliveries({ db, integration }: DomainContext, input: ListDeliveriesInput): Promise<Total> {
  if (!isOnly(listGiven(input), 'id', 'startDate', 'endDate')) return null;
  const [start, end] = [input.startDate?.at ?? '-infinity', input.endDate?.at ?? 'infinity'];
  const from = `webhook_deliveries where integration_id = $1 and subscription_id = $2
      and created_at >= $3::timestamptz and created_at < $4::timestamptz order by created_at, id`;
  return countUpTo(db, from, [integration.id, input.id, start, end]);
}

/** Counts the entries of the audit log. */
export const countAuditEntries = (
  { db, integration }: DomainContext,
  { scope }: ListAuditEntriesInput,
): Promise<Total> =>
  scope === 'Staff'
    ? countUpTo(db, 'audit_entries where $1::text is not null and integration_id is null', [integration.id])
    : countUpTo(db, 'audit_entries where integration_id = $1', [integration.id]);
