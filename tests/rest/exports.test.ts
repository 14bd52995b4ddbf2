import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTION_LIMITS } from '../../server/http-limits';
import { expectError } from '../support/answers';
import { beginWindow } from '../support/clock-window';
import { AWKWARD_TEXTS, findFormulas, readCsv } from '../support/csv';
import { Customer } from '../support/customer';
import { correlated, scored, scoredSession, started } from '../support/facts';
import { createGate } from '../support/gate';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { IN_VOLUME, insertWideSessions, loadVolumes } from '../support/volume';
import { withQuery } from '../support/walks';

// Exports: what they have is what a walk of the list has, and what they cost does not grow with the list.

/** More rows than the buffers on the way hold: 30 MB. */
const WIDE_ROWS = 15_000;

let server: TestServer;
let customer: Customer;
let wide: Customer;
beforeAll(async () => {
  server = await startTestServer();
  customer = await Customer.create(server);
  wide = await Customer.create(server);
  const { db } = server.database;
  await loadVolumes(db, [{ integrationId: customer.id, sessions: 1_050 }]);
  await customer.accept(scoredSession(0.97).facts);
  await insertWideSessions(db, wide.id, WIDE_ROWS);
  await customer.label('ses-1', { verdict: 'human', confidence: 'low', notes: '=SUM(1,"2")' });
});
afterAll(() => server.stop());

// biome-ignore lint/suspicious/noExplicitAny: items are of any list
type Item = any;

async function readExport(of: Customer, path: string): Promise<string> {
  const { status, text } = await of.get(path);
  expect([path, status]).toEqual([path, 200]);
  return text;
}

/** What a column must have: the field with its name, which is a path of fields. */
function expectedCell(item: Item, column: string): string {
  const value = column.split('.').reduce((holder, name) => holder?.[name], item) ?? '';
  const text =
    Array.isArray(value) && value.every((part) => typeof part === 'string')
      ? value.join('; ')
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  return typeof value !== 'number' && /^\s*[=+\-@＝]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}

const { userId, courseId, fingerprint } = IN_VOLUME.busiest;
const SESSION_FILTERS: Record<string, string>[] = [
  {},
  { startDate: new Date(Date.now() - 40 * 86_400_000).toISOString(), endDate: new Date().toISOString() },
  { status: 'scored' },
  { minBotScore: '0.2', maxBotScore: '0.9' },
  { riskLevel: 'bot' },
  { detectionFlag: 'webdriver' },
  { label: 'human' },
  { label: 'none', deviceType: 'mobile' },
  { userId },
  { courseId, riskLevel: 'human' },
  { fingerprint },
  { origin: IN_VOLUME.origin },
  { status: 'Failed' },
];

