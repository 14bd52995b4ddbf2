import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../server/domain/cursors';
import { expectError, fingerprintOf } from '../support/answers';
import { sendRaw } from '../support/connection';
import { closed, scored, secondsAgo, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

type Tenant = { id: string; key: string };
const get = ({ key }: Tenant, path: string) => server.call('GET', path, { key });
const list = (tenant: Tenant, query: Record<string, string> = {}) =>
  get(tenant, `/v1/sessions?${new URLSearchParams(query)}`);

async function ingest(tenant: Tenant, facts: unknown[]) {
  const answer = await server.ingest(tenant.id, facts);
  expect(answer.text).toContain('"accepted"');
}
async function listIds(tenant: Tenant, query: Record<string, string> = {}): Promise<string[]> {
  const { status, body } = await list(tenant, query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.map((session: { id: string }) => session.id);
}

describe('a session', () => {
  it('has every field, with the values of its facts', async () => {
    const tenant = await server.createTenant();
    const startedAt = secondsAgo(60);
    const facts = [
      started('s-1', {
        startedAt,
        pageUrl: 'https://lms.example.edu:8443/courses/42/quizzes/1?x=1#y',
        deviceFingerprint: 'fp-1',
        country: 'DE',
      }),
      closed('s-1'),
      scored('s-1', 0.93, { detectionFlags: ['webdriver', 'no-scroll'] }),
    ];
    await ingest(tenant, facts);
    const { status, body } = await get(tenant, '/v1/sessions/s-1');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        id: 's-1',
        createdAt: startedAt,
        updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        status: 'Scored',
        botScore: 0.93,
        detectionFlags: ['webdriver', 'no-scroll'],
        pageUrl: 'https://lms.example.edu:8443/courses/42/quizzes/1?x=1#y',
        userAgentSummary: 'Chrome 142 on Windows',
        userId: null,
        userName: null,
        userUrl: null,
        riskLevel: 'bot',
        label: null,
        courseId: expect.stringMatching(/^[0-9a-f]{16}$/),
        deviceFingerprint: 'fp-1',
        deviceType: 'desktop',
        browser: 'Chrome',
        origin: 'https://lms.example.edu:8443',
        country: 'DE',
        correlationConfidence: null,
      },
    });
  });

  it('has null for what is not known yet', async () => {
    const tenant = await server.createTenant();
    await ingest(tenant, [started('s-1', { pageUrl: 'https://lms.example.edu/' })]);
    expect((await get(tenant, '/v1/sessions/s-1')).body.data).toMatchObject({
      status: 'Active',
      updatedAt: null,
      botScore: null,
      detectionFlags: [],
      riskLevel: null,
      courseId: null,
      deviceFingerprint: null,
      country: null,
    });
  });

  it('is Active, then Closed, then Scored', async () => {
    const tenant = await server.createTenant();
    const statuses: string[] = [];
    for (const fact of [started('s-1'), closed('s-1'), scored('s-1', 0)]) {
      await ingest(tenant, [fact]);
      statuses.push((await get(tenant, '/v1/sessions/s-1')).body.data.status);
    }
    expect(statuses).toEqual(['Active', 'Closed', 'Scored']);
  });

  it.each([
    [0, 'human'],
    [0.3999, 'human'],
    [0.4, 'medium'],
    [0.6999, 'medium'],
    [0.7, 'bot'],
    [1, 'bot'],
  ])('with the score %d is %s under the default thresholds', async (botScore, riskLevel) => {
    const tenant = await server.createTenant();
    await ingest(tenant, [started('s-1'), closed('s-1'), scored('s-1', botScore)]);
    expect((await get(tenant, '/v1/sessions/s-1')).body.data).toMatchObject({ botScore, riskLevel });
  });

  it('looks the same by id and in the list', async () => {
    const tenant = await server.createTenant();
    await ingest(tenant, [started('s-1'), closed('s-1'), scored('s-1', 0.5)]);
    expect((await list(tenant)).body.data).toEqual([(await get(tenant, '/v1/sessions/s-1')).body.data]);
  });

  it.each([
    'a/b',
    'a%2Fb',
    'a b',
    'a+b',
    'a?b',
    'a#b',
    '%',
    'ä',
    '😀',
    '__proto__',
    '...',
    'x'.repeat(256),
    '😀'.repeat(256),
  ])('is found by the id %s, which is decoded exactly once', async (id) => {
    const tenant = await server.createTenant();
    await ingest(tenant, [started(id)]);
    const { status, body } = await get(tenant, `/v1/sessions/${encodeURIComponent(id)}`);
    expect([status, body.data?.id]).toEqual([200, id]);
  });

  it('that is unknown gets the same 404 as another tenant’s', async () => {
    const [owner, stranger] = [await server.createTenant(), await server.createTenant()];
    const id = randomUUID();
    await ingest(owner, [started(id)]);
    expect((await get(owner, `/v1/sessions/${id}`)).status).toBe(200);
    const foreign = await get(stranger, `/v1/sessions/${id}`);
    const unknown = await get(stranger, `/v1/sessions/${randomUUID()}`);
    expectError(foreign, 'NOT_FOUND');
    expect(fingerprintOf(foreign)).toEqual(fingerprintOf(unknown));
  });

  it('of two tenants with the same id stay apart', async () => {
    const [one, other] = [await server.createTenant(), await server.createTenant()];
    await ingest(one, [started('same', { country: 'DE' })]);
    await ingest(other, [started('same', { country: 'FR' })]);
    expect((await get(one, '/v1/sessions/same')).body.data.country).toBe('DE');
    expect((await get(other, '/v1/sessions/same')).body.data.country).toBe('FR');
    expect(await listIds(one)).toEqual(['same']);
  });
});

