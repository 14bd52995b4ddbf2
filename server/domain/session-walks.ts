import type { ListSessionsInput } from '../../contract/sessions';
import { selectColumns } from '../../db/recordset';
import { sessions } from '../../db/schema';
import type { DomainContext } from './context';
import { findRiskRange } from './risk';

// A page of sessions is a range of an index, read backwards from the end of the previous page. One filter chooses the index.
// The others skip entries of it, but skipped entries have been read too, and a page reads only a limited number.

/** The most index entries that a page examines. If it reaches this limit, it ends with fewer rows. */
export const MAX_EXAMINED = 20_000;

export type SessionFilters = Omit<ListSessionsInput, 'cursor' | 'pageSize'>;

/** The shown columns of the sessions table. A page reads no others. */
const SHOWN = [
  ...(['id', 'createdAt', 'updatedAt', 'status', 'botScore', 'effectiveBin', 'detectionFlags', 'pageUrl'] as const),
  ...(['userAgentSummary', 'userId', 'courseId', 'fingerprint', 'deviceType', 'browser', 'origin', 'country'] as const),
  ...(['correlationConfidence', 'label', 'labelConfidence', 'labelNotes', 'labeledAt'] as const),
] as const;

/** The shown columns of a session and of its correlated user. */
export type ShownSession = Pick<typeof sessions.$inferSelect, (typeof SHOWN)[number]> & {
  userName: string | null;
  userUrl: string | null;
};

/** Selects the shown columns of a session `s` and a user `u`. */
export const SHOWN_COLUMNS = `${selectColumns(sessions, 's', SHOWN)}, u.name as "userName", u.url as "userUrl"`;

/** A session that a walk returns. */
export type ListedSession = ShownSession & {
  /** Whether it passes the filters. The last examined session is returned even if it does not. */
  isMatch: boolean;
  /** How many sessions have been examined, including this one. */
  examined: number;
};

/** Each filter: its parameter, which is null if the filter is not given, and its condition on a session `s`. */
const FILTERS = [
  { name: 'userId', type: 'text', test: (value: string) => `s.user_id = ${value}` },
  { name: 'fingerprint', type: 'text', test: (value: string) => `s.fingerprint = ${value}` },
  { name: 'courseId', type: 'text', test: (value: string) => `s.course_id = ${value}` },
  { name: 'origin', type: 'text', test: (value: string) => `s.origin = ${value}` },
  { name: 'label', type: 'smallint', test: (value: string) => `coalesce(s.label, 0) = ${value}` },
  { name: 'detectionFlag', type: 'text', test: (value: string) => `${value} = any (s.detection_flags)` },
  { name: 'status', type: 'text', test: (value: string) => `s.status = ${value}` },
  { name: 'deviceType', type: 'text', test: (value: string) => `s.device_type = ${value}` },
  { name: 'minBotScore', type: 'float8', test: (value: string) => `s.bot_score >= ${value}` },
  { name: 'maxBotScore', type: 'float8', test: (value: string) => `s.bot_score <= ${value}` },
  { name: 'fromBin', type: 'smallint', test: (value: string) => `s.effective_bin >= ${value}` },
  { name: 'belowBin', type: 'smallint', test: (value: string) => `s.effective_bin < ${value}` },
] as const;
type FilterName = (typeof FILTERS)[number]['name'];

/** The parameters before those of the filters are: integration, end (time, id), start (time), budget, rows. */
const FIRST_PARAMETER = 7;
const parameterOf = (name: FilterName) => {
  const index = FILTERS.findIndex((filter) => filter.name === name);
  return `$${FIRST_PARAMETER + index}::${FILTERS[index]!.type}`;
};

/**
 * A value instead of a condition. The planner would multiply the selectivities of so many conditions and expect almost no
 * rows.
 */
const IS_MATCH = `coalesce(${FILTERS.map(({ name, test }) => {
  const value = parameterOf(name);
  return `(${value} is null or ${test(value)})`;
}).join(' and ')}, false)`;

/** An index to walk along. */
interface WalkedIndex {
  isOldestFirst?: boolean;
  /** The source of the sessions `s`, one for each entry of the index. */
  from: string;
  /** The columns of the index: first the integration, then (`key`) the filter's column, time and id. */
  integration: string;
  key: string[];
  /** The filter that the index serves. */
  filter?: FilterName;
  /** The condition of a partial index. */
  condition?: string;
}

