import type { Course, ListCoursesInput } from '../../contract/courses';
import { ApiError } from '../../contract/errors';
import type { Page } from '../../contract/pagination';
import type { CourseSort, UserSort } from '../../contract/sort-orders';
import type { ListSortedCoursesInput, ListSortedUsersInput } from '../../contract/sorting';
import type { ListUsersInput, User } from '../../contract/users';
import type { DomainContext } from './context';
import { type PageInput, readPage } from './pages';
import { classifyRisk } from './risk';
import { countOthers, ENTITIES, ENTITY_COLUMNS, ENTITY_DELTAS } from './rollups';

// Users and courses, listed by id, with counts of their sessions. The counts come from the folded counts and the changes that
// are not folded yet (docs/counts.md). Of the sessions themselves, only the first and last entries of an index are read.

/** A page looks at so many users or courses. Those whose sessions have all gone to others are not shown, and may be many in a row. */
const MAX_EXAMINED = 1_000;

const nextRows = (table: 'users' | 'courses') => `
  select * from ${table} where integration_id = $1 and id > $2 order by id limit ${MAX_EXAMINED}`;
const oneRow = (table: 'users' | 'courses') => `select * from ${table} where integration_id = $1 and id = $2`;

/** Lists the changes of one user or course that are not folded yet. */
const listChanges = (row: string) =>
  `unnest(${row}.others, ${row}.signs, ${row}.bins, ${row}.scores, ${row}.confidences) own(other, sign, bin, score_micros, confidence_micros)`;

/** Adds up the counts by bin of one user or course. */
const countEntity = (kind: 'user' | 'course', row: string) => `
      select sum(sessions)::int as "sessionCount",
             coalesce(sum(sessions) filter (where bin >= $4), 0)::int as "botSessionCount",
             sum(score_micros)::float8 / nullif(sum(scored), 0)::float8 / 1e6 as "averageBotScore",
             sum(confidence_micros)::float8 / nullif(sum(sessions), 0)::float8 / 1e6 as "correlationConfidence",
             max(nullif(bin, -2)) as "maxEffectiveBin"
        from (select bin, sum(sessions) as sessions, sum(scored) as scored, sum(score_micros) as score_micros,
                     sum(confidence_micros) as confidence_micros
                from (select bin, ${ENTITY_COLUMNS} from entity_rollups e
                       where e.integration_id = ${row}.integration_id and e.kind = '${kind}' and e.value = ${row}.id
                       union all
                      select bin, ${ENTITY_DELTAS} from ${listChanges(row)}) c
               group by bin having sum(sessions) > 0) bins
      having sum(sessions) > 0`;

/**
 * Reads the end of a column over the sessions of a row, including those that retention has removed. While a user is erased, their
 * sessions get their pseudonym one after the other, so those under both ids count.
 */
const readEnd = (kind: 'user' | 'course', row: string, pick: 'min' | 'max', column: string, pruned: string) => {
  const end = (id: string) =>
    `(select ${pick}(${column}) from sessions t where t.integration_id = ${row}.integration_id and t.${kind}_id = ${id})`;
  const ends = [end(`${row}.id`), `p.${pruned}`, ...(kind === 'user' ? [end('erasing.user_id')] : [])];
  return `${pick === 'min' ? 'least' : 'greatest'}(${ends})`;
};
const readEnds = (kind: 'user' | 'course', row: string) =>
  `${readEnd(kind, row, 'min', 'created_at', 'first_seen_at')} as "firstSeenAt",
         ${readEnd(kind, row, 'max', 'created_at', 'last_seen_at')} as "lastSeenAt"`;
const joinEnds = (kind: 'user' | 'course', row: string) => `
    left join pruned_ends p on p.integration_id = ${row}.integration_id and p.kind = '${kind}' and p.value = ${row}.id
    ${kind === 'user' ? `left join erasing on erasing.pseudonym = ${row}.id` : ''}`;

/**
 * Collects the changes that are not folded yet, in one row for each user or course. There can be tens of thousands: a page that read
 * all of them for each of its rows took seconds.
 */
const collectChanges = (kind: 'user' | 'course') => `
  with changes as materialized (
    select value, array_agg(other) as others, array_agg(sign) as signs, array_agg(bin) as bins,
           array_agg(score_micros) as scores, array_agg(confidence_micros) as confidences
      from session_deltas ${ENTITIES} where integration_id = $1 and kind = '${kind}' and value is not null group by value),
  erasing as materialized (
    select pseudonym, user_id from user_erasures where integration_id = $1 and user_id is not null and are_counts_moved)`;
/**
 * Joins rows with their changes. The offset has the planner join first: otherwise it would count all rows before it takes the first
 * ones, or look through the changes for each row.
 */
const joinChanges = (rows: string, order = '') => `
  select r.*, c.others, c.signs, c.bins, c.scores, c.confidences
    from (${rows}) r left join changes c on c.value = r.id ${order} offset 0`;

