import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_BEACON_BYTES } from '../../contract/beacon';
import { createCollector } from '../../server/collector/collector';
import { unpackTrace } from '../../server/collector/packing';
import { deriveSessionId, issueToken } from '../../server/collector/tokens';
import { findUnsentCuts } from '../../server/collector/unsent-cuts';
import {
  collectDirectly,
  DRIVEN,
  makeSessionsDue,
  moved,
  openPageSite,
  PAGE_ORIGIN,
  type PageSite,
  pageLeft,
  pageShown,
  Tab,
  typed,
} from '../support/beacon';
import { Connection } from '../support/connection';
import { createTestDatabase } from '../support/database';
import { createGate } from '../support/gate';
import { endProducts } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import { type Client, startTestServer, type TestServer } from '../support/server';
import { openSite, type Server } from '../support/site';

// Sessions of pages from their first batch to their close: in time, in order, and exactly once, whatever dies in between.

const GONE_MS = 1_500;
const IDLE_MS = 3_000;
/** The close follows its due time within this time (detection: The collector). */
const CLOSE_WITHIN_MS = 5_000;
const FACTS_WITHIN_MS = 2_000;
/** A key goes down and up. */
const EVENTS_OF_KEY = 2;
const SETTINGS = { SESSION_GONE: `${GONE_MS}ms`, SESSION_IDLE: `${IDLE_MS}ms` };

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ ...SETTINGS, WEBHOOK_ALLOW_HOSTS: receiver.host });
  server.service.collector.start();
});
afterAll(async () => {
  await endProducts();
  await server.stop();
  await receiver.stop();
});

const openPages = async () => openPageSite({ db: server.service.db, url: server.url }, await server.createTenant());
const getSessions = async (client: Client, { key }: { key: string }) =>
  (await client.call('GET', '/v1/sessions', { key })).body.data;
const getSession = async (of: PageSite) => (await getSessions(server, of))[0];
const listEvents = async (client: Client, { key }: { key: string }, id: string) =>
  (await client.call('GET', `/v1/sessions/${id}/events?pageSize=100`, { key })).body.data;

interface EventRow {
  sequence: number;
  type: string;
  eventCount: number;
}
const countEvents = (events: EventRow[], type: string) =>
  events.filter((event) => event.type === type).reduce((sum, { eventCount }) => sum + eventCount, 0);

interface Kept {
  dueAt: string | null;
  closedAt: string | null;
  batches: number;
  traces: number;
  body: Buffer | null;
}
async function readKept(of: PageSite, db = server.service.db): Promise<Kept> {
  const [row] = await db.query<Kept>(
    `select c.due_at as "dueAt", c.closed_at as "closedAt", t.body, coalesce(t.batches, 0) as traces,
            (select count(*)::int from session_batches b where b.day = c.day and b.session_key = c.key) as batches
       from collected_sessions c left join session_traces t on t.day = c.day and t.session_key = c.key
      where c.integration_id = $1`,
    [of.integrationId],
  );
  return row!;
}

/** A process that is busy with other tests may not take a batch at once. */
async function sendUntilTaken(tab: Tab) {
  const beacon = tab.make();
  while ((await tab.post(beacon)).status !== 200) await sleep(100);
}

