import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { sendRaw } from '../support/connection';
import { Customer, pathOf } from '../support/customer';
import { waitForLocks } from '../support/database';
import { anomaly, correlated, scored, secondsAgo, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ODD_IDS = [
  'a/b',
  '%',
  '%2F',
  'a b',
  'a+b',
  '?x#y',
  '...',
  'ü',
  '😀',
  '__proto__',
  'o\'hara"\\',
  '😀'.repeat(256),
];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const sessionsPath = (userId: string) => `${pathOf('v1', 'users', userId)}/sessions`;
const confirmPath = (userId: string, fingerprint: string) =>
  pathOf('v1', 'users', userId, 'devices', fingerprint, 'confirm');
const userIds = async (customer: Customer) =>
  (await customer.read('/v1/users')).map(({ id }: { id: string }) => id) as string[];
const sessionIds = async (customer: Customer, userId: string) =>
  (await customer.read(sessionsPath(userId))).map(({ id }: { id: string }) => id) as string[];

/** Lists all orders of a list. */
function permute<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, n) => permute(items.toSpliced(n, 1)).map((rest) => [item, ...rest]));
}

describe('a user', () => {
  it('has every field', async () => {
    const [first, last] = [secondsAgo(900), secondsAgo(60)];
    const user = { id: 'u', name: 'Ada', email: 'ada@example.edu', url: 'https://lms.example.edu/users/1' };
    const customer = await Customer.create(server, [
      started('a', { startedAt: first, deviceFingerprint: 'fp-1' }),
      started('b', { startedAt: last, deviceFingerprint: 'fp-2' }),
      started('c', { startedAt: last }),
      scored('a', 0.25),
      scored('b', 0.75),
      correlated('a', 'u', { user, confidence: 0.5 }),
      correlated('b', 'u', { user, confidence: 1 }),
      correlated('c', 'u', { user, confidence: 0.75 }),
      anomaly('x', { sessionId: 'a' }),
      anomaly('y', { userId: 'u' }),
      anomaly('z', { userId: 'other' }),
    ]);
    await customer.confirm('u', 'fp-1');
    await customer.confirm('u', 'fp-unseen');
    expect((await customer.get('/v1/users')).body).toEqual({
      data: [
        {
          ...user,
          sessionCount: 3,
          botSessionCount: 1,
          averageBotScore: 0.5,
          maxBotScore: 0.75,
          riskLevel: 'bot',
          deviceCount: 2,
          confirmedDeviceCount: 2,
          anomalyCount: 2,
          correlationConfidence: 0.75,
          firstSeenAt: first,
          lastSeenAt: last,
        },
      ],
      pagination: { hasMore: false, limit: 50 },
    });
  });

  it('has null for what is not known', async () => {
    const customer = await Customer.create(server, [started('s'), correlated('s', 'u')]);
    expect(await customer.read('/v1/users')).toMatchObject([
      { email: null, url: null, averageBotScore: null, maxBotScore: null, riskLevel: null, deviceCount: 0 },
    ]);
  });

  it('has the risk level of the riskiest session, labels included, and the highest raw score', async () => {
    const customer = await Customer.create(server, [
      ...['a', 'b'].flatMap((id) => [started(id), correlated(id, 'u')]),
      scored('a', 0.5),
      scored('b', 0.9),
    ]);
    const read = async () => {
      const [{ riskLevel, maxBotScore, botSessionCount }] = await customer.read('/v1/users');
      return [riskLevel, maxBotScore, botSessionCount];
    };
    expect(await read()).toEqual(['bot', 0.9, 1]);
    await customer.setThresholds(40, 90);
    expect(await read()).toEqual(['bot', 0.9, 1]);
    await customer.setThresholds(40, 91);
    expect(await read()).toEqual(['medium', 0.9, 0]);
    await customer.setThresholds(40, 70);
    await customer.label('b', { verdict: 'human' });
    expect(await read()).toEqual(['medium', 0.9, 0]);
    await customer.setThresholds(60, 70);
    expect(await read()).toEqual(['human', 0.9, 0]);
    await customer.label('a', { verdict: 'bot' });
    expect(await read()).toEqual(['bot', 0.9, 1]);
  });

  it('is listed by id in bytewise order', async () => {
    const ids = ['10', '9', 'B', 'a', 'ä', '\uffee', '😀', 'A', 'aa', '_'];
    const facts = ids.flatMap((id, n) => [started(`s-${n}`), correlated(`s-${n}`, id)]);
    const customer = await Customer.create(server, facts);
    expect(await userIds(customer)).toEqual(['10', '9', 'A', 'B', '_', 'a', 'aa', 'ä', '\uffee', '😀']);
  });

  it('has the name, email and url of the latest correlation that names them, in every order of arrival', async () => {
    const times = [secondsAgo(30), secondsAgo(20), secondsAgo(10)];
    const correlationOf = (n: number) =>
      correlated(`s-${n}`, 'u', {
        user: [
          { id: 'u', name: 'First', email: 'first@example.edu', url: 'https://x.edu/1' },
          { id: 'u', name: 'Second', email: 'second@example.edu', url: 'https://x.edu/2' },
          // What the latest does not say is not known.
          { id: 'u', name: 'Third', email: null },
        ][n],
        correlatedAt: times[n],
      });
    const starts = [0, 1, 2].map((n) => started(`s-${n}`));
    for (const order of permute([0, 1, 2]))
      for (const inOneBatch of [true, false]) {
        const customer = await Customer.create(server, starts);
        if (inOneBatch) await customer.accept(order.map(correlationOf));
        else for (const n of order) await customer.accept([correlationOf(n)]);
        expect([order, await customer.read('/v1/users')]).toMatchObject([
          order,
          [{ name: 'Third', email: null, url: null, sessionCount: 3 }],
        ]);
        expect(await customer.session('s-0')).toMatchObject({ userName: 'Third', userUrl: null });
      }
  });
});

