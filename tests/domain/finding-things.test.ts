import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FoundKind } from '../../contract/search';
import { COURSE_SORTS, USER_SORTS } from '../../contract/sort-orders';
import type { DomainContext } from '../../server/domain/context';
import { listSortedCourses, listSortedUsers } from '../../server/domain/directories';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { findEverything } from '../../server/domain/search';
import { listSortedSessions } from '../../server/domain/sessions';
import { countCourses, countSessions, countUsers } from '../../server/domain/totals';
import { createTestDatabase, type TestDatabase } from '../support/database';

// How staff find things: the search of everything, the orders of lists, and how many rows a list has.

const TENANT = 'int_m';
let database: TestDatabase;

const integration = { id: TENANT, plan: 'enterprise', tier: 'enterprise', mediumAt: 40, botAt: 70 } as const;
const contextOf = (id: string): DomainContext => ({
  integration: { ...integration, id },
  // Opened before the first test.
  get db() {
    return database.db;
  },
  cursorKey: Buffer.alloc(32),
});

const context = contextOf(TENANT);

/** Sessions of 60 days, as the pipeline leaves them: a tenth without a user, a tenth without a score, some labelled. */
const LOAD = `
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
      browser, fingerprint, bot_score, score_bin, scored_at, detection_flags, user_id, correlation_confidence, course_id, label, event_count)
  select $1, 'ses-' || lpad((n * 7919 % 1000)::text, 4, '0'), date_trunc('milliseconds', now()) - (n * 7919 % 1001) * interval '86 min',
      case when n % 10 = 7 then 'Active' else 'Scored' end, 'https://lms-1/', 'https://lms-' || n % 3, 'a browser', 'Chrome', 'desktop',
      'Chrome', 'device-' || n % 50, case when n % 10 <> 7 then (n * 31 % 101) / 100.0 end, case when n % 10 <> 7 then n * 31 % 101 end, now(),
      case when n % 4 = 0 then array['webdriver'] else '{}' end, case when n % 10 > 0 then 'lms-' || n * n % 37 end,
      case when n % 10 > 0 then 0.9 end, case when n % 5 > 0 then 'course-' || n % 13 end,
      case n % 25 when 1 then 1 when 2 then -1 end, 1
    from generate_series(1, 1000) n`;
const LOAD_NAMED = [
  `insert into session_flags (integration_id, flag, created_at, session_id)
   select integration_id, unnest(detection_flags), created_at, id from sessions where integration_id = $1`,
  `insert into users (integration_id, id, name, email, described_at)
   select distinct integration_id, user_id, (array['Ada', 'ada', 'Émile', 'Zoë', 'Ben'])[1 + length(user_id) % 5] || ' ' || user_id,
          user_id || '@example.edu', now() from sessions where integration_id = $1 and user_id is not null`,
  `insert into courses (integration_id, id, name, url)
   select distinct integration_id, course_id, 'Course ' || course_id, 'https://lms-1/' from sessions
    where integration_id = $1 and course_id is not null`,
];

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database.db;
  for (const id of [TENANT, 'int_other']) {
    await sql.unsafe(LOAD, [id]);
    for (const statement of LOAD_NAMED) await sql.unsafe(statement, [id]);
  }
  await foldSessionDeltas(database.db);
});
afterAll(() => database.drop());

/** Reads a whole list, page by page. */
async function walk<Row>(
  list: (position: {
    cursor?: string;
    pageSize: number;
  }) => Promise<{ data: Row[]; pagination: { nextCursor?: string } }>,
  pageSize = 7,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await list({ pageSize, ...(cursor ? { cursor } : {}) });
    rows.push(...data);
    if (!pagination.nextCursor) return rows;
    cursor = pagination.nextCursor;
  }
}

