import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { BROWSERS } from '../../server/domain/user-agents';
import { expectError } from '../support/answers';
import { beginWindow } from '../support/clock-window';
import { Customer } from '../support/customer';
import {
  BUCKET_MS,
  type BucketName,
  expectedAnalytics,
  expectedCourses,
  expectedStats,
  expectedUsers,
  floorTo,
  PERIOD_MS,
  type PeriodName,
  rounded,
} from '../support/expected-counts';
import { anomaly, closed, correlated, happened, scored, secondsAgo, started } from '../support/facts';
import { play, scenario } from '../support/scenarios';
import { startTestServer, type TestServer } from '../support/server';

const COMBINATIONS = (Object.keys(PERIOD_MS) as PeriodName[])
  .flatMap((period) => (Object.keys(BUCKET_MS) as BucketName[]).map((groupBy) => ({ period, groupBy })))
  .filter(({ period, groupBy }) => !(period === '24h' && groupBy === 'week'));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const analyze = (customer: Customer, period = '7d', groupBy = 'day') =>
  customer.read(`/v1/analytics?period=${period}&groupBy=${groupBy}`);
/** Makes a session with a score. */
const bot = (id: string, botScore: number, fields: Record<string, unknown> = {}) => [
  started(id, fields),
  closed(id),
  scored(id, botScore),
];

describe('counts', () => {
  it('agree in every field with a model that counts sessions one by one', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (happening) => {
        const customer = await Customer.create(server);
        await customer.switchOffFindings();
        const model = await play(happening, customer, () => foldSessionDeltas(server.database.db));
        for (const { period, groupBy } of COMBINATIONS) {
          const analytics = await analyze(customer, period, groupBy);
          const expected = expectedAnalytics(model, period, groupBy, analytics.endDate);
          expect(rounded(analytics)).toEqual(rounded(expected));
        }
        const stats = await customer.read('/v1/stats');
        expect(rounded(stats)).toEqual(rounded(expectedStats(model, stats.generatedAt, 0)));
        expect(rounded(await customer.readAll('/v1/users'))).toEqual(rounded(expectedUsers(model)));
        expect(rounded(await customer.readAll('/v1/courses'))).toEqual(rounded(expectedCourses(model)));
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('of another integration are never included', async () => {
    const facts = [
      ...bot('s', 0.9, { deviceFingerprint: 'fp' }),
      happened('s', [{ sequence: 1 }]),
      correlated('s', 'u'),
      anomaly('a', { userId: 'u' }),
    ];
    const [one, other] = [await Customer.create(server, facts), await Customer.create(server, facts)];
    await one.confirm('u', 'fp');
    const paths = ['/v1/users', '/v1/courses'];
    expect((await one.read('/v1/users'))[0]).toMatchObject({ sessionCount: 1, anomalyCount: 1 });
    expect((await other.read('/v1/users'))[0]).toMatchObject({ sessionCount: 1, confirmedDeviceCount: 0 });
    for (const path of paths) expect((await one.read(path))[0]).toMatchObject({ sessionCount: 1, botSessionCount: 1 });
    expect((await one.read('/v1/stats')).totalSessions).toBe(1);
    expect((await analyze(one)).summary).toMatchObject({ totalSessions: 1, totalEvents: 1, uniqueUsers: 1 });
  });
});

describe('the window of the analytics', () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await Customer.create(server);
  });

  it.each(COMBINATIONS)('$period by $groupBy begins with a bucket and ends now', async ({ period, groupBy }) => {
    const before = Date.now();
    const { startDate, endDate, generatedAt, ...echo } = await analyze(customer, period, groupBy);
    expect(echo).toMatchObject({ period, groupBy });
    expect(generatedAt).toBe(endDate);
    expect(Date.parse(endDate)).toBeGreaterThan(before - 1_000);
    expect(Date.parse(endDate)).toBeLessThan(Date.now() + 1_000);
    expect(Date.parse(startDate)).toBe(floorTo(groupBy, Date.parse(endDate) - PERIOD_MS[period]));
  });

  it.each(COMBINATIONS)('$period by $groupBy has all its buckets, empty ones too', async ({ period, groupBy }) => {
    const { startDate, endDate, timeSeries } = await analyze(customer, period, groupBy);
    const expected = [];
    for (let at = Date.parse(startDate); at < Date.parse(endDate); at += BUCKET_MS[groupBy])
      expected.push({
        timestamp: new Date(at).toISOString(),
        sessionCount: 0,
        eventCount: 0,
        botCount: 0,
        userMatchedCount: 0,
      });
    expect(timeSeries).toEqual(expected);
  });

  it.each([
    ['7d', 'day', 8],
    ['24h', 'hour', 25],
    ['24h', 'day', 2],
    ['7d', 'hour', 169],
    ['30d', 'day', 31],
    ['90d', 'hour', 2161],
  ] as const)('%s by %s has %i buckets', async (period, groupBy, count) => {
    expect((await analyze(customer, period, groupBy)).timeSeries).toHaveLength(count);
  });

  it('begins its weeks on Monday', async () => {
    for (const period of ['7d', '30d', '90d']) {
      const { startDate, timeSeries } = await analyze(customer, period, 'week');
      const days = [startDate, ...timeSeries.map(({ timestamp }: { timestamp: string }) => timestamp)];
      for (const day of days)
        expect([day, new Date(day).getUTCDay(), day.slice(10)]).toEqual([day, 1, 'T00:00:00.000Z']);
    }
  });

  it('is [startDate, endDate): its first instant counts, the one before and the future do not', async () => {
    // The window must have the same days when it is requested again.
    await beginWindow(server.database.db, BUCKET_MS.day, 10_000);
    const other = await Customer.create(server);
    const { startDate } = await analyze(other);
    const before = new Date(Date.parse(startDate) - 1).toISOString();
    await other.accept([
      started('first', { startedAt: startDate }),
      started('before', { startedAt: before }),
      started('ahead', { startedAt: secondsAgo(-120) }),
    ]);
    const { summary, timeSeries } = await analyze(other);
    expect(summary.totalSessions).toBe(1);
    expect(timeSeries[0]).toMatchObject({ timestamp: startDate, sessionCount: 1 });
    // Stats cover everything, including what lies a little ahead.
    expect(await other.read('/v1/stats')).toMatchObject({ totalSessions: 3, sessionsLast24h: 1 });
  });

  it('counts events in the bucket of their session', async () => {
    const startedAt = secondsAgo(3 * 86_400);
    const other = await Customer.create(server, [
      started('s', { startedAt }),
      happened('s', [{ sequence: 1, eventCount: 40, timestamp: secondsAgo(60) }]),
    ]);
    const { timeSeries } = await analyze(other);
    const counted = timeSeries.filter(({ eventCount }: { eventCount: number }) => eventCount > 0);
    const timestamp = new Date(floorTo('day', Date.parse(startedAt))).toISOString();
    expect(counted).toMatchObject([{ timestamp, eventCount: 40, sessionCount: 1 }]);
  });
});