describe('the filters', () => {
  let tenant: Tenant;
  const DAY = '2026-03-10';
  const at = (time: string) => `${DAY}T${time}.000Z`;
  /** One session of each kind, newest first. */
  const ALL = ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human', 'closed', 'active'];

  beforeAll(async () => {
    tenant = await server.createTenant();
    const session = (id: string, time: string, fields = {}) => started(id, { startedAt: at(time), ...fields });
    await ingest(tenant, [
      session('active', '01:00:00', { userAgent: IPHONE, pageUrl: 'https://a.example.edu/courses/1' }),
      session('closed', '02:00:00', { userAgent: IPAD, pageUrl: 'https://a.example.edu/courses/2' }),
      session('human', '03:00:00', { deviceFingerprint: 'fp-1', pageUrl: 'https://a.example.edu:8443/x' }),
      session('medium', '04:00:00', { deviceFingerprint: 'fp-2', pageUrl: 'https://b.example.edu/courses/1' }),
      session('bot', '05:00:00', { deviceFingerprint: 'fp-1', pageUrl: 'http://a.example.edu/x' }),
      session('labelled-bot', '06:00:00'),
      session('labelled-human', '07:00:00'),
      ...ALL.filter((id) => id !== 'active').map((id) => closed(id)),
      scored('human', 0.1, { detectionFlags: ['quiet'] }),
      scored('medium', 0.55, { detectionFlags: ['no-scroll', 'webdriver'] }),
      scored('bot', 0.95, { detectionFlags: ['webdriver'] }),
      scored('labelled-bot', 0.2),
      scored('labelled-human', 0.9),
    ]);
    // Labels are set directly, because facts do not label.
    await server.database.db.sql`update sessions set label = case id when 'labelled-bot' then 1 else -1 end
      where integration_id = ${tenant.id} and id in ('labelled-bot', 'labelled-human')`;
    await server.database.db.sql`update sessions set user_id = 'user-1', correlation_confidence = 0.5
      where integration_id = ${tenant.id} and id in ('medium', 'closed')`;
  });

  it('select everything by default', async () => {
    expect(await listIds(tenant)).toEqual(ALL);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ status: 'Active' }, ['active']],
    [{ status: 'Closed' }, ['closed']],
    [{ status: 'Scored' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
    [{ status: 'Failed' }, []],
    [{ minBotScore: '0.55' }, ['labelled-human', 'bot', 'medium']],
    [{ minBotScore: '0.551' }, ['labelled-human', 'bot']],
    [{ minBotScore: '5.51e-1' }, ['labelled-human', 'bot']],
    [{ minBotScore: '1e-05', maxBotScore: '1E+0' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
    [{ maxBotScore: '0.55' }, ['labelled-bot', 'medium', 'human']],
    [{ maxBotScore: '0.549' }, ['labelled-bot', 'human']],
    [{ minBotScore: '0', maxBotScore: '1' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
    [{ minBotScore: '0.55', maxBotScore: '0.55' }, ['medium']],
    [{ riskLevel: 'bot' }, ['labelled-bot', 'bot']],
    [{ riskLevel: 'medium' }, ['medium']],
    [{ riskLevel: 'human' }, ['labelled-human', 'human']],
    [{ detectionFlag: 'webdriver' }, ['bot', 'medium']],
    [{ detectionFlag: 'no-scroll' }, ['medium']],
    [{ detectionFlag: 'WebDriver' }, []],
    [{ detectionFlag: 'web' }, []],
    [{ detectionFlag: '{webdriver}' }, []],
    [{ detectionFlag: 'quiet","x' }, []],
    [{ label: 'bot' }, ['labelled-bot']],
    [{ label: 'human' }, ['labelled-human']],
    [{ label: 'none' }, ['bot', 'medium', 'human', 'closed', 'active']],
    [{ userId: 'user-1' }, ['medium', 'closed']],
    [{ userId: 'USER-1' }, []],
    [{ fingerprint: 'fp-1' }, ['bot', 'human']],
    [{ fingerprint: 'fp-9' }, []],
    [{ origin: 'https://a.example.edu' }, ['closed', 'active']],
    [{ origin: 'https://a.example.edu:8443' }, ['human']],
    [{ origin: 'http://a.example.edu' }, ['bot']],
    [{ origin: 'a.example.edu' }, []],
    [{ deviceType: 'mobile' }, ['active']],
    [{ deviceType: 'tablet' }, ['closed']],
    [{ deviceType: 'desktop' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
    [{ status: 'Scored', minBotScore: '0.5', detectionFlag: 'webdriver', fingerprint: 'fp-1' }, ['bot']],
    [{ status: 'Active', riskLevel: 'bot' }, []],
    [{ userId: 'user-1', deviceType: 'tablet' }, ['closed']],
    [{ label: 'none', riskLevel: 'bot' }, ['bot']],
  ])('%j', async (query, ids) => {
    expect(await listIds(tenant, query)).toEqual(ids);
  });

  it('courseId', async () => {
    const { courseId } = (await get(tenant, '/v1/sessions/active')).body.data;
    expect(await listIds(tenant, { courseId })).toEqual(['active']);
    const other = (await get(tenant, '/v1/sessions/medium')).body.data.courseId;
    expect(other).not.toBe(courseId);
    expect(await listIds(tenant, { courseId: other })).toEqual(['medium']);
    expect(await listIds(tenant, { courseId: '1' })).toEqual([]);
  });

  it.each<[Record<string, string>, Record<string, string>]>([
    [{ status: 'sCORED' }, { status: 'Scored' }],
    [{ riskLevel: 'BOT' }, { riskLevel: 'bot' }],
    [{ label: 'None' }, { label: 'none' }],
    [{ deviceType: 'Tablet' }, { deviceType: 'tablet' }],
  ])('take words in any case: %j', async (query, same) => {
    const ids = await listIds(tenant, query);
    expect(ids).toEqual(await listIds(tenant, same));
    expect(ids.length).toBeGreaterThan(0);
  });

  it('by riskLevel select the sessions that show it', async () => {
    const { data } = (await list(tenant)).body;
    for (const riskLevel of ['bot', 'medium', 'human']) {
      const shown = data.filter((session: { riskLevel: string }) => session.riskLevel === riskLevel);
      expect(await listIds(tenant, { riskLevel })).toEqual(shown.map((session: { id: string }) => session.id));
    }
  });

  it.each<[Record<string, string>, string[]]>([
    [{ startDate: at('05:00:00') }, ['labelled-human', 'labelled-bot', 'bot']],
    [{ startDate: `${DAY}T05:00:00.001Z` }, ['labelled-human', 'labelled-bot']],
    [{ endDate: at('03:00:00') }, ['closed', 'active']],
    [{ endDate: `${DAY}T03:00:00.001Z` }, ['human', 'closed', 'active']],
    [{ startDate: at('03:00:00'), endDate: at('05:00:00') }, ['medium', 'human']],
    [{ startDate: at('03:00:00'), endDate: at('03:00:00') }, []],
    [{ startDate: `${DAY}T07:00:00+02:00` }, ['labelled-human', 'labelled-bot', 'bot']],
    [{ endDate: `${DAY}T00:00:00-03:00` }, ['closed', 'active']],
    [{ startDate: `${DAY}T05:00:00Z` }, ['labelled-human', 'labelled-bot', 'bot']],
    [{ startDate: `${DAY}T05:00:00.000001Z` }, ['labelled-human', 'labelled-bot']],
    [{ startDate: `${DAY}T05:00:00.000000Z` }, ['labelled-human', 'labelled-bot', 'bot']],
    [{ endDate: `${DAY}T03:00:00.0009Z` }, ['human', 'closed', 'active']],
    [{ endDate: `${DAY}T03:00:00.0000000000Z` }, ['closed', 'active']],
    [{ startDate: DAY }, ALL],
    [{ endDate: DAY }, ALL],
    [{ startDate: DAY, endDate: DAY }, ALL],
    [{ startDate: '2026-03-11' }, []],
    [{ endDate: '2026-03-09' }, []],
    [{ startDate: '2026-03-09', endDate: '2026-03-11' }, ALL],
  ])('select [start, end) of createdAt: %j', async (query, ids) => {
    expect(await listIds(tenant, query)).toEqual(ids);
  });

  it('include the whole UTC day of a date-only endDate', async () => {
    const other = await server.createTenant();
    const last = started('last', { startedAt: '2026-02-28T23:59:59.999Z' });
    const next = started('next', { startedAt: '2026-03-01T00:00:00.000Z' });
    await ingest(other, [last, next]);
    expect(await listIds(other, { endDate: '2026-02-28' })).toEqual(['last']);
    expect(await listIds(other, { startDate: '2026-03-01' })).toEqual(['next']);
  });

  it.each<[string, string[]]>([
    [
      'startDate',
      ['', 'yesterday', '2026-02-30', '2026-13-01', '2026-1-1', '20260101', '2026-03-10T05:00:00', '1773118800'],
    ],
    ['endDate', ['', 'x', '2026-02-30', '2026-03-10T25:00:00Z', '2026-03-10T05:00:00+99:00', '2026-03-10 05:00:00Z']],
    ['status', ['', 'open', 'Scored ', 'Scored,Closed', '__proto__', 'constructor']],
    [
      'minBotScore',
      [
        '',
        '1.1',
        '-0.1',
        '.5',
        '1.',
        '1e',
        'e1',
        '1e1',
        '1e999',
        ' 0.5',
        '+0.5',
        'NaN',
        'Infinity',
        '0x1',
        '0,5',
        '70',
      ],
    ],
    ['maxBotScore', ['', '1.1', '-0.1', '.5', '1.', '1e', 'e1', '1e1', '1e999', ' 0.5', '+0.5', 'NaN', '2']],
    ['riskLevel', ['', 'low', 'bots', 'none']],
    ['detectionFlag', ['', 'x'.repeat(257), 'a\0b']],
    ['label', ['', 'medium', 'null']],
    ['userId', ['', 'x'.repeat(257), '\0']],
    ['courseId', ['', 'x'.repeat(257), '\0']],
    ['fingerprint', ['', 'x'.repeat(257), '\0']],
    ['origin', ['', '\0']],
    ['deviceType', ['', 'phone', 'desktop ']],
  ])('%s is named in the 400 for a wrong value', async (name, values) => {
    for (const value of values) expectError(await list(tenant, { [name]: value }), 'INVALID_REQUEST', name);
  });

  it.each(
    ['startDate', 'endDate', 'status', 'minBotScore', 'maxBotScore', 'riskLevel', 'detectionFlag'].concat([
      'label',
      'userId',
      'courseId',
      'fingerprint',
      'origin',
      'deviceType',
      'cursor',
      'pageSize',
    ]),
  )('%s is taken only once', async (name) => {
    const value =
      { pageSize: '5', status: 'Scored', riskLevel: 'bot', label: 'bot', deviceType: 'mobile' }[name] ?? '1';
    const date = name.endsWith('Date') ? DAY : value;
    expectError(await get(tenant, `/v1/sessions?${name}=${date}&${name}=${date}`), 'INVALID_REQUEST', name);
  });

  it('name endDate if startDate is after it', async () => {
    const query = { startDate: at('05:00:00'), endDate: at('04:00:00') };
    expectError(await list(tenant, query), 'INVALID_REQUEST', 'endDate');
    expectError(await list(tenant, { startDate: '2026-03-12', endDate: DAY }), 'INVALID_REQUEST', 'endDate');
  });

  it('name maxBotScore if minBotScore is over it', async () => {
    expectError(await list(tenant, { minBotScore: '0.6', maxBotScore: '0.5' }), 'INVALID_REQUEST', 'maxBotScore');
    expectError(await list(tenant, { minBotScore: '1', maxBotScore: '0' }), 'INVALID_REQUEST', 'maxBotScore');
  });

  it.each([
    '__proto__=1',
    'constructor=1',
    'toString=1&toString=2',
    'unknown=1&unknown=2',
    'status[]=Active',
    'Status=Active',
    'unknown=%zz',
    '%zz=1',
    '=',
    '&&',
    'unknown=%00',
  ])('ignore unknown parameters: ?%s', async (query) => {
    const { status, body } = await sendRaw(server.url, 'GET', `/v1/sessions?${query}`, {
      headers: { Authorization: `Bearer ${tenant.key}` },
    });
    expect([status, body.data.length]).toEqual([200, ALL.length]);
  });

  it('are percent-decoded, and so are their names', async () => {
    expect((await get(tenant, '/v1/sessions?%73tatus=%41ctive')).body.data).toHaveLength(1);
    expectError(await get(tenant, '/v1/sessions?status=Active&%73tatus=Active'), 'INVALID_REQUEST', 'status');
  });

  it.each(['%zz', '%', '%e2%82', '%ED%A0%80'])(
    'name a parameter that is not percent-encoded UTF-8: %s',
    async (value) => {
      expectError(await get(tenant, `/v1/sessions?userId=${value}`), 'INVALID_REQUEST', 'userId');
    },
  );
});

describe('pageSize', () => {
  it.each([
    '0',
    '101',
    '1e1',
    ' 10',
    '+10',
    '10 ',
    '-1',
    '1.0',
    '',
    'abc',
    '٣',
    '0x10',
    'NaN',
    '9'.repeat(400),
    'null',
  ])('%j is 400', async (pageSize) => {
    expectError(await list(await anyTenant(), { pageSize }), 'INVALID_REQUEST', 'pageSize');
  });

  it.each(['?pageSize', '?pageSize=', '?pageSize=+10', '?pageSize=%2010', '?pageSize=%2B10', '?pageSize=10%00'])(
    '%s is 400',
    async (query) => {
      expectError(await get(await anyTenant(), `/v1/sessions${query}`), 'INVALID_REQUEST', 'pageSize');
    },
  );

  it.each([
    ['free', undefined, 50],
    ['free', '100', 50],
    ['free', '50', 50],
    ['free', '7', 7],
    ['starter', '100', 50],
    ['pro', undefined, 50],
    ['pro', '100', 100],
    ['enterprise', '100', 100],
    ['enterprise', '1', 1],
  ] as const)('on the plan %s: %s is the limit %s', async (plan, pageSize, limit) => {
    const tenant = await server.createTenant(plan);
    const { status, body } = await list(tenant, pageSize ? { pageSize } : {});
    expect([status, body.pagination]).toEqual([200, { hasMore: false, limit }]);
  });

  it('over the cap of the tier is cut to the cap', async () => {
    const tenant = await server.createTenant('free');
    await ingest(
      tenant,
      Array.from({ length: 60 }, (_, n) => started(`s-${n}`)),
    );
    const first = (await list(tenant, { pageSize: '100' })).body;
    expect([first.data.length, first.pagination.limit, first.pagination.hasMore]).toEqual([50, 50, true]);
    const rest = (await list(tenant, { pageSize: '100', cursor: first.pagination.nextCursor })).body;
    expect([rest.data.length, rest.pagination]).toEqual([10, { hasMore: false, limit: 50 }]);
  });

  let any: Promise<Tenant> | undefined;
  function anyTenant(): Promise<Tenant> {
    any ??= server.createTenant('enterprise');
    return any;
  }
});

describe('a walk', () => {
  const SHARED_TIMES = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.001Z', '2026-03-01T10:00:01.000Z'];
  const IDS = Array.from({ length: 250 }, (_, n) => {
    const number = String(n).padStart(3, '0');
    return [
      number,
      `😀${number}`,
      `${'é'.repeat(253)}${number}`,
      `${'😀'.repeat(253)}${number}`,
      `\uffee${number}`,
      `Z"\\${number}`,
    ][n % 6]!;
  });

  it('over 250 sessions neither skips nor repeats while rows are inserted', async () => {
    const tenant = await server.createTenant();
    await ingest(
      tenant,
      IDS.map((id, n) => started(id, { startedAt: SHARED_TIMES[n % 3] })),
    );
    const seen: { id: string; createdAt: string }[] = [];
    const inserted = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < 200; page++) {
      const { status, body } = await list(tenant, { pageSize: '7', ...(cursor === undefined ? {} : { cursor }) });
      expect(status).toBe(200);
      expect(body.data.length).toBeLessThanOrEqual(7);
      seen.push(...body.data);
      if (!body.pagination.hasMore) {
        expect(body.pagination).toEqual({ hasMore: false, limit: 7 });
        break;
      }
      cursor = body.pagination.nextCursor;
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      // Newer, older and simultaneous sessions, before and after the position of the walk.
      const facts = ['0', 'M', 'z', '🙂'].map((prefix, n) => {
        const id = `${prefix}-new-${page}`;
        inserted.add(id);
        return started(id, { startedAt: [...SHARED_TIMES, '2026-02-01T00:00:00.000Z'][(page + n) % 4] });
      });
      await ingest(tenant, [...facts, started(`newest-${page}`, { startedAt: secondsAgo(1) })]);
    }
    const ids = seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(IDS.filter((id) => !ids.includes(id))).toEqual([]);
    expect(ids.filter((id) => !IDS.includes(id) && !inserted.has(id))).toEqual([]);
    const isInOrder = (a: { id: string; createdAt: string }, b: { id: string; createdAt: string }) =>
      a.createdAt > b.createdAt ||
      (a.createdAt === b.createdAt && Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) > 0);
    for (let n = 1; n < seen.length; n++) expect([n, isInOrder(seen[n - 1]!, seen[n]!)]).toEqual([n, true]);
  });

  it('whose last page is full ends with it', async () => {
    const tenant = await server.createTenant();
    await ingest(
      tenant,
      Array.from({ length: 10 }, (_, n) => started(`s-${n}`)),
    );
    const first = (await list(tenant, { pageSize: '5' })).body;
    expect(first.pagination).toEqual({ nextCursor: expect.any(String), hasMore: true, limit: 5 });
    const second = (await list(tenant, { pageSize: '5', cursor: first.pagination.nextCursor })).body;
    expect([second.data.length, second.pagination]).toEqual([5, { hasMore: false, limit: 5 }]);
  });

  it('over nothing is one empty page', async () => {
    const { body } = await list(await server.createTenant());
    expect(body).toEqual({ data: [], pagination: { hasMore: false, limit: 50 } });
  });
});

describe('a cursor', () => {
  let tenant: Tenant;
  let cursor: string;
  beforeAll(async () => {
    tenant = await server.createTenant();
    const facts = Array.from({ length: 12 }, (_, n) => [started(`s-${n}`), closed(`s-${n}`), scored(`s-${n}`, 0.9)]);
    await ingest(tenant, facts.flat());
    cursor = (await list(tenant, { pageSize: '3' })).body.pagination.nextCursor;
  });

  const expectRefused = async (query: Record<string, string>, of = tenant) =>
    expectError(await list(of, query), 'INVALID_REQUEST', 'cursor');

  it('is base64url without padding, of at most 512 characters even for ids of 256', async () => {
    const other = await server.createTenant();
    await ingest(other, [started('a'.repeat(256)), started('b'.repeat(256)), started('c')]);
    for (const pageSize of ['1', '2']) {
      const { nextCursor } = (await list(other, { pageSize })).body.pagination;
      expect(nextCursor).toMatch(/^[A-Za-z0-9_-]{1,512}$/);
    }
  });

  it('works with any page size', async () => {
    const rest = await listIds(tenant, { cursor, pageSize: '100' });
    expect(rest).toHaveLength(9);
    expect(await listIds(tenant, { cursor })).toEqual(rest);
    expect(await listIds(tenant, { cursor, pageSize: '2' })).toEqual(rest.slice(0, 2));
  });

  it('may be used again', async () => {
    expect(await listIds(tenant, { cursor })).toEqual(await listIds(tenant, { cursor }));
  });

  it('is bound to its integration', async () => {
    const other = await server.createTenant();
    await ingest(other, [started('x'), started('y')]);
    await expectRefused({ cursor }, other);
    const foreign = (await list(other, { pageSize: '1' })).body.pagination.nextCursor;
    await expectRefused({ cursor: foreign });
  });

  it('is bound to its filters', async () => {
    await expectRefused({ cursor, status: 'Scored' });
    await expectRefused({ cursor, minBotScore: '0' });
    const filtered = (await list(tenant, { pageSize: '3', status: 'Scored', minBotScore: '0.5' })).body.pagination;
    expect(await listIds(tenant, { cursor: filtered.nextCursor, status: 'Scored', minBotScore: '0.5' })).toHaveLength(
      9,
    );
    await expectRefused({ cursor: filtered.nextCursor });
    await expectRefused({ cursor: filtered.nextCursor, status: 'Scored' });
    await expectRefused({ cursor: filtered.nextCursor, status: 'Closed', minBotScore: '0.5' });
    await expectRefused({ cursor: filtered.nextCursor, status: 'Scored', minBotScore: '0.6' });
    await expectRefused({ cursor: filtered.nextCursor, status: 'Scored', maxBotScore: '0.5' });
  });

  it('accepts its filters in any case and order', async () => {
    const query = { pageSize: '3', status: 'scored', riskLevel: 'BOT', unknown: '1' };
    const { nextCursor } = (await list(tenant, query)).body.pagination;
    expect(await listIds(tenant, { riskLevel: 'bot', status: 'SCORED', cursor: nextCursor })).toHaveLength(9);
  });

  it('is bound to its route', async () => {
    const context = { integration: { id: tenant.id }, cursorKey: server.service.secrets.cursorKey } as never;
    const position = [secondsAgo(60), 's-1'] as const;
    const own = encodeCursor(context, { route: 'sessions', filters: {} }, position);
    expect((await list(tenant, { cursor: own })).status).toBe(200);
    await expectRefused({ cursor: encodeCursor(context, { route: 'users', filters: {} }, position) });
  });

  it('is refused with any byte changed', async () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let n = 0; n < bytes.length; n++) {
      const changed = Buffer.from(bytes);
      changed[n]! ^= 1 << (n % 8);
      await expectRefused({ cursor: changed.toString('base64url') });
    }
  });

  it('is refused in any other spelling', async () => {
    const last = cursor.at(-1)!;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const neighbours = [...alphabet].filter((c) => c !== last).map((c) => cursor.slice(0, -1) + c);
    const others = [`${cursor}=`, `${cursor}A`, cursor.slice(0, -1), cursor.slice(1), ` ${cursor}`, `${cursor}\n`];
    const noise = [
      `${cursor.slice(0, 5)}!${cursor.slice(5)}`,
      cursor.toUpperCase(),
      `${cursor}${cursor}`,
      `${cursor}\0`,
    ];
    for (const other of [...neighbours, ...others, ...noise]) await expectRefused({ cursor: other });
  });

  it('is refused if it was never issued', async () => {
    for (const other of ['', 'x', '0', 'null', '{}', 'AQ', '😀', '\0', '__proto__', 'A'.repeat(512), 'A'.repeat(513)])
      await expectRefused({ cursor: other });
    await expectRefused({ cursor: Buffer.from('["2026-01-01T00:00:00.000Z","x"]').toString('base64url') });
    await expectRefused({ cursor: 'A'.repeat(5_000) });
    await expectRefused({ cursor: `${cursor}${'A'.repeat(4_000)}` });
  });
});
