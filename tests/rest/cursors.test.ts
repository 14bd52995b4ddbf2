import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Customer } from '../support/customer';
import { closed, correlated, happened, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import { withQuery } from '../support/walks';

const WALKS = [
  '/v1/sessions',
  '/v1/sessions?userId=u',
  '/v1/sessions?userId=U',
  '/v1/sessions?status=Scored',
  '/v1/sessions?minBotScore=0.5',
  '/v1/sessions?maxBotScore=0.9',
  '/v1/sessions?minBotScore=0.5&status=Scored',
  '/v1/sessions?startDate=2026-03-01T00:00:00Z',
  '/v1/sessions?label=none',
  '/v1/sessions?riskLevel=bot',
  '/v1/sessions/s-0/events',
  '/v1/sessions/s-1/events',
  '/v1/sessions/S-1/events',
  '/v1/users',
  '/v1/users/u/sessions',
  '/v1/users/U/sessions',
  '/v1/courses',
  '/v1/audit-log',
  '/v1/webhook-events',
  '/v1/webhook-events?eventType=BotDetected',
  '/v1/webhook-events?userId=u',
];
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const SESSIONS = ['s-0', 's-1', 'S-1', 's-3', 's-4', 's-5'];
/** Facts that give each of the walks more than one item. */
const FACTS = SESSIONS.flatMap((id, n) => [
  started(id, { startedAt: '2026-03-01T10:00:00Z', pageUrl: `https://lms.example.edu/courses/${n}` }),
  closed(id, { closedAt: '2026-03-01T11:00:00Z' }),
  scored(id, 0.9, { scoredAt: '2026-03-01T11:00:00Z', detectionFlags: ['x'] }),
  correlated(id, n % 2 === 0 ? 'u' : 'U', { correlatedAt: '2026-03-01T11:00:00Z' }),
  happened(id, [
    { sequence: 1, timestamp: '2026-03-01T10:00:00Z' },
    { sequence: 2, timestamp: '2026-03-01T10:00:00Z' },
  ]),
]);

let server: TestServer;
let customer: Customer;
const cursors = new Map<string, string>();
beforeAll(async () => {
  server = await startTestServer();
  customer = await Customer.create(server, FACTS);
  for (const path of WALKS) cursors.set(path, await firstCursor(customer, path));
});
afterAll(() => server.stop());

async function firstCursor(of: Customer, path: string): Promise<string> {
  const { status, body } = await of.get(withQuery(path, { pageSize: '1' }));
  expect([path, status, body.pagination?.hasMore]).toEqual([path, 200, true]);
  return body.pagination.nextCursor;
}
const expectRefused = async (of: Customer, path: string, cursor: string) =>
  expectError(await of.get(withQuery(path, { cursor })), 'INVALID_REQUEST', 'cursor');

describe('a cursor', () => {
  it.each(WALKS)('of %s continues its own walk and no other', async (path) => {
    const cursor = cursors.get(path)!;
    expect((await customer.get(withQuery(path, { cursor }))).status).toBe(200);
    for (const other of WALKS.filter((one) => one !== path)) await expectRefused(customer, other, cursor);
  });

  it('belongs to its integration, even if another has the same sessions', async () => {
    const twin = await Customer.create(server, FACTS);
    for (const [path, cursor] of cursors) {
      await expectRefused(twin, path, cursor);
      await expectRefused(customer, path, await firstCursor(twin, path));
    }
  });

  /** One of times and one of numbers. All lists read their cursors with one function. */
  const FORMS = ['/v1/sessions?status=Scored', '/v1/sessions/s-0/events'];

  const expectAllRefused = (path: string, others: string[]) =>
    Promise.all(others.map((other) => expectRefused(customer, path, other)));

  it.each(FORMS)('of %s is refused if any one character changes', async (path) => {
    const cursor = cursors.get(path)!;
    for (const [n, character] of [...cursor].entries()) {
      const at = ALPHABET.indexOf(character);
      const others = [1, 1 + ((n * 7) % 62)].map((step) => ALPHABET[(at + step) % ALPHABET.length]);
      await expectAllRefused(
        path,
        others.map((other) => cursor.slice(0, n) + other + cursor.slice(n + 1)),
      );
    }
  });

  it.each(FORMS)('of %s is refused if it is cut anywhere, longer or doubled', async (path) => {
    const cursor = cursors.get(path)!;
    const cut = [...cursor].map((_, n) => cursor.slice(0, n));
    const more = ['A', '=', '==', ' ', '\n', '.', '+', '\0', 'AAAA', cursor, '😀', 'A'.repeat(2_048)];
    const longer = more.flatMap((one) => [cursor + one, one + cursor]);
    for (let n = 0; n < cut.length; n += 10) await expectAllRefused(path, cut.slice(n, n + 10));
    await expectAllRefused(path, longer);
  });

  it.each([
    ['status=Scored', 'status=sCORED'],
    ['riskLevel=bot', 'riskLevel=BOT'],
    ['label=none', 'label=None'],
    ['deviceType=desktop', 'deviceType=Desktop'],
    ['origin=https://lms.example.edu', 'origin=HTTPS://LMS.example.edu:443/'],
    ['startDate=2026-03-01T00:00:00Z', 'startDate=2026-03-01T02:00:00.000%2B02:00'],
    ['minBotScore=0.5&status=Scored', 'status=SCORED&minBotScore=0.50'],
    ['status=Scored', 'status=Scored&unknown=1&pageSize=7'],
  ])('issued under %s continues under %s, and the other way round', async (one, same) => {
    const paths = [`/v1/sessions?${one}`, `/v1/sessions?${same}`] as const;
    for (const [from, to] of [paths, paths.toReversed() as [string, string]]) {
      const { body } = await customer.get(from.includes('pageSize') ? from.replace('7', '1') : `${from}&pageSize=1`);
      const { status, body: rest } = await customer.get(withQuery(to, { cursor: body.pagination.nextCursor }));
      expect([status, rest.data?.length]).toEqual([200, SESSIONS.length - 1]);
    }
  });

  it.each([
    ['detectionFlag=x', 'detectionFlag=X'],
    ['fingerprint=a', 'fingerprint=A'],
    ['userId=u', 'userId=U'],
  ])('tells %s and %s apart: these values are the customer’s', async (one, other) => {
    const own = await Customer.create(server, [
      ...['a', 'b'].flatMap((id) => [
        started(id, { deviceFingerprint: 'a' }),
        scored(id, 0.5, { detectionFlags: ['x', 'X'] }),
        correlated(id, 'u'),
      ]),
    ]);
    const cursor = await firstCursor(own, `/v1/sessions?${one}`);
    await expectRefused(own, `/v1/sessions?${other}`, cursor);
  });

  it('continues after its item has left the walk', async () => {
    const own = await Customer.create(server, FACTS);
    const cursor = await firstCursor(own, '/v1/users');
    const moved = SESSIONS.map((id) => correlated(id, 'u', { correlatedAt: '2026-03-01T12:00:00Z' }));
    await own.accept(moved);
    // `U` sorts first and has no session any more.
    expect((await own.get(withQuery('/v1/users', { cursor }))).body.data).toMatchObject([{ id: 'u', sessionCount: 6 }]);
    const bots = await firstCursor(own, '/v1/sessions?riskLevel=bot');
    for (const id of SESSIONS) await own.label(id, { verdict: 'human' });
    expect((await own.get(withQuery('/v1/sessions?riskLevel=bot', { cursor: bots }))).body).toEqual({
      data: [],
      pagination: { hasMore: false, limit: 50 },
    });
  });

  it('of a user without any session left ends the walk', async () => {
    const own = await Customer.create(server, FACTS);
    const cursor = await firstCursor(own, '/v1/users/U/sessions');
    await own.accept(SESSIONS.map((id) => correlated(id, 'u', { correlatedAt: '2026-03-01T12:00:00Z' })));
    expectError(await own.get('/v1/users/U/sessions'), 'NOT_FOUND');
    expect((await own.get(withQuery('/v1/users/U/sessions', { cursor }))).body).toEqual({
      data: [],
      pagination: { hasMore: false, limit: 50 },
    });
  });
});