describe('the query of the analytics', () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await Customer.create(server);
  });
  const get = (query: string) => customer.get(`/v1/analytics${query}`);

  it('is 7d by day if it names neither', async () => {
    expect((await get('')).body.data).toMatchObject({ period: '7d', groupBy: 'day' });
    expect((await get('?period=30d')).body.data).toMatchObject({ period: '30d', groupBy: 'day' });
    expect((await get('?groupBy=hour')).body.data).toMatchObject({ period: '7d', groupBy: 'hour' });
  });

  it('takes words in any case and echoes them in the documented case', async () => {
    expect((await get('?period=24H&groupBy=HOUR')).body.data).toMatchObject({ period: '24h', groupBy: 'hour' });
    expect((await get('?period=90D&groupBy=Week')).body.data).toMatchObject({ period: '90d', groupBy: 'week' });
  });

  it.each(['', '1d', '7', '24', '24h ', '365d', 'day', '__proto__', 'constructor'])(
    'names period if it is %j',
    async (period) => {
      expectError(await get(`?${new URLSearchParams({ period })}`), 'INVALID_REQUEST', 'period');
    },
  );

  it.each(['', 'minute', 'month', 'days', ' day', '24h', 'toString'])('names groupBy if it is %j', async (groupBy) => {
    expectError(await get(`?${new URLSearchParams({ groupBy })}`), 'INVALID_REQUEST', 'groupBy');
  });

  it('takes each parameter only once', async () => {
    expectError(await get('?period=7d&period=7d'), 'INVALID_REQUEST', 'period');
    expectError(await get('?groupBy=day&groupBy=day'), 'INVALID_REQUEST', 'groupBy');
  });

  it('cannot group 24h by week, in any case', async () => {
    expectError(await get('?period=24h&groupBy=week'), 'UNSUPPORTED_OPERATION');
    expectError(await get('?period=24H&groupBy=WEEK'), 'UNSUPPORTED_OPERATION');
    expectError(await get('?period=25h&groupBy=week'), 'INVALID_REQUEST', 'period');
  });
});