describe('an export', () => {
  it.each([
    ...SESSION_FILTERS.map((filters): [string, Record<string, string>] => ['sessions', filters]),
    ['users', {}],
    ['webhook-events', {}],
    ['webhook-events', { eventType: 'BotDetected' }],
    ['audit-log', {}],
  ])('of %s with %o has what a walk of the list has, in its order', async (list, filters) => {
    const walked: Item[] = await customer.readAll(withQuery(`/v1/${list}`, filters));
    if (filters.status !== 'Failed') expect(walked.length).toBeGreaterThan(0);
    const path = withQuery(`/v1/exports/${list}`, filters);
    const lines = walked.map((item) => `${JSON.stringify(item)}\n`);
    expect(await readExport(customer, path)).toBe(lines.join(''));
    const [columns = [], ...rows] = readCsv(await readExport(customer, withQuery(path, { format: 'csv' })));
    expect(columns.length).toBeGreaterThan(4);
    expect(rows).toEqual(walked.map((item) => columns.map((column) => expectedCell(item, column))));
  });

  it('as CSV has a column for each field, in the order of the list', async () => {
    const columnsOf = async (list: string) =>
      (await readExport(wide, `/v1/exports/${list}?format=csv&status=Failed`)).split('\r\n')[0];
    expect(await columnsOf('sessions')).toBe(
      'id,createdAt,updatedAt,status,botScore,detectionFlags,pageUrl,userAgentSummary,userId,userName,userUrl,riskLevel,label.verdict,label.confidence,label.notes,label.labeledAt,courseId,deviceFingerprint,deviceType,browser,origin,country,correlationConfidence',
    );
    expect(await columnsOf('audit-log')).toBe('id,at,action,actor.kind,actor.id,actor.name,subjectId,details');
  });

  it('as CSV has an empty list of objects as JSON, as it has a full one', async () => {
    const own = await Customer.create(server, scoredSession(0.97).facts);
    const read = async () => readCsv(await readExport(own, '/v1/exports/webhook-events?format=csv&sort=oldest'));
    await expect.poll(async () => (await read()).map((row) => row.at(-1))).toEqual(['outcomes', '[]']);
    const url = 'https://example.com/hooks';
    expect((await own.post('/v1/webhooks', { url, eventType: 'BotDetected', enabled: false })).status).toBe(200);
    await own.accept(scoredSession(0.98).facts);
    // The record waits for all transactions that began before, also those of other tests.
    await expect.poll(async () => (await read()).length).toBe(3);
    const [, , full] = await read();
    expect(JSON.parse(full!.at(-1)!)).toMatchObject([{ outcome: 'skipped', reason: 'disabled' }]);
  });

  it('as CSV runs no text of visitors and customers as a formula; as NDJSON it has the texts as they are', async () => {
    const facts = AWKWARD_TEXTS.flatMap((name, n) => [
      started(`s-${n}`),
      scored(`s-${n}`, 0.5, { detectionFlags: ['=cmd', name] }),
      correlated(`s-${n}`, `=u${n}`, { user: { id: `=u${n}`, name, email: '-e@example.edu' } }),
    ]);
    const own = await Customer.create(server, facts);
    for (const [list, field] of [
      ['sessions', 'userName'],
      ['users', 'name'],
    ] as const) {
      const rows = readCsv(await readExport(own, `/v1/exports/${list}?format=csv`));
      expect([list, rows.length]).toEqual([list, AWKWARD_TEXTS.length + 1]);
      expect(findFormulas(rows)).toEqual([]);
      const lines = (await readExport(own, `/v1/exports/${list}`)).trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line)[field]).sort()).toEqual(AWKWARD_TEXTS.toSorted());
    }
  });

  it('is a download that nobody caches: CSV in UTF-8 with a byte order mark, NDJSON without', async () => {
    await beginWindow(server.database.db, 86_400_000, 20_000);
    const day = new Date().toISOString().slice(0, 10);
    for (const [format, type, begins] of [
      ['csv', 'text/csv; charset=utf-8; header=present', [0xef, 0xbb, 0xbf]],
      ['ndjson', 'application/x-ndjson', [...Buffer.from('{"i')]],
    ] as const) {
      const { headers, bytes } = await download(customer, `sessions?format=${format}`);
      expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([type, 'no-store']);
      expect(headers.get('content-disposition')).toContain(`attachment; filename="sessions ${day}.${format}"`);
      expect([...bytes.slice(0, 3)]).toEqual(begins);
    }
  });

  it('counts as one request in the usage and in the rate limit', async () => {
    const own = await Customer.create(server);
    await insertWideSessions(server.database.db, own.id, 1_000);
    await beginWindow(server.database.db, 60_000, 15_000);
    const { headers } = await own.get('/v1/exports/sessions');
    const again = await own.get('/v1/exports/sessions');
    const remaining = (answer: { headers: Headers }) =>
      Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    expect(remaining({ headers }) - remaining(again)).toBe(1);
    const { byEndpoint } = await own.read('/v1/usage');
    expect(byEndpoint).toEqual([{ method: 'GET', path: '/v1/exports/sessions', requests: 2, errors: 0 }]);
  });
});

