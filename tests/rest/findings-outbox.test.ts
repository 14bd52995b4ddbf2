import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFindings } from '../../server/findings/outbox';
import { createIngester, type Ingester, InvalidFactError } from '../../server/pipeline/ingest';
import { Customer } from '../support/customer';
import { scored } from '../support/facts';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { makeVisit, minutesAgo } from '../support/visits';

// The way from committed facts to findings: nothing is lost when a process dies, and nothing is judged that no rule reads.

let server: TestServer;
let customer: Customer;
/** An ingester of a process that dies after each commit. */
let dying: Ingester;
beforeAll(async () => {
  server = await startTestServer();
  // Its cron takes what is due, also from these tests.
  await server.service.engine!.stop(0);
  const { db, log, dispatcher } = server.service;
  const { publisher, handover } = dispatcher;
  const onCommitted = () => {};
  dying = createIngester({
    db,
    log,
    publisher,
    handover,
    firstDelayMs: 0,
    publicUrl: null,
    erasureKey: Buffer.alloc(32),
    onCommitted,
  });
});
beforeEach(async () => {
  customer = await Customer.create(server);
  // What other tests left behind would be due some time.
  await server.database.db.query('delete from fact_outbox', []);
});
afterAll(() => server.stop());

type Facts = Parameters<Ingester['ingestFacts']>[0]['facts'];
const commitAndDie = (facts: Facts) => dying.ingestFacts({ integrationId: customer.id, facts });
const { query } = {
  query: (...args: Parameters<TestServer['database']['db']['query']>) => server.database.db.query(...args),
};
const listOutbox = () =>
  query('select session_id as "sessionId", causes from fact_outbox where integration_id = $1 order by id', [
    customer.id,
  ]);
const listAnomalies = async () =>
  (await query('select type from anomalies where integration_id = $1 order by type', [customer.id])).map(
    ({ type }: { type?: string }) => type,
  );
const makeDue = () =>
  query("update fact_outbox set due_at = now() - interval '1 second' where integration_id = $1", [customer.id]);

const PAGE = 'https://lms.example.edu/';
/** Two users on one device. */
const SHARED: Facts = [...makeVisit({ user: 'ada', ago: 50 }), ...makeVisit({ user: 'bob', ago: 10 })];

describe('the outbox', () => {
  it('gets a row for a session with facts that rules read, with what they are', async () => {
    const [started, match, closed] = makeVisit({ id: 's', input: [] });
    await commitAndDie([started!]);
    expect(await listOutbox()).toEqual([]);
    await commitAndDie([match!, closed!]);
    expect(await listOutbox()).toEqual([{ sessionId: 's', causes: ['correlated'] }]);
  });

  it.each<[string, Facts]>([
    ['events of nobody', makeVisit({ user: null, input: [0], minutes: null })],
    ['an unsigned user', makeVisit({ confidence: 0.5, input: [0] })],
    ['the end of a session without device', makeVisit({ user: null, device: null })],
    [
      'a score with an empty list of segments',
      [...makeVisit({ id: 'y', user: null, minutes: null }), scored('y', 0.9, { segments: [] }) as Facts[number]],
    ],
    [
      'a score without segments',
      [...makeVisit({ id: 'x', user: null, minutes: null }), scored('x', 0.9) as Facts[number]],
    ],
  ])('gets none for %s', async (_, facts) => {
    await commitAndDie(facts);
    expect(await listOutbox()).toEqual([]);
  });

  it('gets none for scrolling, and one for input of a known user', async () => {
    const [started, match] = makeVisit({ id: 's', minutes: null });
    await commitAndDie([started!, match!]);
    await query('delete from fact_outbox where integration_id = $1', [customer.id]);
    const happen = (type: 'scroll' | 'keyboard', sequence: number, metadata: Record<string, unknown> | null = null) =>
      commitAndDie([
        { kind: 'sessionEvents', sessionId: 's', events: [{ sequence, type, timestamp: minutesAgo(5), metadata }] },
      ]);
    await happen('scroll', 0);
    await happen('keyboard', 1, { trusted: false });
    expect(await listOutbox()).toEqual([]);
    await happen('keyboard', 2);
    expect(await listOutbox()).toEqual([{ sessionId: 's', causes: ['happened'] }]);
  });

  it('gets nothing of a batch that is refused', async () => {
    const id = randomUUID();
    await expect(
      commitAndDie([...makeVisit(), { kind: 'sessionClosed', sessionId: id, closedAt: minutesAgo(1) }]),
    ).rejects.toThrow();
    expect(await listOutbox()).toEqual([]);
  });

  it('gets nothing for facts that are sent again', async () => {
    await commitAndDie(SHARED);
    await query('delete from fact_outbox where integration_id = $1', [customer.id]);
    await commitAndDie(SHARED);
    expect(await listOutbox()).toEqual([]);
  });
});