describe('a session of a page', () => {
  it('has its facts within two seconds, and closes after its page was left', async () => {
    const own = await openPages();
    const { body: subscription } = await server.call('POST', '/v1/webhooks', {
      key: own.key,
      body: { url: `${receiver.url}/told`, eventType: 'BotDetected' },
    });
    expect(subscription.data.id).toBeDefined();
    const tab = new Tab(own, DRIVEN);
    const sentAt = Date.now();
    await tab.send({ ev: [...pageShown(0), ...moved(10, 20)] });
    await waitUntil(async () => (await getSession(own))?.botScore != null, FACTS_WITHIN_MS);
    expect(Date.now() - sentAt).toBeLessThan(FACTS_WITHIN_MS);
    await tab.send({ ev: typed(tab.now10, 12) });
    await tab.send({ ev: pageLeft(tab.now10) });
    const leftAt = Date.now();
    await waitUntil(async () => (await getSession(own)).status === 'Scored', GONE_MS + CLOSE_WITHIN_MS);
    expect(Date.now() - leftAt).toBeGreaterThan(GONE_MS - 200);
    const session = await getSession(own);
    const events = await listEvents(server, own, session.id);
    expect(events.map(({ sequence }: EventRow) => sequence)).toEqual(events.map((_: EventRow, n: number) => n));
    expect(countEvents(events, 'keyboard')).toBeGreaterThan(0);
    expect(countEvents(events, 'mouse')).toBeGreaterThan(0);
    // BotDetected is told once, at the close.
    await waitUntil(() => receiver.received.some(({ path }) => path === '/told'));
    await sleep(500);
    expect(receiver.received.filter(({ path }) => path === '/told')).toHaveLength(1);
    // The batches became one trace, which says the same.
    await waitUntil(async () => (await readKept(own)).dueAt === null);
    const kept = await readKept(own);
    expect([kept.batches, kept.traces]).toEqual([0, 3]);
    const trace = unpackTrace(kept.body!);
    expect(trace.map(({ n }) => n)).toEqual([0, 1, 2]);
    expect(trace[0]).toMatchObject({ e: DRIVEN, p: [expect.stringContaining('/quizzes/1')] });
  });

  it('goes on when another page of it appears in time', async () => {
    const own = await openPages();
    const tab = new Tab(own);
    await tab.send({ ev: [...pageShown(0), ...pageLeft(50)] });
    await sleep(GONE_MS / 2);
    tab.navigate();
    await tab.send();
    await sleep(GONE_MS);
    expect((await getSession(own)).status).toBe('Active');
    expect(await getSessions(server, own)).toHaveLength(1);
  });

  it('closes without a sign, and at once when the page ends it', async () => {
    const [idle, ended] = [await openPages(), await openPages()];
    const tab = new Tab(ended);
    await Promise.all([new Tab(idle).send(), tab.send()]);
    const endedAt = Date.now();
    await tab.send({ x: 1 });
    await waitUntil(async () => (await getSession(ended))?.status === 'Scored', CLOSE_WITHIN_MS);
    expect(Date.now() - endedAt).toBeLessThan(IDLE_MS);
    expect((await getSession(idle)).status).toBe('Active');
    await waitUntil(async () => (await getSession(idle)).status === 'Scored', IDLE_MS + CLOSE_WITHIN_MS);
  });

  it('that was over long ago does not begin again, although nothing is known of it any more', async () => {
    const own = await openPages();
    const { collectorKey } = server.service.secrets;
    const { integrationId } = own;
    const makeTab = (hoursAgo: number) => {
      const tab = new Tab(own);
      const sessionId = deriveSessionId(collectorKey, own.siteId, tab.nonce);
      tab.token = issueToken(collectorKey, { integrationId, sessionId }, Date.now() - hoursAgo * 3_600_000);
      return tab;
    };
    const [over, running] = [makeTab(24 * 31), makeTab(7)];
    for (let n = 0; n < 2; n++) expect((await over.send()).body).toEqual({ ended: true });
    expect(await readKept(own)).toBeUndefined();
    expect((await running.send()).body).toEqual({});
    await waitUntil(async () => (await getSessions(server, own)).length === 1);
  });

  it('that began before the clock of the database was set back is judged on', async () => {
    const own = await openPages();
    const tab = new Tab(own);
    await tab.send();
    await waitUntil(async () => (await getSession(own))?.riskLevel === 'human');
    const { query } = server.service.db;
    const ofSite = [own.integrationId];
    await query(
      `update session_batches b set received_at = received_at + interval '2 hours'
         from collected_sessions c where c.key = b.session_key and c.day = b.day and c.integration_id = $1`,
      ofSite,
    );
    await query(
      `update collected_sessions set created_at = created_at + interval '2 hours', due_at = due_at + interval '2 hours'
        where integration_id = $1`,
      ofSite,
    );
    // It knows of the session what the database says.
    const second = await startTestServer(SETTINGS, server);
    try {
      tab.navigate();
      expect((await tab.post(tab.make({ e: DRIVEN }), {}, second.url)).status).toBe(200);
      await waitUntil(async () => (await getSession(own)).riskLevel === 'bot', 10_000);
    } finally {
      await second.stop();
    }
  });

  it('closes in time while many others go on', async () => {
    const own = await openPages();
    const others = Array.from({ length: 520 }, () => new Tab(own));
    const beganAt = performance.now();
    // The second batch brings nothing to tell yet, so a later judgement of each session is planned.
    for (let round = 0; round < 2; round++)
      for (let from = 0; from < others.length; from += 40)
        await Promise.all(others.slice(from, from + 40).map(sendUntilTaken));
    const leaving = await openPages();
    await new Tab(leaving).send({ ev: [...pageShown(0), ...pageLeft(10)] });
    const isClosed = async () => (await readKept(leaving)).closedAt !== null;
    // A busy machine, on which the others go idle meanwhile, also takes longer to close them.
    const busyMs = performance.now() - beganAt;
    await waitUntil(isClosed, GONE_MS + CLOSE_WITHIN_MS + busyMs);
    // Their closes would delay those of the tests that follow.
    const isQuiet = async () => {
      const open = 'select from collected_sessions where integration_id = $1 and due_at is not null';
      return (await server.service.db.query(open, [own.integrationId])).length === 0;
    };
    await waitUntil(isQuiet);
  });

  it('tells its final facts in one piece: events, score, close', async () => {
    const own = await openPages();
    const told: string[][] = [];
    const { ingester } = server.service;
    const { ingestFacts } = ingester;
    ingester.ingestFacts = (input) => {
      if (input.integrationId === own.integrationId) told.push(input.facts.map(({ kind }) => kind));
      return ingestFacts(input);
    };
    try {
      const tab = new Tab(own);
      await tab.send({ u: { id: 'u-1' } });
      await waitUntil(() => told.length === 1);
      await tab.send({ ev: typed(tab.now10, 5), x: 1 });
      await waitUntil(() => told.flat().includes('sessionClosed'));
      expect(told).toEqual([
        ['sessionStarted', 'sessionCorrelated', 'sessionScored'],
        ['sessionEvents', 'sessionScored', 'sessionClosed'],
      ]);
    } finally {
      ingester.ingestFacts = ingestFacts;
    }
  });

  it('that a process has to read from the database brings no further cut, and no facts a second time', async () => {
    const own = await openPages();
    const tab = new Tab(own);
    await tab.send();
    await waitUntil(async () => (await getSession(own))?.botScore != null);
    const sent: unknown[] = [];
    const ingester: typeof server.service.ingester = {
      ingestFacts(input) {
        sent.push(input);
        return server.service.ingester.ingestFacts(input);
      },
    };
    const reader = createCollector({ ...server.service, ingester, hasTimers: false });
    expect(await collectDirectly(reader, tab.make({ ev: moved(tab.now10, 3) }))).toMatchObject({ status: 200 });
    await reader.flush();
    expect(sent).toEqual([]);
    await reader.stop();
  });

  it('ends with all that its page sent, although a batch arrives after the one that ends it', async () => {
    const own = await openPages();
    const tab = new Tab(own);
    await tab.send();
    const [late, last] = [tab.make({ ev: typed(tab.now10, 4) }), tab.make({ x: 1 })];
    await tab.post(last);
    await server.service.collector.flush();
    expect((await getSession(own)).status).toBe('Active');
    await tab.post(late);
    await waitUntil(async () => (await getSession(own))?.status === 'Scored');
    const events = await listEvents(server, own, (await getSession(own)).id);
    expect(countEvents(events, 'keyboard')).toBe(4 * EVENTS_OF_KEY);
  });

  it('counts batches that arrive out of order and through two servers once', async () => {
    const other = await startTestServer(SETTINGS, server);
    try {
      const own = await openPages();
      const tab = new Tab(own);
      await tab.send();
      const beacons = Array.from({ length: 12 }, () => tab.make({ ev: typed(tab.now10, 4) }));
      const urls = [server.url, other.url];
      for (const n of [3, 0, 1, 5, 2, 4, 8, 7, 6, 11, 9, 10]) await tab.post(beacons[n]!, {}, urls[n % 2]);
      for (const n of [0, 5, 11]) await tab.post(beacons[n]!, {}, urls[(n + 1) % 2]);
      await tab.send({ x: 1 });
      await waitUntil(async () => (await getSession(own))?.status === 'Scored');
      const session = await getSession(own);
      const events = await listEvents(server, own, session.id);
      expect(countEvents(events, 'keyboard')).toBe(12 * 4 * EVENTS_OF_KEY);
      expect((await readKept(own)).traces + (await readKept(own)).batches).toBe(14);
    } finally {
      await other.stop();
    }
  });
});