async function download(of: Customer, path: string) {
  const response = await open(of, path);
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

const open = (of: Customer, path = 'sessions', signal?: AbortSignal) =>
  fetch(`${server.url}/v1/exports/${path}`, {
    headers: { authorization: `Bearer ${of.key}` },
    ...(signal ? { signal } : {}),
  });

/** Counts the statements of the server from now on. Each waits for what `admit` answers. */
function countStatements(admit: (count: number) => Promise<void> | undefined = () => undefined) {
  let asked = 0;
  const { db } = server.service;
  const { query, lookUp } = db;
  const count =
    (send: typeof query): typeof query =>
    async (text, parameters) => {
      await admit(++asked);
      return send(text, parameters);
    };
  Object.assign(db, { query: count(query), lookUp: count(lookUp) });
  const stop = () => {
    Object.assign(db, { query, lookUp });
  };
  return { read: () => asked, stop };
}

describe('an export that is read slowly', () => {
  it('is read on only as the client reads, holds nothing open in the database, and ends when the client leaves', async () => {
    const counted = countStatements();
    // A socket that stops reading. The receive buffer of one that reads grows, on some systems until it holds the whole file.
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(`GET /v1/exports/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${wide.key}\r\n\r\n`);
    await once(socket, 'readable');
    // Buffers on the way hold some megabytes. All 150 pages would take 300 statements.
    let before = -1;
    for (; before !== counted.read(); await sleep(1_000)) before = counted.read();
    expect(before).toBeLessThan(200);
    // Others come and go. What the export held would stay as long as its client waits.
    await waitUntil(async () => {
      const [held] = await server.database.db.sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()
           and (backend_xmin is not null or state like 'idle in transaction%')`;
      return held!.n === 0;
    });
    expect(socket.read(15)?.toString()).toBe('HTTP/1.1 200 OK');
    socket.destroy();
    await sleep(300);
    expect(counted.read()).toBeLessThan(before + 4);
    counted.stop();
  });

  it('ends when the client leaves, also if no page has had a row yet', async () => {
    const own = await Customer.create(server);
    await server.database.db.sql`
      insert into users (integration_id, id, name, described_at)
      select ${own.id}, 'nobody-' || n, 'Nobody', now() from generate_series(1, 30000) n`;
    const controller = new AbortController();
    const counted = countStatements(async (count) => {
      if (count !== 4) return;
      controller.abort();
      await sleep(1_000);
    });
    const read = open(own, 'users', controller.signal).then((response) => response.text());
    await expect(read).rejects.toThrow('aborted');
    await sleep(500);
    // All pages would take over 30 statements.
    expect(counted.read()).toBeLessThan(20);
    counted.stop();
  });

  it('takes memory for a page, however long the list is', async () => {
    const collectGarbage = exposeCollector();
    const measureHeld = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = measureHeld();
    const response = await open(wide);
    let [pieces, bytes, rows, peakBytes] = [0, 0, 0, 0];
    for await (const piece of response.body!) {
      bytes += piece.length;
      rows += Buffer.from(piece).toString().split('\n').length - 1;
      if (++pieces % 50 === 0) peakBytes = Math.max(peakBytes, measureHeld());
    }
    expect(pieces).toBeGreaterThan(200);
    expect(rows).toBe(WIDE_ROWS);
    // Buffers on the way hold some megabytes, more with some versions of Node.
    expect(bytes).toBeGreaterThan(28_000_000);
    expect(peakBytes - before).toBeLessThan(0.75 * bytes);
  });
});

/** Otherwise garbage counts too, and how much there is depends on the version of Node. */
function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

describe('an export that fails in the middle', () => {
  /**
   * Waits for the first bytes, then breaks the database under the export, and reads on. The export waits meanwhile: the
   * buffers of some systems hold all of it.
   */
  async function breakAfter<Begun, Result>(begin: () => Promise<Begun>, readOn: (begun: Begun) => Promise<Result>) {
    const { sql } = server.database.db;
    const broken = createGate();
    const counted = countStatements((count) => (count > 20 ? broken.opened : undefined));
    const begun = await begin();
    await sql`alter table sessions rename to sessions_away`;
    broken.open();
    return readOn(begun).finally(() => {
      counted.stop();
      return sql`alter table sessions_away rename to sessions`;
    });
  }

  it('breaks the connection, so that the client does not take the part for the whole', async () => {
    await breakAfter(
      async () => {
        const { status, body } = await open(wide);
        expect(status).toBe(200);
        const reader = body!.getReader();
        await reader.read();
        return reader;
      },
      async (reader) => {
        const readAll = async () => {
          while (!(await reader.read()).done);
        };
        await expect(readAll()).rejects.toThrow('terminated');
      },
    );
  });

  // Many proxies do. They take the mere end of a connection for the end of the file.
  describe('resets the connection of a client that asks by HTTP/1.0', () => {
    const RESET = 56;
    /** Begins a download with curl, which prints the head of the answer. Answers how it ends. */
    async function beginDownload(url: string, bytesASecond: string) {
      const options = ['-sS', '--http1.0', '--limit-rate', bytesASecond, '-D', '-', '-o', '/dev/null'];
      const request = ['-H', `Authorization: Bearer ${wide.key}`, `${url}/v1/exports/sessions`];
      const curl = spawn('curl', [...options, ...request], { stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = new Promise((resolve) => curl.once('exit', resolve));
      await once(curl.stdout, 'data');
      return { ended };
    }

    it('if the database fails', async () => {
      const ended = await breakAfter(
        () => beginDownload(server.url, '4M'),
        (download) => download.ended,
      );
      expect(ended).toBe(RESET);
    });

    it('if the server stops', async () => {
      const stopping = await startTestServer({}, server);
      const { ended } = await beginDownload(stopping.url, '2M');
      await stopping.stop();
      expect(await ended).toBe(RESET);
    });

    it('if the client has read nothing for too long', async () => {
      const limits = { ...CONNECTION_LIMITS, answerTimeout: 500, connectionsCheckingInterval: 50 };
      const impatient = await startTestServer({}, server, undefined, limits);
      const { ended } = await beginDownload(impatient.url, '200k');
      expect(await ended).toBe(RESET);
      await impatient.stop();
    });
  });

  it('leaves its place to the next one', async () => {
    expect((await wide.get('/v1/exports/users')).status).toBe(200);
  });
});

describe('exports at the same time', () => {
  it('are two of an integration and eight of the process; a place is free again when a client leaves', async () => {
    const others = [wide];
    for (let n = 0; n < 3; n++) {
      others.push(await Customer.create(server));
      await insertWideSessions(server.database.db, others.at(-1)!.id, 8_000);
    }
    const controller = new AbortController();
    // Kept, because the body of an answer that nobody holds is cancelled.
    const held: Response[] = [];
    for (const of of [...others, ...others]) held.push(await open(of, 'sessions', controller.signal));
    expect(held.map(({ status }) => status)).toEqual(held.map(() => 200));
    for (const of of [wide, customer]) {
      for (const path of ['/v1/exports/users', '/v1/users/one/export']) {
        const refused = await of.get(path);
        expectError(refused, 'RATE_LIMITED');
        expect(refused.headers.get('retry-after')).toBe('10');
      }
    }
    controller.abort();
    await waitUntil(async () => (await customer.get('/v1/exports/users')).status === 200);
    const own = new AbortController();
    for (let n = 0; n < 2; n++) held.push(await open(wide, 'sessions', own.signal));
    expectError(await wide.get('/v1/exports/users'), 'RATE_LIMITED');
    expect((await customer.get('/v1/exports/users')).status).toBe(200);
    own.abort();
    expect(held).toHaveLength(10);
  });
});