/** Lists the users that sessions are correlated with, by id (specification: GET /v1/users). */
export async function listUsers(context: DomainContext, input: ListUsersInput): Promise<Page<User>> {
  return listById(context, 'users', LIST_USERS, input, (row: UserRow) => showUser(context, row));
}

/** Finds one user in the form of the list. NOT_FOUND for an unknown id, or for a user without sessions. */
export async function getUser(context: DomainContext, { userId }: { userId: string }): Promise<User> {
  const { integration } = context;
  const [row] = await context.db.query<UserRow>(READ_USER, [integration.id, userId, 1, integration.botAt]);
  if (!row) throw new ApiError('NOT_FOUND', 'User not found');
  return showUser(context, row);
}

type UserRow = Omit<User, 'riskLevel'> & { maxEffectiveBin: number | null };

const showUser = ({ integration }: DomainContext, { maxEffectiveBin, ...user }: UserRow): User => ({
  riskLevel: classifyRisk(maxEffectiveBin, integration),
  ...user,
});

const SHOWN_OF_USER = `u.id, u.name, u.email, u.url, s.*, ${countOthers('user', 'u.integration_id', 'u.id', listChanges('u'))} as "deviceCount",
         ${readEnd('user', 'u', 'max', 'bot_score', 'max_bot_score')} as "maxBotScore",
         ${readEnds('user', 'u')},
         (select count(*)::int from device_confirmations c
           where c.integration_id = u.integration_id and c.user_id = u.id) as "confirmedDeviceCount",
         (select count(*)::int from anomalies a
           where a.integration_id = u.integration_id and a.user_id in (u.id, erasing.user_id)) as "anomalyCount"`;
const selectUsers = (rows: string) => `
  ${collectChanges('user')}
  select ${SHOWN_OF_USER}
    from (${joinChanges(rows, 'order by r.id')}) u cross join lateral (${countEntity('user', 'u')}) s
    ${joinEnds('user', 'u')}
   order by u.id limit $3`;
const LIST_USERS = composePage('users', selectUsers(nextRows('users')));
const READ_USER = selectUsers(oneRow('users'));

/** Lists the courses that sessions took place in, by id (specification: GET /v1/courses). */
export async function listCourses(context: DomainContext, input: ListCoursesInput): Promise<Page<Course>> {
  return listById(context, 'courses', LIST_COURSES, input, (course: Course) => course);
}

/** Finds one course in the form of the list. NOT_FOUND for an unknown id. */
export async function getCourse(context: DomainContext, { courseId }: { courseId: string }): Promise<Course> {
  const { integration } = context;
  const [course] = await context.db.query<Course>(READ_COURSE, [integration.id, courseId, 1, integration.botAt]);
  if (!course) throw new ApiError('NOT_FOUND', 'Course not found');
  return course;
}

const SHOWN_OF_COURSE = `course.id, course.name, course.code, course.url, s."sessionCount", s."botSessionCount", s."averageBotScore",
         ${countOthers('course', 'course.integration_id', 'course.id', listChanges('course'))} as "userCount",
         ${readEnds('course', 'course')}`;
const selectCourses = (rows: string) => `
  ${collectChanges('course')}
  select ${SHOWN_OF_COURSE}
    from (${joinChanges(rows, 'order by r.id')}) course cross join lateral (${countEntity('course', 'course')}) s
    ${joinEnds('course', 'course')}
   order by course.id limit $3`;
const LIST_COURSES = composePage('courses', selectCourses(nextRows('courses')));
const READ_COURSE = selectCourses(oneRow('courses'));

/**
 * An order of users or courses: `rows` selects the next ones with what they are sorted by, along an index. `first` is the position
 * before all of them. The parameters are: integration, what the last row is sorted by, limit, botAt, last id.
 */
interface Order {
  rows: string;
  first: string | number;
}

/**
 * By name: along the index of names. The names of different people may be equal. The key keeps the collation of the index:
 * with that of the database, the last row of a page would differ, and the next page would skip rows.
 */
const byName = (table: 'users' | 'courses'): Order => ({
  rows: `select *, sort_name(name) collate "C" as "sortKey" from ${table}
          where integration_id = $1 and (sort_name(name) collate "C", id) > ($2::text, $5)
          order by sort_name(name) collate "C", id limit $3`,
  first: '',
});

/**
 * By a total, the largest first. Totals are as fresh as the latest fold (docs/counts.md). The limit has the planner look up each row by its
 * key: without it, it may read the whole table.
 */
const byTotal = (kind: 'user' | 'course', total: string, type: string, first: string | number): Order => ({
  rows: `select r.*, t.${total} as "sortKey"
           from (select * from entity_totals
                  where integration_id = $1 and kind = '${kind}' and sessions > 0 and (${total}, value) < ($2::${type}, $5)
                  order by ${total} desc, value desc limit $3) t
          cross join lateral (
                select * from ${kind}s r where r.integration_id = t.integration_id and r.id = t.value limit 1) r`,
  first,
});

const ordersOf = (kind: 'user' | 'course') => ({
  name: byName(`${kind}s`),
  lastSeen: byTotal(kind, 'last_seen_at', 'timestamptz', 'infinity'),
  sessions: byTotal(kind, 'sessions', 'bigint', Number.MAX_SAFE_INTEGER),
});

