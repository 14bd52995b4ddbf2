import type { ListSessionsInput } from '../../contract/sessions';
import { selectColumns } from '../../db/recordset';
import { sessions } from '../../db/schema';
import type { DomainContext } from './context';
import { findRiskRange } from './risk';

// A page of a list of sessions is a stretch of an index, read backwards from where the page before ended. One filter
// chooses the index; what the others leave out of it has been examined all the same, and a page examines only so much.

/** Index entries that a page examines at most; then it ends short. */
export const MAX_EXAMINED = 20_000;

export type SessionFilters = Omit<ListSessionsInput, 'cursor' | 'pageSize'>;

/** What is shown of a session, of its table: a page reads nothing else. */
const SHOWN = [
  ...(['id', 'createdAt', 'updatedAt', 'status', 'botScore', 'effectiveBin', 'detectionFlags', 'pageUrl'] as const),
  ...(['userAgentSummary', 'userId', 'courseId', 'fingerprint', 'deviceType', 'browser', 'origin', 'country'] as const),
  ...(['correlationConfidence', 'label', 'labelConfidence', 'labelNotes', 'labeledAt'] as const),
] as const;

/** A session as it is shown, with the user it is correlated with. */
export type ShownSession = Pick<typeof sessions.$inferSelect, (typeof SHOWN)[number]> & {
  userName: string | null;
  userUrl: string | null;
};

/** Of a session `s` and a user `u`. */
export const SHOWN_COLUMNS = `${selectColumns(sessions, 's', SHOWN)}, u.name as "userName", u.url as "userUrl"`;

/** A session as it stands on a page. */
export type ListedSession = ShownSession & {
  /** Whether it passes the filters; the last one examined comes in any case. */
  isMatch: boolean;
  /** How many have been examined with it. */
  examined: number;
};

/** Each filter as a parameter, null where it is not given, and what it asks of a session `s`. */
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

/** Before those of the filters: integration, end (time, id), start (time), budget, rows. */
const FIRST_PARAMETER = 7;
const parameterOf = (name: FilterName) => {
  const index = FILTERS.findIndex((filter) => filter.name === name);
  return `$${FIRST_PARAMETER + index}::${FILTERS[index]!.type}`;
};

/** As a value and no condition: the planner would take the product of so many for next to nothing. */
const IS_MATCH = `coalesce(${FILTERS.map(({ name, test }) => {
  const value = parameterOf(name);
  return `(${value} is null or ${test(value)})`;
}).join(' and ')}, false)`;

/** A walk along an index. */
interface Trail {
  /** Where the sessions `s` come from, one for each entry of the index. */
  from: string;
  /** The columns of the index: the integration, then the filter's, time and id. */
  integration: string;
  key: string[];
  /** The filter that the index serves. */
  filter?: FilterName;
  /** Of a partial index. */
  condition?: string;
}

/**
 * Composes the statement of a page.
 *
 * Its plan must not hang on statistics, which know nothing of a tenant that has just come. So the columns before the time
 * are compared as parts of a row and not for equality: only this very index has the order that is asked for then. And the
 * planner sees subqueries in place of values: whatever they are, it reckons with a tenant that has 1/200 of the table (set
 * in the migration), a ninth of its sessions between the bounds, a tenth of those within the budget and a tenth of what is
 * left on the page. What has to read all before it answers loses by far.
 */
function composeWalk({ from, integration, key, filter, condition = 'true' }: Trail): string {
  const rowOf = (at: string, id: string) => {
    const values = [...(filter ? [parameterOf(filter)] : []), at, id];
    return `(${values.map((value) => `(select ${value})`).join(', ')})`;
  };
  const backwards = (names: string[]) => names.map((name) => `${name} desc`).join(', ');
  const places = key.map((_, index) => `place${index}`);
  return `
  select ${SHOWN_COLUMNS}, s.examined, ${IS_MATCH} as "isMatch"
    from (select s.*, ${key.map((column, index) => `${column} as ${places[index]}`).join(', ')},
                 (row_number() over (order by ${backwards(key)}))::int as examined
            from ${from}
           where ${integration} = (select $1::text) and ${condition}
             and (${key.join(', ')}) >= ${rowOf('$4::timestamptz', `''`)}
             and (${key.join(', ')}) < ${rowOf('$2::timestamptz', '$3::text')}
           order by ${backwards(key)} limit (select $5::int)) s
    left join lateral (
      select name, url from users u where u.integration_id = s.integration_id and u.id = s.user_id limit 1) u on true
   where ${IS_MATCH} or s.examined = $5::int
   order by ${backwards(places)} limit (select $6::int)`;
}

const OF_SESSION = 's.integration_id';
const composeOwn = (filter: FilterName, column: string, condition = 'true') => ({
  filter,
  statement: composeWalk({
    ...{ from: 'sessions s', integration: OF_SESSION, key: [`s.${column}`, 's.created_at', 's.id'] },
    ...{ filter, condition },
  }),
});

/** By the filter whose index is walked: of those that are given the first, from few sessions to a value to many. */
const WALKS: { filter: FilterName; statement: string }[] = [
  composeOwn('userId', 'user_id'),
  composeOwn('fingerprint', 'fingerprint'),
  composeOwn('label', 'label', 's.label is not null'),
  composeOwn('courseId', 'course_id'),
  {
    filter: 'detectionFlag',
    statement: composeWalk({
      from: `session_flags f cross join lateral (
              select * from sessions s where s.integration_id = f.integration_id and s.id = f.session_id limit 1) s`,
      integration: 'f.integration_id',
      key: ['f.flag', 'f.created_at', 'f.session_id'],
      filter: 'detectionFlag',
    }),
  },
  composeOwn('origin', 'origin'),
];
const WALK_ALL = composeWalk({ from: 'sessions s', integration: OF_SESSION, key: ['s.created_at', 's.id'] });

const LABELS = { bot: 1, human: -1, none: 0 };

/** A stretch of a walk: behind a position (null: from the newest on), so many rows of so many examined. */
export interface Stretch {
  after: readonly [createdAt: string, id: string] | null;
  rows: number;
  budget: number;
}

/**
 * Reads the sessions of a stretch that pass the filters, newest first; where it ends because the budget is spent, the
 * last one examined is the last row, whether it passes or not.
 */
export async function walkSessions(
  { integration, db }: DomainContext,
  { startDate, endDate, label, riskLevel, ...plain }: SessionFilters,
  { after, rows, budget }: Stretch,
): Promise<ListedSession[]> {
  const range = riskLevel && findRiskRange(riskLevel, integration);
  const values: Partial<Record<FilterName, string | number | undefined>> = {
    ...plain,
    label: label && LABELS[label],
    fromBin: range?.from,
    belowBin: range?.below,
  };
  // Most sessions have no label, and the index has none of those.
  const isServed = (filter: FilterName) => values[filter] !== undefined && values[filter] !== LABELS.none;
  const { statement } = WALKS.find(({ filter }) => isServed(filter)) ?? { statement: WALK_ALL };
  const [endAt, endId] = after ?? [endDate?.at ?? 'infinity', ''];
  const bounds = [integration.id, endAt, endId, startDate?.at ?? '-infinity', budget, rows];
  return db.query<ListedSession>(statement, [...bounds, ...FILTERS.map(({ name }) => values[name] ?? null)]);
}