describe('an integration without sessions', () => {
  it('has analytics of zeros', async () => {
    const { timeSeries, startDate, endDate, generatedAt, ...counts } = await analyze(await Customer.create(server));
    expect(counts).toEqual({
      period: '7d',
      groupBy: 'day',
      summary: {
        totalSessions: 0,
        totalEvents: 0,
        uniqueBots: 0,
        uniqueUsers: 0,
        averageBotScore: 0,
        averageEventsPerSession: 0,
      },
      botDetection: { highConfidenceBots: 0, mediumConfidenceBots: 0, lowConfidenceBots: 0, likelyHumans: 0 },
      userMatching: { totalMatched: 0, totalUnmatched: 0, matchRate: 0, averageCorrelationConfidence: 0 },
      topOrigins: [],
      deviceBreakdown: { mobile: 0, tablet: 0, desktop: 0, browserCounts: {} },
    });
  });

  it('has stats of zeros, and nulls for the average and the last session', async () => {
    const before = Date.now();
    const { generatedAt, ...stats } = await (await Customer.create(server)).read('/v1/stats');
    expect(Date.parse(generatedAt)).toBeGreaterThan(before - 1_000);
    expect(Date.parse(generatedAt)).toBeLessThan(Date.now() + 1_000);
    expect(stats).toEqual({
      ...{ totalSessions: 0, activeSessions: 0, sessionsLast24h: 0, totalEvents: 0, totalUsers: 0, totalCourses: 0 },
      ...{ matchedSessions: 0, unmatchedSessions: 0, botSessions: 0, averageBotScore: null, anomalies: 0 },
      ...{ labeledBot: 0, labeledHuman: 0, confirmedDevices: 0, activeWebhooks: 0, lastSessionAt: null },
    });
  });

  it('has no users and no courses', async () => {
    const customer = await Customer.create(server);
    const empty = { data: [], pagination: { hasMore: false, limit: 50 } };
    expect((await customer.get('/v1/users')).body).toEqual(empty);
    expect((await customer.get('/v1/courses')).body).toEqual(empty);
  });
});

describe('the classes of the analytics', () => {
  const classesOf = async (customer: Customer) => {
    const { botDetection: b } = await analyze(customer);
    return [b.highConfidenceBots, b.mediumConfidenceBots, b.lowConfidenceBots, b.likelyHumans];
  };

  it('count bots of high confidence from 90, or from botAt if that is higher', async () => {
    const scores = [0.1, 0.39, 0.4, 0.69, 0.7, 0.89, 0.8999, 0.9, 0.93, 0.95, 1];
    const customer = await Customer.create(
      server,
      scores.flatMap((score, n) => bot(`s-${n}`, score)),
    );
    expect(await classesOf(customer)).toEqual([4, 3, 2, 2]);
    await customer.setThresholds(40, 95);
    expect(await classesOf(customer)).toEqual([2, 0, 7, 2]);
    await customer.setThresholds(40, 90);
    expect(await classesOf(customer)).toEqual([4, 0, 5, 2]);
    await customer.setThresholds(0, 5);
    expect(await classesOf(customer)).toEqual([4, 7, 0, 0]);
    await customer.setThresholds(94, 100);
    expect(await classesOf(customer)).toEqual([1, 0, 1, 9]);
  });

  it('count labelled sessions by their label, scored or not, and average the raw scores', async () => {
    const customer = await Customer.create(server, [
      ...bot('false-alarm', 0.95),
      ...bot('missed', 0.05),
      started('unscored-bot'),
      started('unscored-human'),
      started('unscored'),
    ]);
    for (const id of ['missed', 'unscored-bot']) await customer.label(id, { verdict: 'bot' });
    for (const id of ['false-alarm', 'unscored-human']) await customer.label(id, { verdict: 'human' });
    expect(await classesOf(customer)).toEqual([2, 0, 0, 2]);
    const { summary, timeSeries } = await analyze(customer);
    expect(summary).toMatchObject({ totalSessions: 5, averageBotScore: 0.5 });
    const botCounts = timeSeries.map(({ botCount }: { botCount: number }) => botCount);
    expect(botCounts.reduce((a: number, b: number) => a + b)).toBe(2);
    const counted = { botSessions: 2, averageBotScore: 0.5, labeledBot: 2, labeledHuman: 2 };
    expect(await customer.read('/v1/stats')).toMatchObject(counted);
    await customer.label('missed', { verdict: 'human' });
    expect(await classesOf(customer)).toEqual([1, 0, 0, 3]);
    expect(await customer.read('/v1/stats')).toMatchObject({ botSessions: 1, labeledBot: 1, labeledHuman: 3 });
  });

  it('count each device once among the unique bots, and each bot without a fingerprint separately', async () => {
    const customer = await Customer.create(server, [
      ...bot('a', 0.9, { deviceFingerprint: 'fp-1' }),
      ...bot('b', 0.8, { deviceFingerprint: 'fp-1' }),
      ...bot('c', 0.9, { deviceFingerprint: 'fp-2' }),
      ...bot('d', 0.9),
      ...bot('e', 0.9),
      ...bot('f', 0.1, { deviceFingerprint: 'fp-3' }),
      ...bot('g', 0.1),
    ]);
    expect((await analyze(customer)).summary.uniqueBots).toBe(4);
    await customer.label('g', { verdict: 'bot' });
    await customer.label('c', { verdict: 'human' });
    expect((await analyze(customer)).summary.uniqueBots).toBe(4);
    await customer.label('d', { verdict: 'human' });
    expect((await analyze(customer)).summary.uniqueBots).toBe(3);
  });
});