/**
 * The rows of the order, with what is shown of each. A row whose sessions have all gone to others has null counts. The key is read as
 * text: while a user is erased, a fold may find no session with their new id, and such a user was last seen at -infinity.
 */
const composeSorted = (kind: 'user' | 'course', row: string, shown: string, { rows, first }: Order) => {
  const direction = first === '' ? 'asc' : 'desc';
  return {
    first,
    statement: `
  ${collectChanges(kind)}
  select ${shown}, ${row}."sortKey"::text as "sortKey"
    from (${joinChanges(rows)}) ${row} left join lateral (${countEntity(kind, row)}) s on true
    ${joinEnds(kind, row)}
   order by ${row}."sortKey" ${direction}, ${row}.id ${direction}`,
  };
};

type Sorted = ReturnType<typeof composeSorted>;
const composeEach = <Sort extends string>(orders: Record<Sort, Order>, compose: (order: Order) => Sorted) =>
  Object.fromEntries(Object.entries<Order>(orders).map(([sort, order]) => [sort, compose(order)])) as Record<
    Sort,
    Sorted
  >;

const SORTED_USERS: Record<Exclude<UserSort, 'id'>, Sorted> = composeEach(
  { ...ordersOf('user'), highestScore: byTotal('user', 'max_bot_score', 'float8', 'infinity') },
  (order) => composeSorted('user', 'u', SHOWN_OF_USER, order),
);
const SORTED_COURSES: Record<Exclude<CourseSort, 'id'>, Sorted> = composeEach(ordersOf('course'), (order) =>
  composeSorted('course', 'course', SHOWN_OF_COURSE, order),
);

/** Lists users in an order of staff's choice. */
export function listSortedUsers(context: DomainContext, { sort, ...input }: ListSortedUsersInput): Promise<Page<User>> {
  if (sort === 'id') return listUsers(context, input);
  const show = ({ sortKey: _, ...row }: SortedRow<UserRow>) => showUser(context, row);
  return listSorted(context, `users by ${sort}`, SORTED_USERS[sort], input, show);
}

/** Lists courses in an order of staff's choice. */
export function listSortedCourses(
  context: DomainContext,
  { sort, ...input }: ListSortedCoursesInput,
): Promise<Page<Course>> {
  if (sort === 'id') return listCourses(context, input);
  const show = ({ sortKey: _, ...row }: SortedRow<Course>) => row;
  return listSorted(context, `courses by ${sort}`, SORTED_COURSES[sort], input, show);
}

type SortedRow<Row> = Row & { id: string; sessionCount: number | null; sortKey: string };

async function listSorted<Row, Item>(
  context: DomainContext,
  route: string,
  { statement, first }: Sorted,
  input: PageInput,
  show: (row: SortedRow<Row>) => Item,
): Promise<Page<Item>> {
  const { id, botAt } = context.integration;
  return readPage(context, { route, filters: {} }, input, {
    async read(after, limit) {
      const [key, lastId] = after ?? [first, ''];
      const found = await context.db.query<SortedRow<Row>>(statement, [id, key!, limit, botAt, lastId!]);
      // A row without sessions is not shown, but the list goes on behind it.
      const rows = found.filter(({ sessionCount }) => sessionCount !== null);
      return { rows, stoppedAt: rows.length < found.length && found.length === limit ? found.at(-1) : undefined };
    },
    locate: (row) => [row.sortKey, row.id],
    show,
  });
}

/**
 * Adds to a short page that did not reach the end where it stopped: the last row that it examined. By the same statement,
 * because users that come in between would move that row. Without rows, there is one of nulls.
 */
function composePage(table: 'users' | 'courses', page: string): string {
  return `
  select p.*, case when count(p.id) over () < $3 then (
           select id from ${table} where integration_id = $1 and id > $2 order by id offset ${MAX_EXAMINED - 1} limit 1) end as "stoppedAt"
    from (select) one left join lateral (${page}) p on true
   order by p.id`;
}

/** Reads a page of a list in the order of ids. The parameters of `statement` are: integration, last id, limit and botAt. */
async function listById<Row extends { id: string }, Item>(
  context: DomainContext,
  route: 'users' | 'courses',
  statement: string,
  input: PageInput,
  show: (row: Row) => Item,
): Promise<Page<Item>> {
  const { integration } = context;
  return readPage(context, { route, filters: {} }, input, {
    async read(after, limit) {
      // The first page begins after the empty string, because every id sorts after it.
      const parameters = [integration.id, String(after?.[0] ?? ''), limit, integration.botAt];
      const found = await context.db.query<Row & { stoppedAt: string | null }>(statement, parameters);
      const stoppedAt = found[0]?.stoppedAt;
      const rows = found.filter(({ id }) => id !== null).map(({ stoppedAt: _, ...row }) => row as unknown as Row);
      return { rows, stoppedAt: stoppedAt ? ({ id: stoppedAt } as Row) : undefined };
    },
    locate: (row) => [row.id],
    show,
  });
}