describe('the search of everything', () => {
  const find = async (query: string, kind?: FoundKind, of = context) =>
    (await findEverything(of, { query })).flatMap((found) => (!kind || found.kind === kind ? found.id : []));
  const people = contextOf('int_people');
  beforeAll(async () => {
    const { sql } = database.db;
    const users = [
      ['u1', 'Ada Lovelace', 'ada.lovelace@uni.example.edu'],
      ['u2', 'Émile Zola', 'zola@example.fr'],
      ['u3', "Anne-Marie O'Brien", null],
      ['u4', 'Иван Петров', 'petrov@example.ru'],
      ['u5', 'Jose Garcia', 'jg@example.es'],
      ['u6', 'JOSÉ GONZÁLEZ', null],
      ['u%', '100% Bot', null],
    ];
    for (const [id, name, email] of users)
      await sql`insert into users (integration_id, id, name, email, described_at) values ('int_people', ${id!}, ${name!}, ${email!}, now())`;
    await sql`insert into courses (integration_id, id, name, code, url)
              values ('int_people', '9f2c', 'Course MITx+6.00.1x+2026', 'MITx+6.00.1x+2026', 'https://lms/c/1')`;
    await sql`insert into integrations (id, name, plan) values ('int_people', 'People', 'pro')`;
    await sql`insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed)
              values ('int_people', 'whk_1', 'https://hooks.example.com/bots', 'BotDetected', 'Für den Prüfungsausschuss', true, '')`;
    // Found by the same words, but deleted.
    await sql`insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
              values ('int_people', 'whk_2', 'https://hooks.example.com/bots', 'BotDetected', 'Prüfungsausschuss', false, '', now())`;
    await sql`
      insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                               severity, message, cool_down_minutes, enabled, deleted_at)
      select 'int_people', id, 'Nights', 'botSessions', 'integration', '', 5, 'gte', 1, 1, 'low', '', 5, false, deleted_at
        from (values ('rul_1', null), ('rul_2', now())) r(id, deleted_at)`;
    await sql`insert into alerts (integration_id, id, severity, message, triggered_at) values ('int_people', 'alt_1', 'high', 'Many', now())`;
    await sql`insert into reports (integration_id, id, name, template_id, format, completed_at, download_url)
              values ('int_people', 'rep_1', 'Evidence of März', 't', 'csv', now(), '/x')`;
  });

  it.each([
    ['ada', ['u1']],
    ['LOVE', ['u1']],
    ['lovelace ada', ['u1']],
    ['ada.lovelace@uni', ['u1']],
    ['emile', ['u2']],
    ['ÉMILE z', ['u2']],
    ['marie', ['u3']],
    ["o'brien", ['u3']],
    ['иван', ['u4']],
    ['петр', ['u4']],
    ['jose', ['u5', 'u6']],
    ['José Gon', ['u6']],
    ['u5', ['u5']],
    ['u%', ['u%', 'u1']],
    ['100%', ['u%']],
    ['ada garcia', []],
    ['vela', []],
  ])('finds users by how words of their name or email begin: %s', async (query, ids) => {
    expect((await find(query, 'user', people)).sort()).toEqual([...ids].sort());
  });

  it.each([
    ['mitx', 'course', '9f2c'],
    ['course mit 2026', 'course', '9f2c'],
    ['9f', 'course', '9f2c'],
    ['prufungs', 'webhook', 'whk_1'],
    ['hooks.example', 'webhook', 'whk_1'],
    ['whk_', 'webhook', 'whk_1'],
    ['night', 'alertRule', 'rul_1'],
    ['rul_', 'alertRule', 'rul_1'],
    ['alt_', 'alert', 'alt_1'],
    ['marz', 'report', 'rep_1'],
    ['rep_1', 'report', 'rep_1'],
  ] as const)('finds %s: the %s %s', async (query, kind, id) => {
    expect(await find(query, kind, people)).toEqual([id]);
  });

  it('finds sessions and devices by how their ids begin, at most five of a kind', async () => {
    expect(await find('ses-0', 'session')).toEqual(['ses-0000', 'ses-0001', 'ses-0002', 'ses-0003', 'ses-0004']);
    expect(await find('ses-0123')).toEqual(['ses-0123']);
    expect(await find('device-4', 'device')).toEqual(['device-4', 'device-40', 'device-41', 'device-42', 'device-43']);
    expect(await find('lms', 'user')).toHaveLength(5);
    expect(await find('SES-0')).toEqual([]);
  });

  it('finds nothing of others, and nothing for white space', async () => {
    expect(await find('ada', undefined, contextOf('int_nobody'))).toEqual([]);
    expect(await find('ses-0123', undefined, people)).toEqual([]);
    expect(await find('  ', undefined)).toEqual([]);
  });

  it('follows a user who gets another name, and forgets the old one', async () => {
    const { sql } = database.db;
    await sql`update users set name = 'Grace Hopper', email = null where integration_id = 'int_people' and id = 'u1'`;
    expect(await find('grace', 'user', people)).toEqual(['u1']);
    expect(await find('lovelace', 'user', people)).toEqual([]);
    await sql`update users set name = 'Ada Lovelace' where integration_id = 'int_people' and id = 'u1'`;
  });

  it('finds a person by a rare word next to a word that everybody has', async () => {
    const { sql } = database.db;
    await sql`insert into users (integration_id, id, name, email, described_at)
              select 'int_many', 'm' || n, case n when 5500 then 'Xenia Common' else 'Common' end, n || '@common.example', now()
                from generate_series(1, 6000) n`;
    const many = contextOf('int_many');
    expect(await find('common xen', 'user', many)).toEqual(['m5500']);
    expect(await find('xen com', 'user', many)).toEqual(['m5500']);
    expect(await find('common', 'user', many)).toHaveLength(5);
    expect(await find('common example', 'user', many)).toHaveLength(5);
  });
});