describe('the sessions of a user', () => {
  it('are those whose current correlation names them, newest first, as GET /v1/sessions shows them', async () => {
    const times = [50, 40, 40, 30].map((minutes) => secondsAgo(60 * minutes));
    const customer = await Customer.create(server, [
      ...times.map((startedAt, n) => started(`s-${n}`, { startedAt })),
      started('other'),
      ...times.map((_, n) => correlated(`s-${n}`, 'u')),
      correlated('other', 'U'),
    ]);
    expect(await sessionIds(customer, 'u')).toEqual(['s-3', 's-2', 's-1', 's-0']);
    expect(await customer.read(sessionsPath('u'))).toEqual(await customer.read('/v1/sessions?userId=u'));
    expect(await sessionIds(customer, 'U')).toEqual(['other']);
  });

  it.each(ODD_IDS)('are found by the user’s encoded id: %s', async (id) => {
    const customer = await Customer.create(server, [started('s'), correlated('s', id)]);
    expect(await userIds(customer)).toEqual([id]);
    expect(await customer.read(sessionsPath(id))).toMatchObject([{ id: 's', userId: id }]);
  });

  it('are 404 for a user that is unknown, of another integration, or known only by a confirmation or an anomaly', async () => {
    const owner = await Customer.create(server, [started('s'), correlated('s', 'u'), anomaly('a', { userId: 'v' })]);
    const stranger = await Customer.create(server);
    await owner.confirm('confirmed', 'fp');
    expect((await owner.get(sessionsPath('u'))).status).toBe(200);
    for (const id of ['unknown', 'confirmed', 'v', 'U']) expectError(await owner.get(sessionsPath(id)), 'NOT_FOUND');
    expectError(await stranger.get(sessionsPath('u')), 'NOT_FOUND');
  });

  it('take an id of 256 characters, not of 257', async () => {
    const customer = await Customer.create(server);
    for (const id of ['x'.repeat(257), '😀'.repeat(257), 'a\0', '\x00'])
      expectError(await customer.get(sessionsPath(id)), 'INVALID_REQUEST', 'userId');
    expectError(await customer.get('/v1/users/%ED%A0%80/sessions'), 'INVALID_REQUEST', 'userId');
    expectError(await customer.get(sessionsPath('😀'.repeat(256))), 'NOT_FOUND');
  });
});

