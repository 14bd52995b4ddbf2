import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventCode, MAX_EVENT_VALUES, MAX_SESSION_BATCHES } from '../../contract/beacon';
import { type FoundRecording, MAX_RECORDING_BYTES, type Recording } from '../../contract/recordings';
import { type KeptBatch, packBatch, packTrace, toDocumentNumber } from '../../server/collector/packing';
import { pruneTraces } from '../../server/collector/retention';
import { packNumbers, unpackNumbers } from '../../server/detection/varints';
import { moved, ORDINARY, openPageSite, PAGE_URL, type PageSite, pageShown, Tab, typed } from '../support/beacon';
import { beginWindow } from '../support/clock-window';
import { CHROME, scoredSession } from '../support/facts';
import { makeLargestBatches } from '../support/largest-trace';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// What staff see of what pages sent: from the open session to the day after which it is gone.

const DAY_MS = 86_400_000;
/** Longer than the plan `free` keeps sessions, and shorter than the others. */
const TRACE_DAYS = 60;
const FREE_DAYS = 30;
/** Reading a recording may take so many times as long as writing and reading its numbers as JSON. */
const MAX_RATIO = 20;
const MAX_READ_NUMBERS = 250_000;

let server: TestServer;
let admin: StaffClient;
let viewer: StaffClient;
let site: PageSite;
beforeAll(async () => {
  server = await startStaffServer({ TRACE_DAYS: String(TRACE_DAYS), SESSION_GONE: '1s' });
  admin = await createStaffClient(server, 'admin');
  viewer = await createStaffClient(server, 'viewer');
  site = await openSite();
});
afterAll(() => server.stop());

const openSite = async (plan: 'free' | 'enterprise' = 'enterprise') =>
  openPageSite({ db: server.service.db, url: server.url }, await server.createTenant(plan));

const ask = (
  sessionId: string,
  { integrationId }: { integrationId: string } = site,
  procedure = 'get',
  staff = admin,
) => staff.query(`recordings.${procedure}`, { sessionId }, { 'x-integration-id': integrationId });
async function read(sessionId: string, of?: { integrationId: string }): Promise<FoundRecording> {
  const { status, body, text } = await ask(sessionId, of);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return body.result.data;
}
async function readKept(sessionId: string): Promise<Recording> {
  const { state, recording } = await read(sessionId);
  expect(state).toBe('kept');
  return recording!;
}

/** A press of a button, 60 × 20 pixels, a little above and left of its middle. */
const pressed = (at10: number, x: number, y: number) => [
  ...[EventCode.Press, at10, 0, 0, x * 10, y * 10, -50, -20, 60, 20, 50, 0, 850, 3, 1],
  ...[EventCode.Release, 900, 0, 900, 1],
];
/** A visitor who moves, presses, writes and pastes. */
async function visit(own: PageSite = site): Promise<{ tab: Tab; sessionId: string }> {
  const tab = new Tab(own);
  await tab.send({ ev: [...pageShown(0), ...moved(1_000, 20), ...pressed(500, 400, 300)], p: [PAGE_URL] });
  await tab.send({ ev: [...typed(60_000, 30), EventCode.Clipboard, 900, 0, 300, 1] });
  const [row] = await server.service.db.query<{ id: string }>(
    'select session_id as id from collected_sessions where integration_id = $1 order by key desc limit 1',
    [own.integrationId],
  );
  const isKnown = async () => (await ask(row!.id, own, 'find')).status;
  await expect.poll(isKnown).toBe(200);
  return { tab, sessionId: row!.id };
}
async function end(tab: Tab, sessionId: string) {
  await tab.send({ ev: [], x: 1 });
  const isJoined = async () => {
    const [row] = await server.service.db.query<{ due: string | null }>(
      'select due_at as due from collected_sessions where session_id = $1',
      [sessionId],
    );
    return row!.due === null;
  };
  await expect.poll(isJoined).toBe(true);
}