describe('what was committed', () => {
  it('is judged by the process that wrote it, at once, and leaves the outbox', async () => {
    await customer.tell(SHARED);
    await expect.poll(listAnomalies).toEqual(['SharedDevice']);
    await server.service.findings.flush();
    expect(await listOutbox()).toEqual([]);
  });

  it('is judged by another process if the first one dies, once, and not before it had a second', async () => {
    await commitAndDie(SHARED);
    await server.service.findings.sweep();
    expect(await listAnomalies()).toEqual([]);
    await makeDue();
    const { db, log, ingester } = server.service;
    const other = createFindings({ db, log, ingester, hasTimers: true });
    const counts = await Promise.all([other.sweep(), server.service.findings.sweep()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2);
    expect([await listAnomalies(), await listOutbox()]).toEqual([['SharedDevice'], []]);
    await other.stop();
  });

  it('is found by a process that looks every second', async () => {
    await commitAndDie(SHARED);
    const { db, log, ingester } = server.service;
    const other = createFindings({ db, log, ingester, hasTimers: true });
    other.start();
    await expect.poll(listAnomalies).toEqual(['SharedDevice']);
    await other.stop();
  });

  it('is judged before a process without timers is frozen', async () => {
    const { db, log, ingester } = server.service;
    const other = createFindings({ db, log, ingester, hasTimers: false });
    await commitAndDie(SHARED);
    const rows = await query(
      'select integration_id as "integrationId", id, session_id as "sessionId", causes from fact_outbox where integration_id = $1',
      [customer.id],
    );
    other.notice(rows as never);
    expect([await listAnomalies(), other.count()]).toEqual([[], 2]);
    await other.flush();
    expect(other.count()).toBe(0);
    expect([await listAnomalies(), await listOutbox()]).toEqual([['SharedDevice'], []]);
  });

  it('gives the same findings when it is judged again, and tells them once', async () => {
    await customer.tell(SHARED);
    await server.service.findings.flush();
    await query(
      `insert into fact_outbox (integration_id, id, session_id, causes, due_at)
       select integration_id, id, id, '{correlated,happened,scored,closed}', now() from sessions where integration_id = $1`,
      [customer.id],
    );
    await server.service.findings.sweep();
    expect([await listAnomalies(), await listOutbox()]).toEqual([['SharedDevice'], []]);
    const told = await query("select 1 from domain_events where integration_id = $1 and type = 'SessionAnomaly'", [
      customer.id,
    ]);
    expect(told).toHaveLength(1);
  });

  it.each(['0001-01-01T00:00:00.000Z', '9998-12-31T23:59:59.999Z'])('is judged if it is of %s', async (at) => {
    // Nothing of the future is accepted; a clock that was wrong then would have left it.
    await customer.tell([
      {
        kind: 'sessionStarted',
        sessionId: 's',
        startedAt: minutesAgo(1),
        pageUrl: PAGE,
        userAgent: '',
        deviceFingerprint: 'd',
      },
      {
        kind: 'sessionCorrelated',
        sessionId: 's',
        user: { id: 'u', name: 'u' },
        confidence: 1,
        correlatedAt: minutesAgo(1),
      },
    ]);
    await server.service.findings.flush();
    await query('update sessions set created_at = $2 where integration_id = $1', [customer.id, at]);
    await query(
      `insert into fact_outbox (integration_id, id, session_id, causes, due_at)
       values ($1, 'again', 's', '{correlated,happened,closed,scored}', now())`,
      [customer.id],
    );
    // The process may be at it already.
    await waitUntil(async () => {
      await server.service.findings.sweep();
      return (await listOutbox()).length === 0;
    });
  });

  it('is not looked at again if its session was removed meanwhile', async () => {
    await commitAndDie(SHARED);
    await query('delete from sessions where integration_id = $1', [customer.id]);
    await makeDue();
    await server.service.findings.sweep();
    expect([await listAnomalies(), await listOutbox()]).toEqual([[], []]);
  });

  it('is judged although something else that is read with it cannot be read', async () => {
    await commitAndDie([...makeVisit({ id: 'poison', ago: 90, device: 'other' }), ...SHARED]);
    await makeDue();
    const { db, log, ingester } = server.service;
    const query = failRules(db.query, 'poison');
    const other = createFindings({ db: { ...db, query }, log, ingester, hasTimers: true });
    await other.sweep();
    expect(await listAnomalies()).toEqual(['SharedDevice']);
    expect(await listOutbox()).toMatchObject([{ sessionId: 'poison' }]);
    await other.stop();
  });

  it.each([
    ['leaves if what is found is refused, which no repeat would change', new InvalidFactError(0, 'refused'), 0],
    ['stays if what is found could not be sent', new Error('no connection'), 2],
  ])('%s', async (_, error, left) => {
    await commitAndDie(SHARED);
    await makeDue();
    const { db, log, ingester } = server.service;
    const ingestFacts = () => Promise.reject(error);
    const other = createFindings({ db, log, ingester: { ...ingester, ingestFacts }, hasTimers: true });
    await other.sweep();
    expect(await listOutbox()).toHaveLength(left);
    await other.stop();
  });

  it('stays if it could not be judged, for longer after each try, and is given up in the end', async () => {
    await commitAndDie(SHARED.slice(0, 2));
    const { db, log } = server.service;
    const broken = createFindings({
      ...{ db: { ...db, query: failRules(db.query) }, log, hasTimers: true },
      ingester: server.service.ingester,
    });
    const { sql } = db;
    const readClock = async () => (await sql<{ now: Date }[]>`select now()`)[0]!.now;
    for (const seconds of [10, 20, 40]) {
      await makeDue();
      const from = await readClock();
      await broken.sweep();
      const [entry] = await sql<{ triedAt: Date }[]>`
        select due_at - ${seconds} * interval '1 s' as "triedAt" from fact_outbox where integration_id = ${customer.id}`;
      expect(entry!.triedAt >= from && entry!.triedAt <= (await readClock())).toBe(true);
    }
    await query("update fact_outbox set tries = 10, due_at = now() - interval '1 ms' where integration_id = $1", [
      customer.id,
    ]);
    await broken.sweep();
    expect(await listOutbox()).toEqual([]);
    await broken.stop();
  });
});

/** A database that answers no look-up of a rule, or none that names a session. */
function failRules(work: TestServer['service']['db']['query'], sessionId = ''): typeof work {
  return (text, parameters) =>
    text.includes('disabledRules') && String(parameters[0]).includes(sessionId)
      ? Promise.reject(new Error('no look-up'))
      : work(text, parameters);
}
