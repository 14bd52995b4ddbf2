import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { writeListFile } from '../../server/rest/list-files';
import { beginWindow } from '../support/clock-window';
import { AWKWARD_TEXTS, findFormulas, readCsv } from '../support/csv';
import { waitForDeliveries } from '../support/database';
import { alert, anomaly, closed, correlated, scored, secondsAgo, started } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';
import { insertWideSessions } from '../support/volume';

// Lists of the dashboard as CSV: who gets them and what they have. exports.test.ts tests what they share with exports: that they
// are read as the client reads, and end when it leaves.

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
let other: { id: string; key: string };
let admin: StaffClient;
let viewer: StaffClient;
let webhookId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startStaffServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  [tenant, other] = [await server.createTenant(), await server.createTenant()];
  admin = await createStaffClient(server, 'admin');
  viewer = await createStaffClient(server, 'viewer');
  for (const { id, key } of [tenant, other]) {
    const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
    const created = await server.call('POST', '/v1/webhooks', { key, body });
    if (id === tenant.id) webhookId = created.body.data.id;
    const names = id === tenant.id ? AWKWARD_TEXTS : ['Of the other'];
    const facts = names.flatMap((name, n) => [
      started(`ses-${n}`, {
        pageUrl: `https://lms.example.edu/courses/${n}`,
        deviceFingerprint: `=fp-${n}`,
        startedAt: secondsAgo(600 - n),
      }),
      correlated(`ses-${n}`, `=user ${n}`, { user: { id: `=user ${n}`, name, email: '-e@example.edu' } }),
      scored(`ses-${n}`, n / 10, { detectionFlags: ['=cmd', 'webdriver'] }),
      closed(`ses-${n}`),
      anomaly(`ano-${n}`, { sessionId: `ses-${n}`, userId: `=user ${n}`, metadata: { note: name } }),
      alert(`ale-${n}`, { message: name }),
    ]);
    const sent = await server.ingest(id, facts);
    expect([sent.status, sent.text]).toEqual([200, expect.any(String)]);
  }
  await foldSessionDeltas(server.service.db);
  await waitForDeliveries(server.database.db.sql);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const ask = (path: string, { as = admin, headers = {}, method = 'GET', of = tenant.id } = {}) =>
  server.call(method, `/lists/${encodeURIComponent(of)}/${path}`, { headers: { cookie: as.cookie, ...headers } });

async function readFile(path: string, as = admin) {
  const answer = await ask(path, { as });
  expect([path, answer.status]).toEqual([path, 200]);
  const [names, ...rows] = readCsv(answer.text);
  return rows.map((row) => Object.fromEntries(names!.map((name, n) => [name, row[n]])));
}
async function walk(name: string, input: object) {
  const rows: Record<string, unknown>[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await admin.query(
      name,
      { ...input, pageSize: 3, ...(cursor ? { cursor } : {}) },
      { 'x-integration-id': tenant.id },
    );
    rows.push(...body.result.data.data);
    cursor = body.result.data.pagination.nextCursor;
    if (!cursor) return rows;
  }
}
const ids = (rows: Record<string, unknown>[]) => rows.map(({ id }) => id);
/** As a spreadsheet shows it. */
const show = (text: string | undefined) => text?.replace(/^'|(?<=[;\t\r\n])'/g, '');