describe('a process without timers', () => {
  it('judges what it has answered when it is told to, and closes what is over when the cron runs', async () => {
    const own = await openPages();
    const collector = createCollector({ ...server.service, hasTimers: false });
    const tab = new Tab(own);
    expect(await collectDirectly(collector, tab.make())).toMatchObject({ status: 200 });
    await collector.flush();
    expect((await getSession(own)).botScore).not.toBeNull();
    await collector.sweep();
    expect((await getSession(own)).status).toBe('Active');
    await makeSessionsDue(server.service.db, own);
    await sleep(IDLE_MS);
    await collector.sweep();
    await waitUntil(async () => (await getSession(own)).status === 'Scored', 5_000);
    await collector.stop();
  });
});

describe('a process that dies', () => {
  it('after it wrote a cut leaves the same facts to the next one', async () => {
    const own = await openPages();
    const dying = await startTestServer(SETTINGS, server);
    const tab = new Tab({ ...own, url: dying.url });
    // Its facts never arrive, as if it had died before.
    dying.service.ingester.ingestFacts = () => new Promise(() => {});
    await tab.send({ ev: [...pageShown(0), ...typed(10, 7)] });
    await sleep(500);
    expect(await getSessions(server, own)).toEqual([]);
    // The next batch reaches another process.
    await tab.post(tab.make({ ev: typed(tab.now10, 5), x: 1 }), {}, server.url);
    await waitUntil(async () => (await getSession(own))?.status === 'Scored');
    const session = await getSession(own);
    const events = await listEvents(server, own, session.id);
    expect(countEvents(events, 'keyboard')).toBe(12 * EVENTS_OF_KEY);
    expect(events.map(({ sequence }: EventRow) => sequence)).toEqual(events.map((_: EventRow, n: number) => n));
    await dying.stop();
  });

  it('by kill -9 between a cut and its facts has another one send them, although nothing arrives', async () => {
    const own = await openPages();
    const { db, env } = server.service;
    const appSecret = env.APP_SECRET!.toString('base64');
    const site = await openSite(server.database, { ...SETTINGS, SESSION_IDLE: '5m', APP_SECRET: appSecret });
    const dying = await site.start();
    const facts = createGate();
    // No process can write facts meanwhile.
    const blocking = db.transact(async (query) => {
      await query('lock table sessions in access exclusive mode', []);
      await facts.opened;
    });
    const tab = new Tab({ ...own, url: dying.url });
    await tab.send({ ev: [...pageShown(0), ...typed(10, 7)] });
    const hasCut = async () => {
      const [row] = await db.query<{ version: number }>(
        'select version from collected_sessions where integration_id = $1',
        [own.integrationId],
      );
      return row?.version === 1;
    };
    await waitUntil(hasCut);
    dying.signal('SIGKILL');
    await dying.endWithin();
    // It died without its facts. The other one may send them at once.
    facts.open();
    await blocking;
    await waitUntil(async () => (await getSession(own))?.botScore != null, CLOSE_WITHIN_MS);
    const events = await listEvents(server, own, (await getSession(own)).id);
    expect(countEvents(events, 'keyboard')).toBe(7 * EVENTS_OF_KEY);
    // What is there is not found again, neither by a process that runs nor by one that starts.
    await sleep(FACTS_WITHIN_MS);
    for (const sinceMs of [60_000, null]) expect(await findUnsentCuts(db, sinceMs)).toEqual([]);
  });

  it('before it judged a batch leaves that to a process that starts', async () => {
    const own = await openPages();
    const dying = createCollector({ ...server.service, hasTimers: false });
    await collectDirectly(dying, new Tab(own, DRIVEN).make());
    expect(await getSessions(server, own)).toEqual([]);
    const next = createCollector({ ...server.service, hasTimers: true });
    next.start();
    await waitUntil(async () => (await getSession(own))?.botScore != null, 5_000);
    await next.stop();
  });

  it('is not taken for dead by a process that starts while it has batches that are not worth a cut yet', async () => {
    const own = await openPages();
    const tab = new Tab(own);
    await tab.send();
    await waitUntil(async () => (await getSession(own))?.botScore != null);
    await tab.send({ ev: typed(tab.now10, 2) });
    await server.service.collector.flush();
    const readVersion = () =>
      server.service.db.query('select version from collected_sessions where integration_id = $1', [own.integrationId]);
    const before = await readVersion();
    const next = createCollector({ ...server.service, hasTimers: true });
    next.start();
    await sleep(FACTS_WITHIN_MS);
    await next.stop();
    expect(await readVersion()).toEqual(before);
  });

  it('by kill -9 loses no batch that it answered, and another one counts none twice', async () => {
    const database = await createTestDatabase();
    const site = await openSite(database, { ...SETTINGS, SESSION_IDLE: '20s' });
    let process: Server = await site.start();
    const own = await openPageSite({ db: database.db, url: process.url }, await site.createTenant());
    const tabs = Array.from({ length: 20 }, () => new Tab(own));
    await Promise.all(tabs.map((tab) => tab.send()));
    // Every tab sends until its server is killed. What was not answered is sent again.
    const unanswered = new Map<Tab, ReturnType<Tab['make']>>();
    const sending = tabs.map(async (tab) => {
      for (;;) {
        const beacon = tab.make({ ev: typed(tab.now10, 3) });
        unanswered.set(tab, beacon);
        const reply = await tab.post(beacon).catch(() => null);
        if (reply?.status !== 200) return;
        unanswered.delete(tab);
        await sleep(100);
      }
    });
    await sleep(1_500);
    process.signal('SIGKILL');
    await process.endWithin();
    await Promise.all(sending);
    process = await site.start();
    for (const tab of tabs) {
      const beacon = unanswered.get(tab);
      if (beacon) expect((await tab.post(beacon, {}, process.url)).status).toBe(200);
      await tab.post(tab.make({ ev: [], x: 1 }), {}, process.url);
    }
    await waitUntil(async () => {
      const sessions = await getSessions(process, own);
      return sessions.length === tabs.length && sessions.every(({ status }: { status: string }) => status === 'Scored');
    });
    for (const session of await getSessions(process, own)) {
      const events = await listEvents(process, own, session.id);
      expect(countEvents(events, 'keyboard') % (3 * EVENTS_OF_KEY)).toBe(0);
    }
    const [counts] = await database.db.query<{ keyboard: number; batches: number }>(
      `select (select sum(event_count)::int from session_events where type = 'keyboard') as keyboard,
              (select sum(batches)::int from session_traces) as batches`,
      [],
    );
    // Each tab sent one batch without keys at its beginning and one at its end.
    const sent = tabs.reduce((sum, { sequence }) => sum + sequence, 0);
    expect(counts).toEqual({ batches: sent, keyboard: 3 * EVENTS_OF_KEY * (sent - 2 * tabs.length) });
    process.signal('SIGTERM');
    await process.endWithin();
    await database.drop();
  });
});