/**
 * Composes the statement of a page.
 *
 * Its plan must not depend on statistics, which know nothing about a new tenant. So the columns before the time are compared
 * as parts of a row instead of by equality, because then only this index has the requested order. And the planner sees
 * subqueries instead of values. For any values, it assumes a tenant with 1/200 of the table (set in the migration), a ninth of
 * its sessions between the bounds, a tenth of these within the budget and a tenth of the rest on the page. With these
 * assumptions, a plan that must read everything before its first row is by far the more expensive one.
 */
function composeWalk(index: WalkedIndex): string {
  const { key } = index;
  const places = key.map((_, at) => `place${at}`);
  const examined = `(row_number() over (order by ${inOrder(index, key)}))::int as examined`;
  return `
  select ${SHOWN_COLUMNS}, s.examined, ${IS_MATCH} as "isMatch"
    from (${composeRange(index, `s.*, ${key.map((column, at) => `${column} as ${places[at]}`).join(', ')}, ${examined}`)}) s
    ${JOIN_USER}
   where ${IS_MATCH} or s.examined = $5::int
   order by ${inOrder(index, places)} limit (select $6::int)`;
}

const inOrder = ({ isOldestFirst }: WalkedIndex, names: string[]) =>
  names.map((name) => `${name} ${isOldestFirst ? 'asc' : 'desc'}`).join(', ');

const JOIN_USER = `left join lateral (
      select name, url from users u where u.integration_id = s.integration_id and u.id = s.user_id limit 1) u on true`;

/** Composes the part of an index that a page examines: after the position ($2, $3), up to the other end ($4). */
function composeRange(index: WalkedIndex, columns: string): string {
  const { from, integration, key, filter, condition = 'true', isOldestFirst } = index;
  const rowOf = (at: string, id: string) => {
    const values = [...(filter ? [parameterOf(filter)] : []), at, id];
    return `(${values.map((value) => `(select ${value})`).join(', ')})`;
  };
  const far = rowOf('$4::timestamptz', `''`);
  const near = rowOf('$2::timestamptz', '$3::text');
  return `select ${columns}
            from ${from}
           where ${integration} = (select $1::text) and ${condition}
             and (${key.join(', ')}) ${isOldestFirst ? '<' : '>='} ${far}
             and (${key.join(', ')}) ${isOldestFirst ? '>' : '<'} ${near}
           order by ${inOrder(index, key)} limit (select $5::int)`;
}

/**
 * A page by score examines fewer sessions, because it must read each of them: those of a flag or an origin are all over the table.
 */
export const MAX_SORTED = 5_000;

/** The position by score: score, time and id. They follow the parameters of the filters. */
const [TOP_SCORE, TOP_AT, TOP_ID] = [0, 1, 2].map((n) => FIRST_PARAMETER + FILTERS.length + n);

/**
 * Composes the statement of a page by score. There is no index for it (decisions: Lists): it sorts those of the newest sessions
 * that pass.
 */
const composeTop = (index: WalkedIndex): string => `
  select ${SHOWN_COLUMNS}, 0 as examined, true as "isMatch"
    from (select s.* from (${composeRange(index, 's.*')}) s
           where ${IS_MATCH}
             and (s.bot_score, s.created_at, s.id) < ($${TOP_SCORE}::float8, $${TOP_AT}::timestamptz, $${TOP_ID}::text)
           order by s.bot_score desc, s.created_at desc, s.id desc limit (select $6::int)) s
    ${JOIN_USER}
   order by s.bot_score desc, s.created_at desc, s.id desc`;

const OF_SESSION = 's.integration_id';
const indexOn = (filter: FilterName, column: string, condition = 'true'): WalkedIndex => ({
  ...{ from: 'sessions s', integration: OF_SESSION, key: [`s.${column}`, 's.created_at', 's.id'] },
  ...{ filter, condition },
});

/**
 * The indexes by the filter that they serve. The first given filter of this list is used. The filters are sorted from few
 * sessions per value to many. The last index serves all lists.
 */