describe('the orders of users and courses', () => {
  const KEYS = {
    id: ({ id }: { id: string }) => id,
    name: ({ name }: { name: string }) => name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase(),
    lastSeen: ({ lastSeenAt }: { lastSeenAt: string }) => lastSeenAt,
    sessions: ({ sessionCount }: { sessionCount: number }) => sessionCount,
    highestScore: ({ maxBotScore }: { maxBotScore?: number | null }) => maxBotScore ?? -1,
  };
  type Row = { id: string; name: string; lastSeenAt: string; sessionCount: number; maxBotScore?: number | null };
  function sortRows(rows: Row[], sort: keyof typeof KEYS) {
    const key = KEYS[sort] as (row: Row) => string | number;
    const sign = sort === 'id' || sort === 'name' ? 1 : -1;
    const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
    return [...rows].sort((a, b) => sign * (compare(key(a), key(b)) || compare(a.id, b.id)));
  }

  it.each(USER_SORTS)('users by %s: all of them, once, in order', async (sort) => {
    const all = await walk((position) => listSortedUsers(context, { sort: 'id', ...position }));
    expect(all.length).toBeGreaterThan(15);
    expect(await walk((position) => listSortedUsers(context, { sort, ...position }))).toEqual(sortRows(all, sort));
  });

  it.each(COURSE_SORTS)('courses by %s: all of them, once, in order', async (sort) => {
    const all = await walk((position) => listSortedCourses(context, { sort: 'id', ...position }));
    expect(all.length).toBeGreaterThan(9);
    expect(await walk((position) => listSortedCourses(context, { sort, ...position }))).toEqual(sortRows(all, sort));
  });

  it('follow the sessions with the next fold, also when a session goes from one user to another', async () => {
    const { sql } = database.db;
    await sql.unsafe(LOAD, ['int_moved']);
    for (const statement of LOAD_NAMED) await sql.unsafe(statement, ['int_moved']);
    await foldSessionDeltas(database.db);
    const moved = contextOf('int_moved');
    await sql`update sessions set user_id = 'lms-1', bot_score = 1, score_bin = 100, created_at = created_at + interval '1 minute'
               where integration_id = 'int_moved' and user_id in ('lms-0', 'lms-4')`;
    await sql`insert into pruned_ends (integration_id, kind, value, first_seen_at, last_seen_at, max_bot_score)
              values ('int_moved', 'user', 'lms-9', now() - interval '2 years', now() + interval '1 minute', 1)`;
    await sql`update sessions set event_count = 2, user_id = user_id where integration_id = 'int_moved' and user_id = 'lms-9'`;
    await foldSessionDeltas(database.db);
    const all = await walk((position) => listSortedUsers(moved, { sort: 'id', ...position }));
    expect(all.some(({ id }) => id === 'lms-0')).toBe(false);
    for (const sort of USER_SORTS)
      expect(await walk((position) => listSortedUsers(moved, { sort, ...position }))).toEqual(sortRows(all, sort));
    const [first] = await walk((position) => listSortedUsers(moved, { sort: 'lastSeen', ...position }));
    expect(first!.id).toBe('lms-9');
  });
});

describe('the orders of sessions', () => {
  const FILTERS = [
    {},
    { userId: 'lms-1' },
    { courseId: 'course-3', riskLevel: 'bot' as const },
    { detectionFlag: 'webdriver' },
    { label: 'bot' as const },
    { origin: 'https://lms-1', status: 'Scored' as const },
  ];
  it.each(FILTERS)('%j: oldest first is newest first turned around; by score has those with one', async (filters) => {
    const newest = await walk(
      (position) => listSortedSessions(context, { sort: 'newest', ...filters, ...position }),
      60,
    );
    expect(newest.length).toBeGreaterThan(10);
    const oldest = await walk(
      (position) => listSortedSessions(context, { sort: 'oldest', ...filters, ...position }),
      60,
    );
    expect(oldest).toEqual([...newest].reverse());
    const top = await walk(
      (position) => listSortedSessions(context, { sort: 'highestScore', ...filters, ...position }),
      60,
    );
    const scored = newest.filter(({ botScore }) => botScore !== null);
    // Sorting keeps the order of equal scores.
    expect(top).toEqual(scored.sort((a, b) => b.botScore! - a.botScore!));
  });

  it('dates limit both directions in the same way', async () => {
    const at = (minutes: number) => ({ at: new Date(Date.now() - minutes * 60_000).toISOString(), isWholeDay: false });
    const range = { startDate: at(40_000), endDate: at(20_000) };
    const [newest, oldest] = await Promise.all(
      (['newest', 'oldest'] as const).map((sort) =>
        walk((position) => listSortedSessions(context, { sort, ...range, ...position }), 60),
      ),
    );
    expect(newest!.length).toBeGreaterThan(100);
    expect(oldest).toEqual([...newest!].reverse());
  });
});