describe('the latest correlation of a session', () => {
  const times = [secondsAgo(30), secondsAgo(20), secondsAgo(10)];
  const match = (n: number) =>
    correlated('s', `user-${n}`, { correlatedAt: times[n], confidence: [0.9, 0.8, 0.3][n], contextId: `c-${n}` });

  it.each(permute([0, 1, 2]))('is the current one, in the order %i %i %i', async (...order) => {
    for (const inOneBatch of [true, false]) {
      const customer = await Customer.create(server, [started('s')]);
      if (inOneBatch) await customer.accept(order.map(match));
      else for (const n of order) await customer.accept([match(n)]);
      expect(await customer.session('s')).toMatchObject({
        userId: 'user-2',
        userName: 'Ada Lovelace',
        correlationConfidence: 0.3,
      });
      expect(await userIds(customer)).toEqual(['user-2']);
      expect(await sessionIds(customer, 'user-2')).toEqual(['s']);
      for (const id of ['user-0', 'user-1']) expectError(await customer.get(sessionsPath(id)), 'NOT_FOUND');
    }
  });

  it('moves the session from one user to the other, in every list and count', async () => {
    const customer = await Customer.create(server, [
      started('s', { deviceFingerprint: 'fp' }),
      started('t'),
      scored('s', 0.9),
      correlated('s', 'from', { correlatedAt: times[0] }),
      correlated('t', 'from', { correlatedAt: times[0] }),
    ]);
    await customer.accept([correlated('s', 'to', { correlatedAt: times[1] })]);
    expect(await customer.read('/v1/users')).toMatchObject([
      { id: 'from', sessionCount: 1, botSessionCount: 0, maxBotScore: null, deviceCount: 0 },
      { id: 'to', sessionCount: 1, botSessionCount: 1, maxBotScore: 0.9, deviceCount: 1 },
    ]);
    expect([await sessionIds(customer, 'from'), await sessionIds(customer, 'to')]).toEqual([['t'], ['s']]);
    expect((await customer.read('/v1/sessions?userId=from')).length).toBe(1);
    expect(await customer.read('/v1/stats')).toMatchObject({ totalUsers: 2, matchedSessions: 2, unmatchedSessions: 0 });
    await customer.accept([correlated('t', 'to', { correlatedAt: times[1] })]);
    expect(await userIds(customer)).toEqual(['to']);
    expect((await customer.read('/v1/courses'))[0]).toMatchObject({ sessionCount: 2, userCount: 1 });
    expect((await customer.read('/v1/stats')).totalUsers).toBe(1);
  });
});