const INDEXES: WalkedIndex[] = [
  indexOn('userId', 'user_id'),
  indexOn('fingerprint', 'fingerprint'),
  indexOn('label', 'label', 's.label is not null'),
  indexOn('courseId', 'course_id'),
  {
    from: `session_flags f cross join lateral (
              select * from sessions s where s.integration_id = f.integration_id and s.id = f.session_id limit 1) s`,
    integration: 'f.integration_id',
    key: ['f.flag', 'f.created_at', 'f.session_id'],
    filter: 'detectionFlag',
  },
  indexOn('origin', 'origin'),
  { from: 'sessions s', integration: OF_SESSION, key: ['s.created_at', 's.id'] },
];

const composeAll = (compose: (index: WalkedIndex) => string) =>
  INDEXES.map((index) => ({ filter: index.filter, statement: compose(index) }));
const NEWEST_FIRST = composeAll(composeWalk);
const OLDEST_FIRST = composeAll((index) => composeWalk({ ...index, isOldestFirst: true }));
const BY_SCORE = composeAll(composeTop);

const LABELS = { bot: 1, human: -1, none: 0 };

/** Up to a page of 50, and the row behind it, is read in a millisecond. What reads more, as an export does, is no look-up. */
const SHORT_ROWS = 51;

/** A part of a walk: at most `rows` sessions after a position (null: from the newest on), with at most `budget` examined. */
export interface Stretch {
  after: readonly [createdAt: string, id: string] | null;
  rows: number;
  budget: number;
}

/**
 * Reads the sessions of a stretch that pass the filters, newest first or oldest first. If the budget ends the stretch, the last
 * examined session is the last row, even if it does not pass.
 */
export async function walkSessions(
  context: DomainContext,
  filters: SessionFilters,
  { after, rows, budget }: Stretch,
  isOldestFirst = false,
): Promise<ListedSession[]> {
  const { startDate, endDate } = filters;
  const [start, end] = [startDate?.at ?? '-infinity', endDate?.at ?? 'infinity'];
  const [first, far] = isOldestFirst ? [start, end] : [end, start];
  const [nearAt, nearId] = after ?? [first, ''];
  const { statement, values, isServed } = choose(isOldestFirst ? OLDEST_FIRST : NEWEST_FIRST, context, filters);
  const read = isServed && rows <= SHORT_ROWS ? context.db.lookUp : context.db.query;
  return read<ListedSession>(statement, [...[context.integration.id, nearAt, nearId, far, budget, rows], ...values]);
}

/** The place of a session in the order of scores. */
export type ScorePosition = readonly [botScore: number, createdAt: string, id: string];

/**
 * Reads the sessions with the highest scores among the newest MAX_SORTED of the index that serves the filters, after a
 * position. Sessions without a score are left out.
 */
export async function readTopSessions(
  context: DomainContext,
  filters: SessionFilters,
  after: ScorePosition | null,
  rows: number,
): Promise<ShownSession[]> {
  const { startDate, endDate } = filters;
  const { statement, values } = choose(BY_SCORE, context, filters);
  return context.db.query<ShownSession>(statement, [
    ...[context.integration.id, endDate?.at ?? 'infinity', '', startDate?.at ?? '-infinity', MAX_SORTED, rows],
    ...values,
    ...(after ?? ['infinity', 'infinity', '']),
  ]);
}

/**
 * Chooses the statement whose index serves the filters, and lists the parameters of all filters. `isServed`: the index serves all of
 * them, so no row is read for nothing.
 */
function choose(
  walks: typeof NEWEST_FIRST,
  { integration }: DomainContext,
  { startDate: _start, endDate: _end, label, riskLevel, ...plain }: SessionFilters,
) {
  const range = riskLevel && findRiskRange(riskLevel, integration);
  const given: Partial<Record<FilterName, string | number | undefined>> = {
    ...plain,
    label: label && LABELS[label],
    fromBin: range?.from,
    belowBin: range?.below,
  };
  // The index of labels does not contain sessions without a label, so it cannot serve that filter.
  const canServe = (filter: FilterName) => given[filter] !== undefined && given[filter] !== LABELS.none;
  const { statement, filter: served } = walks.find(({ filter }) => filter === undefined || canServe(filter))!;
  const values = FILTERS.map(({ name }) => given[name] ?? null);
  const isServed = FILTERS.every(({ name }, index) => name === served || values[index] === null);
  return { statement, values, isServed };
}
