import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EventCode } from '../../contract/beacon';
import { coverBatches, coversBatch } from '../../server/collector/coverage';
import { createCutWriter } from '../../server/collector/judge';
import {
  type KeptBatch,
  packBatch,
  packTrace,
  toDocumentId,
  toDocumentNumber,
  unpackBatch,
  unpackTrace,
} from '../../server/collector/packing';
import { createPartitions, pruneTraces } from '../../server/collector/retention';
import type { Progress } from '../../server/collector/session-state';
import { packNumbers } from '../../server/detection/varints';
import { pruneSessions } from '../../server/domain/retention';
import {
  makeSessionsDue,
  moved,
  ORDINARY,
  openPageSite,
  PAGE_ORIGIN,
  PAGE_URL,
  type PageSite,
  pageShown,
  Tab,
  typed,
} from '../support/beacon';
import { eventually } from '../support/eventually';
import { CHROME } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import { webAddress } from '../support/texts';

// What is kept of what pages send: how it is packed, how large it is, and how long it stays.

const DAY_MS = 86_400_000;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('a packed batch', () => {
  const integer = fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -(2 ** 40), max: 2 ** 40 }));
  const hex = (bytes: number) =>
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((list) => Buffer.from(list).toString('hex'));
  const batch = fc.record({
    d: hex(8),
    n: fc.nat(1999),
    receivedAtMs: fc.integer({ min: 1.7e12, max: 1.9e12 }),
    c: fc.tuple(fc.nat(2 ** 31), fc.nat(2 ** 31)),
    events: fc.array(integer, { maxLength: 400 }).map(packNumbers),
    p: fc.array(webAddress, { maxLength: 3 }),
    w: fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 3 }),
  });

  it('is read as it was written, alone and in a trace', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 5 }), async (batches) => {
        const kept: KeptBatch[] = batches;
        for (const { d, n, receivedAtMs, ...content } of kept)
          expect(unpackBatch(packBatch(content), { d, n, receivedAtMs })).toEqual({ d, n, receivedAtMs, ...content });
        expect(unpackTrace(await packTrace(kept))).toEqual(kept);
      }),
      { numRuns: 60 },
    );
    for (const d of ['0'.repeat(16), 'f'.repeat(16), `8${'0'.repeat(15)}`])
      expect(toDocumentId(toDocumentNumber(d))).toBe(d);
  });

  it('is refused if it is cut or grows beyond its bound', () => {
    const { d, n, receivedAtMs, ...content } = {
      d: '0'.repeat(16),
      n: 0,
      receivedAtMs: 0,
      c: [0, 0] as [number, number],
      events: packNumbers(typed(0, 50)),
    };
    const body = packBatch(content);
    expect(() => unpackBatch(body.subarray(0, body.length - 3), { d, n, receivedAtMs })).toThrow();
    expect(() => unpackBatch(Buffer.of(9, 1, 2), { d, n, receivedAtMs })).toThrow();
  });
});

describe('what a cut covers', () => {
  const batchName = ({ d, n }: { d: string; n: number }) => `${d}:${n}`;

  it('is exactly its batches', () => {
    const names = fc.uniqueArray(fc.record({ d: fc.constantFrom('a', 'b', '__proto__'), n: fc.nat(30) }), {
      selector: batchName,
    });
    fc.assert(
      fc.property(names, (batches) => {
        const coverage = JSON.parse(JSON.stringify(coverBatches(batches)));
        const covered = ['a', 'b', '__proto__']
          .flatMap((d) => Array.from({ length: 32 }, (_, n) => ({ d, n })))
          .filter((batch) => coversBatch(coverage, batch));
        expect(covered.map(batchName).sort()).toEqual(batches.map(batchName).sort());
      }),
    );
  });
});