describe('a recording', () => {
  it('is that of an open session, and the same after it was closed, with what arrived too late', async () => {
    const { tab, sessionId } = await visit();
    const open = await readKept(sessionId);
    const [document] = open.documents;
    expect(open.documents).toHaveLength(1);
    expect(open.urls).toEqual([PAGE_URL]);
    expect(document).toMatchObject({ isFramed: false, windows: [0, 1280, 700], pages: [0, 0] });
    expect(document!.presses.slice(1)).toEqual([0, 400, 300, 375, 292, 60, 20, 3, 90, 0]);
    expect(document!.keys.length).toBe(30 * 3);
    expect(document!.texts.slice(1)).toEqual([0, 2]);
    expect(document!.path.length).toBeGreaterThan(6);
    await end(tab, sessionId);
    expect(await readKept(sessionId)).toEqual(open);
    expect((await tab.send({ ev: typed(200_000, 2) })).status).toBe(200);
    await expect.poll(async () => (await readKept(sessionId)).documents[0]!.keys.length).toBe(32 * 3);
  });

  it('has the times of the findings', async () => {
    const { tab, sessionId } = await visit();
    await tab.send({ ev: [...moved(300_000, 9), ...pressed(500, 500, 400), ...pressed(9_000, 800, 500)] });
    await end(tab, sessionId);
    const { documents } = await readKept(sessionId);
    const { createdAt } = (await server.call('GET', `/v1/sessions/${sessionId}`, { key: site.key })).body.data;
    const { findings } = (await server.call('GET', `/v1/sessions/${sessionId}/evidence`, { key: site.key })).body.data;
    const noApproach = findings.find(({ flag }: { flag: string }) => flag === 'no-approach');
    expect(noApproach).toBeDefined();
    const [{ startMs, presses }] = documents as [Recording['documents'][number]];
    let atMs = startMs;
    const pressesMs = Array.from({ length: presses.length / 11 }, (_, place) => {
      atMs += presses[place * 11]!;
      return atMs;
    });
    for (const moment of noApproach.moments) expect(pressesMs).toContain(Date.parse(moment) - Date.parse(createdAt));
  });

  it('is for staff alone, of every role, and of the integration that they look at', async () => {
    const { sessionId } = await visit();
    for (const procedure of ['find', 'get']) {
      expect((await ask(sessionId, site, procedure, viewer)).status).toBe(200);
      const other = await openSite();
      for (const [id, of] of [
        [sessionId, other],
        ['no-such-session', site],
      ] as const) {
        const refused = await ask(id, of, procedure);
        expect([refused.status, refused.body.error.message]).toEqual([404, 'Session not found']);
      }
      const path = `/api/trpc/recordings.${procedure}?input=${encodeURIComponent(JSON.stringify({ sessionId }))}`;
      const headers = { 'x-integration-id': site.integrationId };
      expect((await server.call('GET', path, { key: site.key, headers })).status).toBe(401);
    }
    expect((await server.call('GET', `/v1/sessions/${sessionId}/recording`, { key: site.key })).status).toBe(404);
  });

  it('does not exist of a session from a pipeline', async () => {
    await server.ingest(site.integrationId, scoredSession(0.9, 'of-a-pipeline').facts);
    const none = { state: 'none', keptUntil: null, removedOn: null };
    expect(await read('of-a-pipeline')).toEqual({ ...none, recording: null });
    expect((await ask('of-a-pipeline', site, 'find')).body.result.data).toEqual(none);
  });
});

describe('a recording that is over its time', () => {
  /** Makes a session some days older, with all that is kept of it. */
  const age = (sessionId: string, days: number) =>
    server.service.db.query(
      `with old as (update collected_sessions set day = day - $2::int, created_at = created_at - $2::int * interval '1 day'
                     where session_id = $1 returning key, day),
            session as (update sessions set created_at = created_at - $2::int * interval '1 day' where id = $1)
       update session_traces t set day = old.day from old where t.session_key = old.key`,
      [sessionId, days],
    );
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

  it.each([
    ['TRACE_DAYS', 'enterprise', TRACE_DAYS],
    ['the plan', 'free', FREE_DAYS],
  ] as const)(
    'is not shown after the days of %s, whether or not it is removed yet; the findings stay',
    async (_, plan, days) => {
      await beginWindow(server.service.db, DAY_MS, 20_000);
      const own = await openSite(plan);
      const { tab, sessionId } = await visit(own);
      await end(tab, sessionId);
      const today = Date.now();
      expect(await read(sessionId, own)).toMatchObject({ state: 'kept', keptUntil: dayOf(today + days * DAY_MS) });
      await age(sessionId, days);
      expect(await read(sessionId, own)).toMatchObject({ state: 'kept', keptUntil: dayOf(today) });
      await age(sessionId, 3);
      const removed = { state: 'removed', keptUntil: null, removedOn: dayOf(today - 2 * DAY_MS), recording: null };
      expect(await read(sessionId, own)).toEqual(removed);
      await pruneTraces(server.service.db, TRACE_DAYS);
      const [left] = await server.service.db.query<{ count: number }>(
        'select count(*)::int as count from collected_sessions where session_id = $1',
        [sessionId],
      );
      expect(left!.count).toBe(0);
      expect(await read(sessionId, own)).toEqual(removed);
      const evidence = await server.call('GET', `/v1/sessions/${sessionId}/evidence`, { key: own.key });
      expect(evidence.body.data.findings.length).toBeGreaterThan(20);
    },
  );
});