describe('the top origins', () => {
  it('are the ten with the most sessions, then by name, with the share of bots in percent', async () => {
    const counts = [3, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1];
    const sessions = counts.flatMap((count, n) =>
      Array.from({ length: count }, (_, k) => ({ id: `s-${n}-${k}`, pageUrl: `https://o${11 - n}.example.edu/x` })),
    );
    const customer = await Customer.create(
      server,
      sessions.flatMap(({ id, pageUrl }, n) => bot(id, n === 0 ? 0.9 : 0.1, { pageUrl })),
    );
    const { topOrigins } = await analyze(customer);
    expect(rounded(topOrigins)).toEqual([
      { origin: 'https://o11.example.edu', sessionCount: 3, botPercentage: 33.33333333 },
      { origin: 'https://o8.example.edu', sessionCount: 2, botPercentage: 0 },
      { origin: 'https://o9.example.edu', sessionCount: 2, botPercentage: 0 },
      ...[0, 1, 10, 2, 3, 4, 5].map((n) => ({
        origin: `https://o${n}.example.edu`,
        sessionCount: 1,
        botPercentage: 0,
      })),
    ]);
  });

  it('differ by scheme, host and port, and by nothing else', async () => {
    const pages = ['https://lms.edu/a', 'https://LMS.edu:443/b?c', 'http://lms.edu/a', 'https://lms.edu:8443/a'];
    const customer = await Customer.create(
      server,
      pages.map((pageUrl, n) => started(`s-${n}`, { pageUrl })),
    );
    expect((await analyze(customer)).topOrigins).toEqual([
      { origin: 'https://lms.edu', sessionCount: 2, botPercentage: 0 },
      { origin: 'http://lms.edu', sessionCount: 1, botPercentage: 0 },
      { origin: 'https://lms.edu:8443', sessionCount: 1, botPercentage: 0 },
    ]);
  });
});

describe('the browsers', () => {
  const invented = (n: number) =>
    `${['__proto__', 'constructor', 'toString'][n] ?? `visitor-${n}-${'x'.repeat(1_990)}`}/1 (x)`;
  const startedBy = (userAgent: string, n: number) => started(`s-${n}`, { userAgent });

  it('have names of a list, so that visitors cannot make the answer grow', async () => {
    const customer = await Customer.create(server);
    for (let batch = 0; batch < 3; batch++) {
      const facts = Array.from({ length: 400 }, (_, n) => startedBy(invented(batch * 400 + n), batch * 400 + n));
      await customer.accept(facts);
      // The last ones are not folded yet.
      if (batch < 2) await foldSessionDeltas(server.database.db);
    }
    await customer.accept([started('chrome')]);
    const answer = await customer.get('/v1/analytics');
    expect(answer.body.data.deviceBreakdown).toEqual({
      ...{ mobile: 0, tablet: 0, desktop: 1_201 },
      browserCounts: { Other: 1_200, Chrome: 1 },
    });
    expect(answer.text.length).toBeLessThan(4_000);
    const [first] = await customer.read('/v1/sessions?pageSize=1');
    expect(JSON.stringify(first).length).toBeLessThan(1_000);
    const names = await server.database.db.query(
      `select distinct value from dimension_rollups where integration_id = $1 and dimension = 'browser'`,
      [customer.id],
    );
    expect(names).toEqual([{ value: 'Other' }]);
  });

  it('are the twenty with the most sessions; Other counts the others', async () => {
    const agents = [...BROWSERS].filter((name) => !['Bot', 'Unknown', 'Other'].includes(name)).slice(0, 23);
    const customer = await Customer.create(
      server,
      [...agents.keys()].map((n) => started(`s-${n}`)),
    );
    await customer.accept(agents.slice(0, 20).map((_, n) => started(`t-${n}`)));
    const sql = server.database.db.sql;
    for (const [n, name] of agents.entries())
      await sql`update sessions set browser = ${name} where integration_id = ${customer.id} and id in (${`s-${n}`}, ${`t-${n}`})`;
    await sql`update sessions set browser = '__proto__' where integration_id = ${customer.id} and id = 's-22'`;
    const { browserCounts } = (await analyze(customer)).deviceBreakdown;
    expect(browserCounts).toEqual({ ...Object.fromEntries(agents.slice(0, 20).map((name) => [name, 2])), Other: 3 });
  });
});