/** Writes the sessions that pages began at a time, with their batches, as the collector does. */
async function writeSessions(site: PageSite, startMs: number, traces: KeptBatch[][]): Promise<void> {
  const rows = traces.map((batches) => ({
    sessionId: `ses_${randomBytes(18).toString('base64url')}`,
    batches: batches.map(({ d, n, receivedAtMs, ...content }) => ({
      ...{ document: toDocumentNumber(d), sequence: n, receivedAt: new Date(receivedAtMs).toISOString() },
      body: packBatch(content).toString('base64'),
    })),
  }));
  await server.service.db.query(
    `with r as (select * from json_to_recordset($1::text::json) as r("sessionId" text, batches json)),
     begun as (
       insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, due_at)
       select $2, "sessionId", $3, $4::timestamptz, ($4::timestamptz at time zone 'UTC')::date, $5, now() + interval '1 hour' from r
       returning key, session_id, day)
     insert into session_batches (day, session_key, document, sequence, received_at, body)
     select begun.day, begun.key, b.document, b.sequence, b."receivedAt", decode(b.body, 'base64')
       from r join begun on begun.session_id = r."sessionId"
       cross join lateral json_to_recordset(r.batches) as b(document bigint, sequence int, "receivedAt" timestamptz, body text)`,
    [JSON.stringify(rows), site.integrationId, site.siteId, new Date(startMs).toISOString(), CHROME],
  );
}

const openPages = async (plan: 'free' | 'enterprise' = 'enterprise') =>
  openPageSite({ db: server.service.db, url: server.url }, await server.createTenant(plan));

const countKept = async ({ integrationId }: PageSite) => {
  const [row] = await server.service.db.query<Record<string, number>>(
    `select count(*)::int as sessions,
            count((select 1 from session_batches b where b.day = c.day and b.session_key = c.key limit 1))::int as batches,
            count((select 1 from session_traces t where t.day = c.day and t.session_key = c.key))::int as traces
       from collected_sessions c where integration_id = $1`,
    [integrationId],
  );
  return row;
};

it('a session that is locked, as by an erasure, does not hold up the cuts of others', async () => {
  const own = await openPages();
  const { db } = server.service;
  const startMs = Date.now();
  await writeSessions(own, startMs, [[], []]);
  const rows = await db.query<{ key: string }>('select key from collected_sessions where integration_id = $1', [
    own.integrationId,
  ]);
  const [locked, free] = rows.map(({ key }) => key) as [string, string];
  const writeCut = createCutWriter(db);
  const write = (key: string) =>
    writeCut({
      ...{ key, version: 0, progress: {} as Progress, dueAt: new Date(startMs + DAY_MS).toISOString(), closedAt: null },
      ...{ day: new Date(startMs).toISOString().slice(0, 10), batches: null, digests: null, isReplay: null },
    });
  await db.transact(async (query) => {
    await query('select from collected_sessions where key = $1::bigint for update', [locked]);
    expect(await Promise.all([write(locked), write(free)])).toEqual([null, expect.objectContaining({ botAt: 70 })]);
  });
  expect(await write(locked)).toMatchObject({ botAt: 70 });
  expect(await write(free)).toBeNull();
});

