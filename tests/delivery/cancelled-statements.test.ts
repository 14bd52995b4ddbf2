import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../db/client';
import { scoredSession } from '../support/facts';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Postgres cancels statements and ends connections in the middle of a result. No answer contains rows or errors of another.

/**
 * Enough: when rows of a broken result stayed in the connection, two answers or more of each run were wrong. A busy machine
 * takes longer for them.
 */
const CANCELLED = 200;
const ENDED = 8;
const DISTURBED_LIMIT_MS = 90_000;
const READERS = 8;
/** As many as fit into one batch of facts. */
const SESSIONS = 150;

let server: TestServer;
let admin: postgres.Sql;
beforeAll(async () => {
  server = await startTestServer({ QUOTA_ENTERPRISE: '100000000' });
  admin = postgres(server.database.url, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

it('a statement that reaches its time limit in the middle of its result leaves no rows behind', async () => {
  const db = openDatabase({ url: server.database.url, maxConnections: 1, statementLimitMs: 100 });
  const slow = db.query('select n, pg_sleep(case when n = 4 then 9 else 0 end) from generate_series(1, 9) n', []);
  const next = db.query('select n from generate_series(1, 2) n', []);
  await expect(slow).rejects.toMatchObject({ code: '57014' });
  expect(await next).toEqual([{ n: 1 }, { n: 2 }]);
  await db.close();
});

it('while statements are cancelled and connections are ended, every answer is right or 503', async () => {
  const [reads, writes] = [await server.createTenant(), await server.createTenant()];
  const stories = Array.from({ length: SESSIONS }, (_, n) => scoredSession((n % 10) / 10, `session-${n}`));
  expect(
    (
      await server.ingest(
        reads.id,
        stories.flatMap(({ facts }) => facts),
      )
    ).status,
  ).toBe(200);
  const asks = [
    '/v1/sessions?pageSize=100',
    '/v1/sessions/session-7',
    '/v1/sessions?pageSize=100&maxBotScore=0.6',
    '/v1/analytics?period=7d',
    '/v1/integration',
    '/v1/sessions/unknown',
  ].map((path) => ({ path, key: reads.key }));
  asks.push({ path: '/v1/integration', key: `aik_v1_${'x'.repeat(40)}` });
  const ask = async ({ path, key }: (typeof asks)[number]) => {
    const { status, text, body } = await server.call('GET', path, { key });
    // The other fields of analytics depend on the time of the request.
    return { path, status, text: body.data?.summary ? JSON.stringify(body.data.summary) : text };
  };
  const expected = await Promise.all(asks.map(ask));
  expect(expected.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404, 401]);

  let isOver = false;
  const counts = { right: 0, unavailable: 0, cancelled: 0, ended: 0 };
  const wrong: unknown[] = [];
  const read = async (first: number) => {
    for (let n = first; !isOver; n = (n + 1) % asks.length) {
      const answer = await ask(asks[n]!);
      if (answer.status === 503) counts.unavailable++;
      else if (answer.text === expected[n]!.text) counts.right++;
      else wrong.push(answer);
      await delay(10);
    }
  };
  const stored: string[] = [];
  /** Sends sessions and labels of them, each until it is accepted. */
  const write = async () => {
    while (!isOver) {
      const { sessionId, facts } = scoredSession(0.5);
      const label = { key: writes.key, body: { verdict: 'bot', notes: sessionId } };
      const sends = [
        () => server.ingest(writes.id, facts),
        () => server.call('POST', `/v1/sessions/${sessionId}/label`, label),
      ];
      for (const send of sends) {
        await waitUntil(async () => {
          const { status, text } = await send();
          if (status !== 200 && status !== 503) wrong.push({ status, text });
          return status === 200;
        });
      }
      stored.push(sessionId);
    }
  };
  const disturb = async () => {
    for (let n = 1; !isOver; n++) {
      const [act, kind] = n % 20 === 0 ? (['terminate', 'ended'] as const) : (['cancel', 'cancelled'] as const);
      const hit = await admin.unsafe(`select pg_${act}_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'active'`);
      counts[kind] += hit.length;
      await delay(5);
    }
  };
  const work = [disturb(), write(), ...Array.from({ length: READERS }, (_, n) => read(n % asks.length))];
  const isDisturbed = () => counts.cancelled >= CANCELLED && counts.ended >= ENDED;
  await waitUntil(isDisturbed, DISTURBED_LIMIT_MS).finally(() => {
    isOver = true;
  });
  await Promise.all(work);

  expect({ wrong: wrong.slice(0, 3), of: wrong.length }).toEqual({ wrong: [], of: 0 });
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  const listed = await admin`select id, label_notes from sessions where integration_id = ${writes.id} order by id`;
  expect(listed.map((row) => [row.id, row.label_notes])).toEqual(stored.sort().map((id) => [id, id]));
});