describe('a device confirmation', () => {
  it('answers the record of the pair', async () => {
    const customer = await Customer.create(server);
    const before = Date.now();
    const record = await customer.confirm('u', 'fp', { notes: 'seen in class' });
    expect(record).toEqual({
      userId: 'u',
      fingerprint: 'fp',
      confirmedAt: expect.stringMatching(ISO),
      firstConfirmedAt: record.confirmedAt,
      suppresses: ['SharedDevice', 'DeviceSwitch'],
    });
    expect(Date.parse(record.confirmedAt)).toBeGreaterThan(before - 1_000);
    expect(Date.parse(record.confirmedAt)).toBeLessThan(Date.now() + 1_000);
  });

  it('sent again refreshes confirmedAt, keeps firstConfirmedAt, and is counted once', async () => {
    const customer = await Customer.create(server, [started('s'), correlated('s', 'u')]);
    const first = await customer.confirm('u', 'fp');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await customer.confirm('u', 'fp');
    expect(second).toEqual({ ...first, confirmedAt: expect.stringMatching(ISO) });
    expect(Date.parse(second.confirmedAt)).toBeGreaterThan(Date.parse(first.confirmedAt));
    expect((await customer.read('/v1/users'))[0].confirmedDeviceCount).toBe(1);
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(1);
    // Of ten at once, one is the first.
    const many = await Promise.all(Array.from({ length: 10 }, () => customer.confirm('u', 'fp-2')));
    expect(new Set(many.map(({ firstConfirmedAt }) => firstConfirmedAt)).size).toBe(1);
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(2);
  });

  it('that began before another one and waited for it is the later one', async () => {
    const customer = await Customer.create(server);
    const { sql } = server.database.db;
    const waiting = await sql.begin(async (other) => {
      await other`lock table device_confirmations in share row exclusive mode`;
      const confirmed = customer.confirm('u', 'fp');
      await waitForLocks(sql, 1);
      await other`
        insert into device_confirmations (integration_id, user_id, fingerprint, first_confirmed_at, confirmed_at)
        values (${customer.id}, 'u', 'fp', clock_timestamp(), clock_timestamp())`;
      return { confirmed };
    });
    const { confirmedAt, firstConfirmedAt } = await waiting.confirmed;
    expect(Date.parse(confirmedAt)).toBeGreaterThan(Date.parse(firstConfirmedAt));
  });

  it('sent again without notes keeps the previous notes', async () => {
    const customer = await Customer.create(server);
    const notes: (string | null)[] = [];
    for (const body of [
      undefined,
      { notes: 'first' },
      undefined,
      { notes: null },
      { notes: 'second' },
      { notes: '' },
    ]) {
      await customer.confirm('u', 'fp', body);
      // No answer shows the notes yet.
      const [row] = await server.database.db.sql`
        select notes from device_confirmations where integration_id = ${customer.id}`;
      notes.push(row!.notes);
    }
    expect(notes).toEqual([null, 'first', 'first', 'first', 'second', '']);
  });

  it('of an unknown pair registers it and creates no user', async () => {
    const customer = await Customer.create(server);
    await customer.confirm('stranger', 'fp');
    expect(await customer.read('/v1/users')).toEqual([]);
    expect(await customer.read('/v1/stats')).toMatchObject({ totalUsers: 0, confirmedDevices: 1 });
    await customer.accept([started('s'), correlated('s', 'stranger')]);
    expect(await customer.read('/v1/users')).toMatchObject([{ id: 'stranger', confirmedDeviceCount: 1 }]);
  });

  it.each(ODD_IDS)('takes encoded ids, decoded exactly once: %s', async (id) => {
    const customer = await Customer.create(server);
    expect(await customer.confirm(id, 'fp')).toMatchObject({ userId: id, fingerprint: 'fp' });
    expect(await customer.confirm('u', id)).toMatchObject({ userId: 'u', fingerprint: id });
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(2);
  });

  it('takes ids of 256 characters, not of 257, and names the one that is too long', async () => {
    const customer = await Customer.create(server);
    for (const id of ['x'.repeat(257), '😀'.repeat(257), 'a\0b']) {
      expectError(await customer.post(confirmPath(id, 'fp')), 'INVALID_REQUEST', 'userId');
      expectError(await customer.post(confirmPath('u', id)), 'INVALID_REQUEST', 'fingerprint');
    }
    for (const bad of ['%zz', '%', '%ED%A0%80']) {
      const [wrongUser, wrongDevice] = [`/v1/users/${bad}/devices/fp/confirm`, `/v1/users/u/devices/${bad}/confirm`];
      expectError(await customer.post(wrongUser), 'INVALID_REQUEST', 'userId');
      expectError(await customer.post(wrongDevice), 'INVALID_REQUEST', 'fingerprint');
    }
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(0);
  });

  it.each([
    ['no body and no content type', {}, undefined],
    ['no body and another content type', { 'Content-Type': 'text/plain' }, undefined],
    ['an empty body', { 'Content-Type': 'application/x-www-form-urlencoded' }, ''],
    ['an empty object', { 'Content-Type': 'application/json' }, '{}'],
    ['notes of null', { 'Content-Type': 'application/json' }, '{"notes":null}'],
    ['other ids in the body', { 'Content-Type': 'application/json' }, '{"userId":"x","fingerprint":"y","z":1}'],
    ['notes of 1000 emoji', { 'Content-Type': 'application/json' }, JSON.stringify({ notes: '😀'.repeat(1000) })],
  ] as [string, Record<string, string>, string | undefined][])('takes %s', async (_what, headers, body) => {
    const customer = await Customer.create(server);
    const answer = await sendRaw(server.url, 'POST', confirmPath('u', 'fp'), {
      headers: { Authorization: `Bearer ${customer.key}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    expect([answer.status, answer.body.data]).toMatchObject([200, { userId: 'u', fingerprint: 'fp' }]);
  });

  it.each([
    ['notes', 5],
    ['notes', 'x'.repeat(1001)],
    ['notes', '😀'.repeat(1001)],
    ['notes', 'a\0'],
    ['notes', '\ud800'],
    ['notes', ['x']],
  ])('names %s if they are %j', async (field, notes) => {
    const customer = await Customer.create(server);
    expectError(await customer.post(confirmPath('u', 'fp'), JSON.stringify({ notes })), 'INVALID_BODY', field);
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(0);
  });

  it('belongs to its integration', async () => {
    const [one, other] = [await Customer.create(server), await Customer.create(server)];
    await one.confirm('u', 'fp');
    expect((await other.read('/v1/stats')).confirmedDevices).toBe(0);
    const shared = anomaly('a', { anomalyType: 'SharedDevice', userId: 'u', deviceFingerprint: 'fp' });
    expect(await one.tell([shared])).toEqual({ accepted: 0, duplicates: 0, suppressed: 1 });
    expect(await other.tell([shared])).toEqual({ accepted: 1, duplicates: 0, suppressed: 0 });
  });
});

it('the list passes users without sessions in bounded pages, and each other user is in it once', async () => {
  const customer = await Customer.create(server);
  await customer.accept([started('s-1'), correlated('s-1', 'z-last'), started('s-2'), correlated('s-2', 'a-first')]);
  await server.database.db.sql`
    insert into users (integration_id, id, name, described_at)
    select ${customer.id}, 'b-' || n, 'Nobody', now() from generate_series(1, 2500) n`;
  const pages: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const { body } = await server.call('GET', `/v1/users?pageSize=10${query}`, { key: customer.key });
    pages.push(body.data.map(({ id }: { id: string }) => id));
    if (!body.pagination.hasMore) break;
    cursor = body.pagination.nextCursor;
  }
  expect(pages).toEqual([['a-first'], [], ['z-last']]);
});

it('the list shows nobody twice if users come while a bounded page is read', async () => {
  const customer = await Customer.create(server);
  await customer.accept([started('s-1'), correlated('s-1', 'b-00990-known')]);
  const insert = (prefix: string, count: number) => server.database.db.sql`
    insert into users (integration_id, id, name, described_at)
    select ${customer.id}, ${prefix} || lpad(n::text, 5, '0'), 'Nobody', now() from generate_series(1, ${count}::int) n`;
  await insert('b-', 1_200);
  const { db } = server.service;
  const { query } = db;
  let inserted = 0;
  // As another process, after each statement.
  Object.assign(db, {
    async query(...[text, parameters]: Parameters<typeof query>) {
      const rows = await query(text, parameters);
      await insert(`a${inserted++}-`, 20);
      return rows;
    },
  });
  const walk = async () => (await customer.readAll('/v1/users')).map(({ id }: { id: string }) => id);
  expect(await walk().finally(() => Object.assign(db, { query }))).toEqual(['b-00990-known']);
  expect(inserted).toBeGreaterThan(1);
});