/** The least time of the processor, in milliseconds, of eight runs. Of this process, so that others do not count. */
async function measureLeastCpu(work: () => unknown): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8; run++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    leastMs = Math.min(leastMs, (user + system) / 1_000);
  }
  return leastMs;
}

describe('the recording of the largest session that the collector takes', () => {
  const START_MS = Date.now() - 8 * 3_600_000;
  const keep = (n: number, ev: number[], more: Partial<KeptBatch> = {}): KeptBatch => ({
    ...{ d: 'a'.repeat(16), n, c: [n * 14_000, START_MS + n * 14_000], receivedAtMs: START_MS + n * 14_000 },
    ...{ events: packNumbers([ev[0]!, n * 140_000, ...ev.slice(2)]), ...(n === 0 && { e: ORDINARY }), ...more },
  });
  /** Everything that fits into a batch: the smallest event, as often as it can be. */
  const still = Array.from({ length: MAX_EVENT_VALUES / 4 }, () => [EventCode.Move, 9, 1, 0]).flat();

  async function store(batches: KeptBatch[], isOpen: boolean): Promise<string> {
    const sessionId = `ses_${randomBytes(18).toString('base64url')}`;
    await server.ingest(site.integrationId, [
      { ...scoredSession(0.1, sessionId).facts[0]!, startedAt: new Date(START_MS).toISOString() },
    ]);
    const [row] = await server.service.db.query<{ key: string; day: string }>(
      `insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
       values ($1, $2, $3, $4, ($4::timestamptz at time zone 'UTC')::date, $5) returning key, day::text`,
      [site.integrationId, sessionId, site.siteId, new Date(START_MS).toISOString(), CHROME],
    );
    const place = [row!.day, row!.key];
    if (!isOpen) {
      await server.service.db.query(
        "insert into session_traces (day, session_key, batches, body) values ($1::date, $2::bigint, $3, decode($4, 'base64'))",
        [...place, batches.length, (await packTrace(batches)).toString('base64')],
      );
      return sessionId;
    }
    const rows = batches.map(({ d, n, receivedAtMs, ...content }) => ({
      ...{ document: toDocumentNumber(d), sequence: n, at: new Date(receivedAtMs).toISOString() },
      body: packBatch(content).toString('base64'),
    }));
    await server.service.db.query(
      `insert into session_batches (day, session_key, document, sequence, received_at, body)
       select $1::date, $2::bigint, document, sequence, at, decode(body, 'base64')
         from json_to_recordset($3::text::json) as r(document bigint, sequence int, at timestamptz, body text)`,
      [...place, JSON.stringify(rows)],
    );
    return sessionId;
  }

  /** A session closes soon after 500,000 numbers; this is what may arrive until then, and too late, four times over. */
  const makeStill = () => Array.from({ length: 200 }, (_, n) => keep(n, still));
  const makeEverything = (maxBytes: number, count: number) => {
    const batches: KeptBatch[] = [];
    for (const { ev, p, n } of makeLargestBatches('everything', 1, maxBytes)) {
      batches.push(keep(n, ev, { p }));
      if (batches.length === count) break;
    }
    return batches;
  };

  it.each([
    ['nothing but moves', false, makeStill],
    ['everything, which hardly packs', false, () => makeEverything(60_000, 100)],
    ['everything in small batches, while it is open', true, () => makeEverything(300, MAX_SESSION_BATCHES)],
  ] as const)('%s, is answered within bounds, and says until when it is shown', async (_, isOpen, make) => {
    const batches = make();
    const sessionId = await store(batches, isOpen);
    const scope = { integration: { id: site.integrationId, plan: 'enterprise', tier: 'enterprise' } } as never;
    let answer: FoundRecording | undefined;
    const ours = await measureLeastCpu(async () => {
      answer = await server.service.recordings.read(scope, { sessionId });
    });
    const numbers = batches.flatMap(({ events }) => unpackNumbers(events)).slice(0, MAX_READ_NUMBERS);
    const floor = await measureLeastCpu(() => JSON.parse(JSON.stringify(numbers)));
    expect(ours / floor).toBeLessThan(MAX_RATIO);
    const { text } = await ask(sessionId);
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_RECORDING_BYTES);
    const { cutMs, endMs } = answer!.recording!;
    expect(cutMs).toBeGreaterThan(0);
    expect(endMs).toBeLessThanOrEqual(cutMs!);
  });
});