describe('the size of a session', () => {
  const MINUTES = 5;
  const SESSIONS = 30;
  /** Two seconds of somebody who writes: four keys with their input events, some moves, now and then a press. */
  function writeBatch(d: string, n: number, startMs: number): KeptBatch {
    const at10 = n * 20_000 + 100;
    const inputs = typed(200, 4).flatMap((value, place) =>
      place % 9 === 8 ? [value, EventCode.Input, 15, 0, 1, 1, 40 + n * 4 + (place >> 3), 1 + 128] : [value],
    );
    const press = [EventCode.Press, 2_345, 0, 0, 4_120 + n, 3_380, 37 - n, -12, 0, 0, 50, 0, 850, 5, 1];
    const events = [
      ...moved(at10, 8),
      ...inputs,
      ...(n % 5 === 0 ? [...press, EventCode.Release, 900, 0, 900, 1] : []),
    ];
    return {
      ...{ d, n, c: [at10 / 10 + 1_900, startMs + at10 / 10 + 1_900], receivedAtMs: startMs + n * 2_000 + 2_000 },
      ...(n === 0
        ? { e: ORDINARY, p: [PAGE_URL], origin: PAGE_ORIGIN, events: packNumbers([...pageShown(0), ...events]) }
        : { events: packNumbers(events) }),
    };
  }
  const measure = async () => {
    // Not the product's pool, which limits the time of a statement: on a busy machine a vacuum may take long.
    const sql = postgres(server.database.url, { max: 1, onnotice: () => {} });
    try {
      // Its rows are updated a few times until they close; the space of their old versions is used again.
      await sql`vacuum full collected_sessions`;
      await sql`vacuum analyze session_batches_default, session_traces_default, session_events`;
      const [row] = await sql<Record<'batches' | 'traces' | 'events' | 'sessions', number>[]>`
        select pg_total_relation_size('session_batches_default')::int as batches,
               pg_total_relation_size('session_traces_default')::int as traces,
               pg_total_relation_size('session_events')::int as events,
               pg_total_relation_size('collected_sessions')::int as sessions`;
      return row!;
    } finally {
      await sql.end();
    }
  };

  it('is at most 6 KB for a minute of activity, with its indexes and events', async () => {
    const own = await openPages();
    const startMs = Date.now() - 3_600_000;
    const before = await measure();
    const traces = Array.from({ length: SESSIONS }, () => {
      const d = randomBytes(8).toString('hex');
      return Array.from({ length: 30 * MINUTES }, (_, n) => writeBatch(d, n, startMs));
    });
    await writeSessions(own, startMs, traces);
    const open = await measure();
    await makeSessionsDue(server.service.db, own);
    await server.service.collector.sweep();
    await expect.poll(() => countKept(own)).toEqual({ sessions: SESSIONS, batches: 0, traces: SESSIONS });
    const perMinute = (bytes: number) => Math.round(bytes / SESSIONS / MINUTES);
    expect(perMinute(open.batches - before.batches)).toBeLessThan(12_000);
    // Old versions of rows can be removed only when no transaction of another connection may still see them.
    await expect
      .poll(async () => {
        const closed = await measure();
        const grown = (['traces', 'events', 'sessions'] as const).map((name) => closed[name] - before[name]);
        return perMinute(grown.reduce((sum, bytes) => sum + bytes));
      })
      .toBeLessThan(6_144);
  });
});