it('a sum beyond 32 bits is shown as the largest number that the document allows', async () => {
  const customer = await Customer.create(server, [started('s'), started('t'), started('u')]);
  const largest = 2 ** 31 - 1;
  await server.database.db.sql`update sessions set event_count = ${largest} where integration_id = ${customer.id}`;
  const { summary, timeSeries } = await analyze(customer);
  expect([summary.totalEvents, timeSeries.at(-1).eventCount, summary.averageEventsPerSession]).toEqual(
    Array(3).fill(largest),
  );
  expect((await customer.read('/v1/stats')).totalEvents).toBe(largest);
});

describe('names that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString'])('count like others: %s', async (name) => {
    const [session] = [
      started('s', {
        pageUrl: `https://${name.replaceAll('_', '')}/courses/42`,
        country: name,
        deviceFingerprint: name,
      }),
    ];
    const customer = await Customer.create(server, [session, correlated('s', name, { user: { id: name, name } })]);
    await customer.accept([
      happened('s', [{ sequence: 1, metadata: JSON.parse(`{"a":{"${name}":1}}`) }]),
      closed('s'),
      scored('s', 0.9, { detectionFlags: [name] }),
    ]);
    expect(await customer.session('s')).toMatchObject({ userId: name, country: name, detectionFlags: [name] });
    expect((await customer.read(`/v1/sessions?detectionFlag=${name}`)).map(({ id }: { id: string }) => id)).toEqual([
      's',
    ]);
    expect(await customer.read('/v1/users')).toMatchObject([{ id: name, name, deviceCount: 1 }]);
    expect(await customer.read(`/v1/users/${name}/sessions`)).toHaveLength(1);
    expect((await analyze(customer)).topOrigins).toMatchObject([{ sessionCount: 1, botPercentage: 100 }]);
    const [event] = await customer.read('/v1/sessions/s/events');
    expect(JSON.stringify(event.metadata)).toBe(`{"a":{"${name}":1}}`);
  });
});

describe('averages', () => {
  it('do not depend on the order of addition', async () => {
    const facts = [0.1, 0.2, 0.3].flatMap((score, n) => [
      ...bot(`s-${n}`, score),
      correlated(`s-${n}`, 'u', { confidence: score }),
    ]);
    const customer = await Customer.create(server, facts);
    expect((0.1 + 0.2 + 0.3) / 3).not.toBe(0.2);
    const { summary, userMatching } = await analyze(customer);
    expect([summary.averageBotScore, userMatching.averageCorrelationConfidence]).toEqual([0.2, 0.2]);
    expect((await customer.read('/v1/stats')).averageBotScore).toBe(0.2);
    expect((await customer.read('/v1/users'))[0]).toMatchObject({ averageBotScore: 0.2, correlationConfidence: 0.2 });
    expect((await customer.read('/v1/courses'))[0].averageBotScore).toBe(0.2);
  });
});

describe('stats', () => {
  it('count the webhooks that are enabled and not deleted', async () => {
    const customer = await Customer.create(server);
    const body = { url: 'https://hooks.example.com/', eventType: 'ReportReady' };
    const [kept, deleted] = [await customer.post('/v1/webhooks', body), await customer.post('/v1/webhooks', body)];
    await customer.post('/v1/webhooks', { ...body, enabled: false });
    expect((await customer.read('/v1/stats')).activeWebhooks).toBe(2);
    const path = `/v1/webhooks/${deleted.body.data.id}`;
    expect((await server.call('DELETE', path, { key: customer.key })).status).toBe(204);
    expect(kept.status).toBe(200);
    expect((await customer.read('/v1/stats')).activeWebhooks).toBe(1);
  });
});