describe('the file of a list', () => {
  it.each([
    ['sessions', 'sessions.listSorted', {}],
    ['sessions', 'sessions.listSorted', { sort: 'oldest', riskLevel: 'bot' }],
    ['sessions', 'sessions.listSorted', { sort: 'highestScore', minBotScore: 0.3 }],
    ['sessions', 'sessions.listSorted', { userId: 'nobody' }],
    ['users', 'users.listSorted', { sort: 'name' }],
    ['users', 'users.listSorted', { sort: 'highestScore' }],
    ['courses', 'courses.listSorted', { sort: 'sessions' }],
    ['anomalies', 'anomalies.list', { sort: 'oldest' }],
    ['alerts', 'alerts.list', {}],
    ['audit', 'audit.list', { scope: 'Integration' }],
  ])('%s: has what a walk of %s has, in its order (%#)', async (list, procedure, filters) => {
    const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]));
    const walked = await walk(procedure, filters);
    const rows = await readFile(`${list}.csv?${query}`);
    expect(ids(rows).map((id) => show(id as string))).toEqual(ids(walked));
    if (!('userId' in filters)) expect(rows.length).toBeGreaterThan(0);
  });

  it('deliveries: has what the log of the webhook has', async () => {
    const rows = await readFile(`deliveries.csv?id=${webhookId}&sort=oldest`);
    expect(ids(rows)).toEqual(ids(await walk('deliveries.list', { id: webhookId, sort: 'oldest' })));
    expect(rows.length).toBeGreaterThan(1);
    expect(rows[0]).toMatchObject({
      subscriptionId: webhookId,
      eventType: 'BotDetected',
      status: 'Delivered',
      test: 'false',
    });
  });

  it('has each field, as the list shows it', async () => {
    const [session] = await walk('sessions.listSorted', {});
    const [row] = await readFile('sessions.csv');
    const { id, createdAt, userId, userName, botScore, detectionFlags, pageUrl } = session as never as Record<
      string,
      string
    >;
    expect(row).toMatchObject({
      ...{ id, createdAt, botScore: String(botScore), pageUrl, 'label.verdict': '', country: '' },
      ...{ userId: `'${userId}`, userName, detectionFlags: `'${(detectionFlags as never as string[]).join('; ')}` },
    });
    const names = (await readFile('users.csv?sort=id')).map(({ name }) => name);
    expect(names.map(show).sort()).toEqual([...AWKWARD_TEXTS].sort());
  });

  it('runs no text of visitors, customers or staff as a formula', async () => {
    for (const list of ['sessions', 'users', 'courses', 'anomalies', 'alerts', 'audit']) {
      const { text } = await ask(`${list}.csv`);
      const rows = readCsv(text);
      expect(rows.flat().length).toBeGreaterThan(10);
      expect(findFormulas(rows)).toEqual([]);
    }
  });

  it('has a name with its day, and is not cached', async () => {
    await beginWindow(server.database.db, 86_400_000, 20_000);
    const { headers } = await ask('users.csv');
    const day = new Date().toISOString().slice(0, 10);
    expect(headers.get('content-disposition')).toContain(`attachment; filename="users ${day}.csv"`);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const file = await fetch(`${server.url}/lists/${tenant.id}/users.csv`, { headers: { cookie: admin.cookie } });
    // The byte order mark, which a reader of text leaves out.
    expect([...new Uint8Array(await file.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'private, no-store',
      'nosniff',
    ]);
  });

  it('ends after its bound with a line that says so', async () => {
    const pages = [...'abc'].map((letter, n) => ({
      data: [{ id: `${letter}1` }, { id: `${letter}2` }],
      pagination: { hasMore: n < 2, limit: 2, ...(n < 2 ? { nextCursor: String(n + 1) } : {}) },
    }));
    const format = { head: 'id\r\n', writeRow: (row: unknown) => `${(row as { id: string }).id}\r\n` };
    const readPage = async ({ cursor = '0' }: { cursor?: string }) => pages[Number(cursor)]!;
    const write = async (maxRows?: number) => {
      let text = '';
      for await (const piece of writeListFile(readPage, format, maxRows)) text += Buffer.from(piece);
      return text.trimEnd().split('\r\n');
    };
    expect(await write()).toEqual(['id', 'a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
    expect(await write(6)).toEqual(['id', 'a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
    const cut = (rows: number) => `Cut after ${rows} rows: narrow the filters`;
    expect(await write(4)).toEqual(['id', 'a1', 'a2', 'b1', 'b2', cut(4)]);
    expect(await write(3)).toEqual(['id', 'a1', 'a2', 'b1', cut(3)]);
  });
});

describe('who gets the file of a list', () => {
  it('all staff with a session, and admins alone that of the audit log', async () => {
    expect((await ask('sessions.csv', { as: viewer })).status).toBe(200);
    expect((await ask('audit.csv', { as: viewer })).status).toBe(403);
    expect((await ask('audit.csv')).status).toBe(200);
    const anonymous = await server.call('GET', `/lists/${tenant.id}/sessions.csv`);
    expect([anonymous.status, anonymous.body.error.data.code]).toEqual([401, 'UNAUTHORIZED']);
    expect((await server.call('GET', `/lists/${tenant.id}/sessions.csv`, { key: tenant.key })).status).toBe(401);
  });

  it('of the named integration only', async () => {
    const { text } = await ask('users.csv', { of: other.id });
    expect(text).toContain('Of the other');
    expect(text).not.toContain('Zoë');
    expect((await ask('sessions.csv', { of: 'int_nobody' })).status).toBe(404);
    expect((await ask('sessions.csv', { of: '%00' })).status).toBe(404);
    expect((await ask(`deliveries.csv?id=${webhookId}`, { of: other.id })).status).toBe(404);
  });

  it('from a page of this host, or by typing the address', async () => {
    for (const [site, status] of [
      ['same-origin', 200],
      ['none', 200],
      ['same-site', 403],
      ['cross-site', 403],
    ] as const)
      expect([site, (await ask('users.csv', { headers: { 'sec-fetch-site': site } })).status]).toEqual([site, status]);
    expect((await ask('users.csv', { method: 'POST' })).status).toBe(404);
  });

  it.each([
    ['sessions.csv?riskLevel=odd', 400],
    ['sessions.csv?nothing=1', 400],
    ['sessions.csv?userId=a&userId=b', 400],
    ['sessions.csv?cursor=x', 400],
    ['sessions.csv?sort=lastSeen', 400],
    ['deliveries.csv', 400],
    ['reports.csv', 404],
    ['sessions.json', 404],
    ['constructor.csv', 404],
    ['', 404],
  ])('%s is refused: %i', async (path, status) => {
    const answer = await ask(path);
    expect([answer.status, answer.body.error.data.httpStatus, answer.headers.get('content-disposition')]).toEqual([
      ...[status, status, null],
    ]);
  });
});

it('at most two of an account and four of the process are written at a time', async () => {
  const large = await server.createTenant();
  await insertWideSessions(server.database.db, large.id, 8_000);
  const second = await createStaffClient(server, 'admin');
  const controller = new AbortController();
  const open = (as: StaffClient) =>
    fetch(`${server.url}/lists/${large.id}/sessions.csv`, {
      headers: { cookie: as.cookie },
      signal: controller.signal,
    });
  // Kept, because the body of an answer that nobody holds is cancelled.
  const held: Response[] = [];
  for (const as of [admin, admin, second, second]) held.push(await open(as));
  const refused = await open(admin);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect((await ask('users.csv', { as: viewer })).status).toBe(429);
  const head = await ask('users.csv', { method: 'HEAD' });
  expect([head.status, head.text]).toEqual([429, '']);
  controller.abort();
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await waitUntil(async () => (await ask('users.csv', { method: 'HEAD' })).status === 200);
  expect((await ask('users.csv', { as: viewer })).status).toBe(200);
});