describe('partitions', () => {
  const listPartitions = async () => {
    const rows = await server.service.db.query<{ name: string }>(
      `select c.relname as name from pg_inherits h join pg_class c on c.oid = h.inhrelid
        where h.inhparent in ('session_batches'::regclass, 'session_traces'::regclass) order by 1`,
      [],
    );
    return rows.map(({ name }) => name);
  };
  const day = (text: string) => Date.parse(`${text}T12:00:00Z`);
  const makePageBatch = (receivedAtMs: number): KeptBatch => ({
    ...{ d: '0'.repeat(16), n: 0, c: [0, 0], receivedAtMs },
    events: packNumbers(pageShown(0)),
  });

  it('are made for the next days, once, and are dropped with what they hold', async () => {
    const { db } = server.service;
    const defaults = ['session_batches_default', 'session_traces_default'];
    const nowMs = day('2025-03-01');
    const made = await Promise.all([createPartitions(db, nowMs), createPartitions(db, nowMs)]);
    expect(Math.max(...made)).toBe(8);
    const days = ['20250301', '20250302', '20250303', '20250304'];
    const expected = ['batches', 'traces'].flatMap((table) => days.map((name) => `session_${table}_${name}`));
    expect(await listPartitions()).toEqual([...expected, ...defaults].sort());
    const own = await openPages();
    const batch = makePageBatch(nowMs);
    await writeSessions(own, nowMs, [[batch], [batch]]);
    await writeSessions(own, nowMs + DAY_MS, [[batch]]);
    // What was kept before its partition was made is in the default partition, and goes too.
    await writeSessions(own, nowMs - DAY_MS, [[batch]]);
    expect(await countKept(own)).toEqual({ sessions: 4, batches: 4, traces: 0 });
    expect(await pruneTraces(db, 1, nowMs + DAY_MS)).toBe(1);
    expect(await countKept(own)).toEqual({ sessions: 3, batches: 3, traces: 0 });
    expect(await pruneTraces(db, 1, nowMs + 2 * DAY_MS)).toBe(2);
    expect(await countKept(own)).toEqual({ sessions: 1, batches: 1, traces: 0 });
    expect(await listPartitions()).toHaveLength(8);
    expect(await pruneTraces(db, 1, nowMs + 10 * DAY_MS)).toBe(1);
    expect(await listPartitions()).toEqual(defaults);
  });

  it('that a backup reads are dropped by a later run, which does not keep other traces any longer', async () => {
    const { db } = server.service;
    const nowMs = day('2025-04-01');
    await createPartitions(db, nowMs);
    const own = await openPages('free');
    const batch = makePageBatch(nowMs);
    await writeSessions(own, nowMs, [[batch]]);
    await writeSessions(own, nowMs - DAY_MS, [[batch]]);
    await db.sql.begin(async (tx) => {
      await tx.unsafe('lock table session_batches_20250401 in access share mode');
      await pruneTraces(db, 1, nowMs + 10 * DAY_MS);
      expect((await listPartitions()).filter((name) => !name.endsWith('default'))).toEqual([
        'session_batches_20250401',
      ]);
      expect(await countKept(own)).toEqual({ sessions: 0, batches: 0, traces: 0 });
    });
    await pruneTraces(db, 1, nowMs + 10 * DAY_MS);
    expect((await listPartitions()).every((name) => name.endsWith('default'))).toBe(true);
  });

  it('are kept by the time of the database, however wrong the clock of the process is', async () => {
    const { db } = server.service;
    const own = await openPages();
    const nowMs = Date.now();
    await writeSessions(own, nowMs, [[makePageBatch(nowMs)]]);
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs + 400 * DAY_MS });
    try {
      await createPartitions(db);
      await pruneTraces(db, 1);
    } finally {
      vi.useRealTimers();
    }
    expect(await countKept(own)).toEqual({ sessions: 1, batches: 1, traces: 0 });
    await pruneTraces(db, 1, nowMs + 10 * DAY_MS);
  });

  it('leave a day alone that began before them', async () => {
    const { db } = server.service;
    const nowMs = day('2025-06-01');
    const own = await openPages();
    const batch = makePageBatch(nowMs);
    await writeSessions(own, nowMs, [[batch]]);
    expect(await createPartitions(db, nowMs)).toBe(7);
    expect(await countKept(own)).toEqual({ sessions: 1, batches: 1, traces: 0 });
    await pruneTraces(db, 1, nowMs + 10 * DAY_MS);
  });

  it('keep no trace of a session that retention removes, not even until the end of the day', async () => {
    const { db, collector } = server.service;
    const site = await openPages('free');
    const tab = new Tab(site);
    await tab.send({ x: 1 });
    await eventually(async () => {
      await collector.sweep();
      expect(await countKept(site)).toEqual({ sessions: 1, batches: 0, traces: 1 });
    });
    const ofSite = db.sql`integration_id = ${site.integrationId}`;
    const [kept] = await db.sql`select key from collected_sessions where ${ofSite}`;
    await db.sql`update sessions set created_at = now() - interval '30 days 1 minute' where ${ofSite}`;
    await pruneSessions(db);
    expect(await countKept(site)).toEqual({ sessions: 0, batches: 0, traces: 0 });
    expect([...(await db.sql`select 1 from session_traces where session_key = ${kept!.key}`)]).toEqual([]);
  });

  it('do not keep traces longer than the plan keeps sessions', async () => {
    const { db } = server.service;
    const [free, enterprise] = [await openPages('free'), await openPages()];
    const nowMs = day('2025-09-30');
    const batch = makePageBatch(nowMs);
    for (const site of [free, enterprise]) await writeSessions(site, nowMs - 40 * DAY_MS, [[batch]]);
    await pruneTraces(db, 90, nowMs);
    expect(await countKept(free)).toEqual({ sessions: 0, batches: 0, traces: 0 });
    expect(await countKept(enterprise)).toEqual({ sessions: 1, batches: 1, traces: 0 });
  });
});