describe('how many rows a list has', () => {
  const day = (ago: number) => ({
    at: `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00:00.000Z`,
    isWholeDay: true,
  });
  const COUNTED = [
    {},
    { riskLevel: 'bot' },
    { riskLevel: 'medium' },
    { riskLevel: 'human' },
    { label: 'bot' },
    { label: 'human' },
    { label: 'none' },
    { status: 'Active' },
    { userId: 'lms-1' },
    { userId: 'lms-1', riskLevel: 'human' },
    { userId: 'nobody' },
    { courseId: 'course-3' },
    { courseId: 'course-3', riskLevel: 'bot' },
    { origin: 'https://lms-1' },
    { fingerprint: 'device-7' },
    { detectionFlag: 'webdriver' },
    { startDate: day(10) },
    { startDate: day(20), endDate: day(10), riskLevel: 'bot' },
    { startDate: day(30), origin: 'https://lms-1' },
    { startDate: day(30), label: 'bot' },
  ];
  const count = async (filters: object, of = context) =>
    (await walk((position) => listSortedSessions(of, { sort: 'newest', ...filters, ...position }), 100)).length;

  it.each(COUNTED)('%j: as many as its list, folded or not', async (filters) => {
    const counted = () => countSessions(context, { ...(filters as object), pageSize: 50 });
    expect(await counted()).toEqual({ count: await count(filters), isExact: true });
    const { sql } = database.db;
    await sql`update sessions set label = 1, bot_score = 0.99, score_bin = 99 where integration_id = ${TENANT} and id like 'ses-00%'`;
    expect(await counted()).toEqual({ count: await count(filters), isExact: true });
  });

  it.each([
    { deviceType: 'desktop' },
    { status: 'Scored' },
    { minBotScore: 0.5 },
    { origin: 'https://lms-1', label: 'bot' },
    { riskLevel: 'bot', label: 'none' },
  ] as const)('%j is not counted, because its list would have to be read', async (filters) => {
    expect(await countSessions(context, { ...filters, pageSize: 50 })).toBeNull();
  });

  it('is exact up to a thousand of an index, and at least a thousand from there on', async () => {
    const { sql } = database.db;
    for (const origin of ['https://a', 'https://b'])
      await sql`
        insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
        select 'int_count', ${origin} || n, now(), 'Active', ${origin}, ${origin}, '', '', 'desktop', 'Chrome'
          from generate_series(1, ${origin === 'https://a' ? 1000 : 1001}) n`;
    const of = contextOf('int_count');
    const counted = (origin: string) => countSessions(of, { origin, pageSize: 50 });
    expect(await counted('https://a')).toEqual({ count: 1000, isExact: true });
    expect(await counted('https://b')).toEqual({ count: 1000, isExact: false });
  });

  it('does not count sessions that retention has removed', async () => {
    const { sql } = database.db;
    await sql.unsafe(LOAD, ['int_pruned']);
    await sql`delete from sessions where integration_id = 'int_pruned' and created_at < now() - interval '15 days'`;
    await sql`insert into pruned_ends (integration_id, kind, value, first_seen_at, last_seen_at)
              select 'int_pruned', kind, value, now() - interval '60 days', now() - interval '15 days'
                from (values ('all', ''), ('user', 'lms-1')) p(kind, value)`;
    const of = contextOf('int_pruned');
    for (const filters of [
      {},
      { label: 'bot' },
      { userId: 'lms-1' },
      { startDate: day(20) },
      { startDate: day(10) },
    ] as const)
      expect([filters, await countSessions(of, { ...filters, pageSize: 50 })]).toEqual([
        filters,
        { count: await count(filters, of), isExact: true },
      ]);
    expect(await countSessions(of, { riskLevel: 'bot', pageSize: 50 })).toBeNull();
  });

  it('users and courses: as many as their lists', async () => {
    const users = await walk((position) => listSortedUsers(context, { sort: 'id', ...position }));
    expect(await countUsers(context)).toEqual({ count: users.length, isExact: true });
    const courses = await walk((position) => listSortedCourses(context, { sort: 'id', ...position }));
    expect(await countCourses(context)).toEqual({ count: courses.length, isExact: true });
  });
});