/** The head of a batch is enough for the refusal, and the connection stays open for what comes next. */
async function expectRefusedBeforeBody(url: string) {
  const connection = await Connection.open(url);
  const length = MAX_BEACON_BYTES;
  connection.writeHead('POST', '/collect', { Origin: PAGE_ORIGIN, 'Content-Length': String(length) });
  const refused = await connection.read();
  expect(refused.status).toBe(503);
  expect(Number(refused.header('retry-after'))).toBeGreaterThan(0);
  expect(refused.header('connection')).not.toBe('close');
  connection.write(' '.repeat(length));
  connection.writeHead('GET', '/health', {});
  expect((await connection.read()).status).toBe(200);
  connection.close();
}

describe('under pressure', () => {
  let relay: Relay;
  let pressed: TestServer;
  beforeAll(async () => {
    const url = new URL(server.database.url);
    relay = await startRelay(Number(url.port));
    url.port = String(relay.port);
    const database = { ...server.database, url: url.href };
    pressed = await startTestServer(SETTINGS, { ...server, database });
  });
  afterAll(async () => {
    await pressed.stop();
    await relay.cut();
  });

  it('a database that is away makes pages wait, and nothing is lost', async () => {
    const own = await openPages();
    const tab = new Tab({ ...own, url: pressed.url });
    await tab.send();
    await relay.cut();
    const beacon = tab.make({ ev: typed(tab.now10, 6) });
    const refused = await tab.post(beacon);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.body).toEqual({ error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) } });
    await relay.restore();
    await waitUntil(async () => (await tab.post(beacon)).status === 200);
    await tab.send({ x: 1 });
    await waitUntil(async () => (await getSession(own))?.status === 'Scored');
    await waitUntil(async () => (await readKept(own)).traces === 3);
  });

  it('a database that does not answer fills a bounded queue, and the rest is shed at once', async () => {
    const own = await openPages();
    const first = new Tab({ ...own, url: pressed.url });
    await first.send();
    relay.stall();
    const tab = () => new Tab({ ...own, url: pressed.url }).send({}, { 'x-forwarded-for': '198.51.100.1' });
    const waiting = Array.from({ length: 20 }, tab);
    await sleep(1_200);
    const from = performance.now();
    const shed = await tab();
    expect(shed.status).toBe(503);
    expect(performance.now() - from).toBeLessThan(1_000);
    await expectRefusedBeforeBody(pressed.url);
    await relay.cut();
    for (const { status } of await Promise.all(waiting)) expect([200, 503]).toContain(status);
    await relay.restore();
    await waitUntil(async () => (await tab()).status === 200);
  });
});
