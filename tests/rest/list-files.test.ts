import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { writeListFile } from '../../server/rest/list-files';
import { alert, anomaly, closed, correlated, scored, secondsAgo, started } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// Lists of the dashboard as CSV: who gets them, what they have, and what they cost.

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
let other: { id: string; key: string };
let admin: StaffClient;
let viewer: StaffClient;
let webhookId: string;

const NASTY = [
  '=HYPERLINK("http://x","y")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\tx',
  '\rx',
  '\n=1',
  '＝1',
  'a,"b"\r\nc',
  'Zoë 李',
];

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
    const names = id === tenant.id ? NASTY : ['Of the other'];
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
  await waitUntil(async () => {
    const [open] = await server.database.db
      .sql`select count(*)::int as n from webhook_deliveries where status = 'Pending'`;
    return open!.n === 0;
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const ask = (path: string, { as = admin, headers = {}, method = 'GET', of = tenant.id } = {}) =>
  server.call(method, `/lists/${encodeURIComponent(of)}/${path}`, { headers: { cookie: as.cookie, ...headers } });

/** Reads CSV as RFC 4180 says. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    const [, value = '', end] = found;
    rows.at(-1)!.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
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
const ids = (rows: Record<string, unknown>[], name = 'id') => rows.map((row) => row[name]);
/** As a spreadsheet shows it. */
const show = (text: string | undefined) => text?.replace(/^'/, '');

describe('the file of a list', () => {
  it.each([
    ['sessions', 'sessions.listSorted', 'sessionId', {}],
    ['sessions', 'sessions.listSorted', 'sessionId', { sort: 'oldest', riskLevel: 'bot' }],
    ['sessions', 'sessions.listSorted', 'sessionId', { sort: 'highestScore', minBotScore: 0.3 }],
    ['sessions', 'sessions.listSorted', 'sessionId', { userId: 'nobody' }],
    ['users', 'users.listSorted', 'userId', { sort: 'name' }],
    ['users', 'users.listSorted', 'userId', { sort: 'highestScore' }],
    ['courses', 'courses.listSorted', 'courseId', { sort: 'sessions' }],
    ['anomalies', 'anomalies.list', 'anomalyId', { sort: 'oldest' }],
    ['alerts', 'alerts.list', 'alertId', {}],
    ['audit', 'audit.list', 'entryId', { scope: 'Integration' }],
  ])('%s: has what a walk of %s has, in its order (%#)', async (list, procedure, key, filters) => {
    const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]));
    const walked = await walk(procedure, filters);
    const rows = await readFile(`${list}.csv?${query}`);
    expect(ids(rows, key).map((id) => show(id as string))).toEqual(ids(walked));
    if (!('userId' in filters)) expect(rows.length).toBeGreaterThan(0);
  });

  it('deliveries: has what the log of the webhook has', async () => {
    const rows = await readFile(`deliveries.csv?id=${webhookId}&sort=oldest`);
    expect(ids(rows, 'deliveryId')).toEqual(ids(await walk('deliveries.list', { id: webhookId, sort: 'oldest' })));
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
      ...{ sessionId: id, createdAt, botScore: String(botScore), pageUrl, label: '', country: '' },
      ...{ userId: `'${userId}`, userName, detectionFlags: `'${(detectionFlags as never as string[]).join('; ')}` },
    });
    const names = (await readFile('users.csv?sort=id')).map(({ name }) => name);
    expect(names.map(show).sort()).toEqual([...NASTY].sort());
  });

  it('runs no text of visitors, customers or staff as a formula', async () => {
    for (const list of ['sessions', 'users', 'courses', 'anomalies', 'alerts', 'audit']) {
      const { text } = await ask(`${list}.csv`);
      const cells = readCsv(text).flat();
      expect(cells.length).toBeGreaterThan(10);
      expect(cells.filter((cell) => /^[\s\uFEFF]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) && !/^-?\d/.test(cell))).toEqual(
        [],
      );
    }
  });

  it('has a name with its day, and is not cached', async () => {
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
    const file = {
      columns: { id: ({ id }: { id: string }) => id },
      readPage: async (_caller: unknown, { cursor = '0' }: { cursor?: string }) => pages[Number(cursor)]!,
    };
    const write = async (maxRows?: number) => {
      let text = '';
      for await (const piece of writeListFile({} as never, file as never, {}, maxRows)) text += Buffer.from(piece);
      return text.slice(1).trimEnd().split('\r\n');
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

describe('what a file costs', () => {
  const ROWS = 30_000;
  let large: { id: string };
  beforeAll(async () => {
    large = await server.createTenant();
    await server.database.db.sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
      select ${large.id}, 'ses-' || n, now() - n * interval '1 s', 'Scored', 'https://lms/' || repeat('x', 500), 'https://lms', '', '', 'desktop', 'Chrome'
        from generate_series(1, ${ROWS}) n`;
  });
  const open = (signal?: AbortSignal, as = admin) =>
    fetch(`${server.url}/lists/${large.id}/sessions.csv`, {
      headers: { cookie: as.cookie },
      ...(signal ? { signal } : {}),
    });
  const countStatements = () => {
    let asked = 0;
    const { query } = server.service.db;
    server.service.db.query = (text, parameters) => {
      asked++;
      return query(text, parameters);
    };
    const stop = () => {
      server.service.db.query = query;
    };
    return { read: () => asked, stop };
  };

  it('the server reads on only as the client does, and stops when the client leaves', async () => {
    const counted = countStatements();
    const controller = new AbortController();
    const response = await open(controller.signal);
    const reader = response.body!.getReader();
    await reader.read();
    // Buffers on the way hold some megabytes. All 300 pages would take 600 statements.
    let before = -1;
    for (; before !== counted.read(); await sleep(200)) before = counted.read();
    expect(before).toBeLessThan(400);
    controller.abort();
    await reader.read().catch(() => {});
    await sleep(300);
    expect(counted.read()).toBeLessThan(before + 4);
    counted.stop();
    expect((await ask('users.csv')).status).toBe(200);
  });

  it('at most two of an account and four of the process are written at a time', async () => {
    const second = await createStaffClient(server, 'admin');
    const controller = new AbortController();
    const started: Response[] = [];
    for (const as of [admin, admin, second, second]) started.push(await open(controller.signal, as));
    expect(started.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const refused = await open(undefined, admin);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect((await ask('users.csv', { as: viewer })).status).toBe(429);
    const head = await ask('users.csv', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([429, '']);
    controller.abort();
    await waitUntil(async () => (await ask('users.csv', { method: 'HEAD' })).status === 200);
    expect((await ask('users.csv', { as: viewer })).status).toBe(200);
  });

  it('memory for a page, however long the list is', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const response = await open();
    let rows = -1;
    let peakBytes = 0;
    for await (const piece of response.body!) {
      rows += Buffer.from(piece).toString().split('\r\n').length - 1;
      peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers);
    }
    expect(rows).toBe(ROWS);
    // The file has 20 MB.
    expect(peakBytes - before).toBeLessThan(8_000_000);
  });
});
