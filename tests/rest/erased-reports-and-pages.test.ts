import { describe, expect, it } from 'vitest';
import { unpackBatch, unpackTrace } from '../../server/collector/packing';
import { createMentionFinder } from '../../server/domain/mentions';
import { pruneSessions } from '../../server/domain/retention';
import { eraseReports } from '../../server/reports/erased-reports';
import { beginReport } from '../../server/reports/jobs';
import { createPostgresStore } from '../../server/reports/stores/postgres-store';
import { openPageSite, Tab } from '../support/beacon';
import { foldCounts } from '../support/count-rows';
import { Customer } from '../support/customer';
import { dumpDatabase, findInDump } from '../support/dump';
import {
  ADA,
  BEN,
  createAda,
  eraseUser,
  eraseUserFully,
  expectCountsToFit,
  makeReport,
  makeUserPath,
  server,
  shareErasureServer,
  TEXTS_OF_ADA,
  waitForReceipt,
  webhookReceiver,
} from '../support/erasures';
import { eventually } from '../support/eventually';
import * as facts from '../support/facts';

// What the erasure of a person does to reports, to what the pixel sent, and to a page that two users shared.

shareErasureServer();

describe('a report', () => {
  it('goes with its file if it names the user, and stays if it does not', async () => {
    const customer = await createAda();
    const { db } = server.database;
    const make = (input: object) => makeReport(customer, input);
    await make({ template: 'sessions', format: 'csv', days: 7 });
    await make({ template: 'sessions', format: 'pdf', days: 7 });
    await customer.accept([
      facts.started('s9'),
      facts.correlated('s9', 'carl', { user: { id: 'carl', name: 'Carl' } }),
    ]);
    const ofCarl = await make({ template: 'user-evidence', format: 'json', userId: 'carl', days: 7 });
    // The name begins in one part of the file and ends in the next.
    const split = await make({ template: 'user-evidence', format: 'json', userId: 'carl', days: 7 });
    const [begun, ended] = [ADA.name.slice(0, 9), ADA.name.slice(9)];
    await db.sql`update report_chunks set content = convert_to(${begun}, 'UTF8') where report_id = ${split}`;
    await db.sql`
      insert into report_chunks (integration_id, report_id, part, number, content)
      values (${customer.id}, ${split}, 'next', 0, convert_to(${ended}, 'UTF8'))`;
    await db.sql`
      update report_jobs set parts = parts || ${`[{"key":"next","size":${ended.length}}]`}::text::jsonb where id = ${split}`;
    // A document of a time before she came. It has no rows, so that its format means nothing for its content.
    const until = facts.secondsAgo(9 * 86_400);
    const earlier = await make({ template: 'sessions', format: 'csv', days: 7, until });
    await db.sql`update report_jobs set format = 'pdf' where id = ${earlier}`;
    // The file of one is gone, so that nobody can tell whether it names her.
    const lost = await make({ template: 'sessions', format: 'csv', days: 7 });
    await db.sql`delete from report_chunks where report_id = ${lost}`;
    // They have no files: one has her name, and the other is about her.
    await db.sql`
      insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, expires_at)
      values (${customer.id}, 'called', ${`About ${ADA.name}`}, 'sessions', 'csv', '{"days":1}', now(), now(), 'Failed', now() + interval '1 day'),
             (${customer.id}, 'about', 'Of a pupil', 'user-evidence', 'csv', ${JSON.stringify({ userId: ADA.id })}::text::jsonb, now(), now(),
              'Failed', now() + interval '1 day')`;
    const receipt = await eraseUserFully(customer);
    expect(receipt.reportCount).toBe(6);
    const kept = [ofCarl, earlier].sort();
    const left = await db.sql`select id from report_jobs where integration_id = ${customer.id}`;
    expect(left.map(({ id }) => id).sort()).toEqual(kept);
    const chunks =
      await db.sql`select distinct report_id as id from report_chunks where integration_id = ${customer.id}`;
    expect(chunks.map(({ id }) => id).sort()).toEqual(kept);
  });

  it('goes if it is JSON in which a text holds JSON that names the user', async () => {
    const customer = await Customer.create(server);
    const ann = { id: 'ann-77', name: 'Ann "Annie" Örn' };
    await customer.accept([facts.started('s'), facts.correlated('s', ann.id, { user: ann })]);
    const id = await makeReport(customer, { template: 'sessions', format: 'json', days: 7 });
    const text = String.raw`{"name": "Ann \"Annie\" \u00d6rn"}`;
    await server.database.db.sql`
      update report_chunks set content = convert_to(${JSON.stringify({ text })}, 'UTF8') where report_id = ${id}`;
    expect((await eraseUserFully(customer, ann.id)).reportCount).toBe(1);
  });

  it('waits for its store, because its file may name the user', async () => {
    const customer = await createAda();
    const { db } = server.service;
    const id = await makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
    async function* read(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('away');
      throw new Error('the store is away');
    }
    const stores = { current: 'postgres', postgres: { ...createPostgresStore(db), read }, s3: null } as const;
    const known = { integrationId: customer.id, userId: ADA.id, pseudonym: 'erased-1' };
    const user = { ...known, finder: createMentionFinder(ADA) };
    await expect(eraseReports({ db, stores }, user, '', async () => {})).rejects.toThrow('away');
    expect((await customer.get(`/reports/${id}/download`)).status).toBe(200);
  });

  it('says nothing of the user if its store is not configured any more, also if it was deleted before', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    const make = () => makeReport(customer, { template: 'user-evidence', format: 'csv', userId: ADA.id, days: 7 });
    const [made, deleted] = [await make(), await make()];
    await sql`update report_jobs set store = 's3' where id in (${made}, ${deleted})`;
    await sql`update report_jobs set state = 'Deleted' where id = ${deleted}`;
    await eraseUserFully(customer);
    const left = await sql`select state, name, parameters from report_jobs where integration_id = ${customer.id}`;
    expect([...left]).toEqual(Array(2).fill({ state: 'Deleted', name: '', parameters: {} }));
  });

  it('leaves none of its parts if it failed, or waits for another run', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    const make = () => makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
    const [failed, waiting] = [await make(), await make()];
    await sql`delete from reports where id in (${failed}, ${waiting})`;
    // As if the store had been away when it failed, and as if its run had been lost.
    await sql`update report_jobs set state = 'Failed', failure = 'A fault' where id = ${failed}`;
    await sql`update report_jobs set state = 'Queued', run_id = null, woken_at = now() where id = ${waiting}`;
    const readParts = async () =>
      (await sql`select content from report_chunks where integration_id = ${customer.id}`).map(({ content }) =>
        TEXTS_OF_ADA.some((text) => String(content).includes(text)),
      );
    expect(await readParts()).toEqual([true, true]);
    await eraseUserFully(customer);
    expect(await readParts()).not.toContain(true);
    const left =
      await sql`select id, state from report_jobs where integration_id = ${customer.id} and state = 'Failed'`;
    expect([...left]).toEqual([{ id: failed, state: 'Failed' }]);
  });

  it('is not begun again before the parts of its last run are removed, because its own would go with them', async () => {
    const customer = await createAda();
    const { db } = server.service;
    const id = await makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
    await db.query(`update report_jobs set state = 'Running', run_id = 'old' where id = $1`, [id]);
    const run = { integrationId: customer.id, reportId: id, runId: 'new' };
    const store = createPostgresStore(db);
    const begun: boolean[] = [];
    const remove = async () => {
      await store.remove(run);
      begun.push(await beginReport(db, run, 'postgres'));
    };
    const stores = { current: 'postgres', postgres: { ...store, remove }, s3: null } as const;
    const user = { ...run, userId: ADA.id, pseudonym: 'erased-1', finder: createMentionFinder(ADA) };
    await eraseReports({ db, stores }, user, '', async () => {});
    expect([...begun, await beginReport(db, run, 'postgres')]).toEqual([false, true]);
  });

  it('goes if it covers sessions of a user whose short id is all that is known of them', async () => {
    const customer = await Customer.create(server);
    await customer.accept([facts.started('s'), facts.correlated('s', '47', { user: { id: '47', name: '47' } })]);
    const make = (input: object) => makeReport(customer, { template: 'sessions', format: 'csv', days: 1, ...input });
    await make({});
    const earlier = await make({ until: facts.secondsAgo(9 * 86_400) });
    await eraseUserFully(customer, '47');
    const left = await server.database.db.sql`select id from report_jobs where integration_id = ${customer.id}`;
    expect(left.map(({ id }) => id)).toEqual([earlier]);
  });

  it('goes if it may name a user with a short id who has no session in its window now', async () => {
    const customer = await Customer.create(server);
    const { db } = server.database;
    const [id, name] = ['4711', 'Ada Lovelace'];
    const daysAgo = (days: number) => facts.secondsAgo(days * 86_400);
    const inCourse = (n: number) => ({ pageUrl: `https://lms.example.edu/courses/${n}` });
    const ofAda = (at: string) => ({ user: { id, name }, correlatedAt: at });
    const carl = { user: { id: 'carl', name: 'Carl' } };
    await customer.accept([
      facts.started('old', { ...inCourse(1), startedAt: daysAgo(40) }),
      facts.correlated('old', id, ofAda(daysAgo(40))),
      facts.started('lent', inCourse(1)),
      facts.correlated('lent', id, ofAda(facts.secondsAgo(30))),
      facts.started('other', inCourse(2)),
      facts.correlated('other', 'carl', carl),
    ]);
    await foldCounts(db);
    const courses: { id: string; url: string }[] = await customer.read('/v1/courses');
    const [hers, his] = [1, 2].map((n) => courses.find(({ url }) => url.endsWith(`/${n}`))!.id);
    const whileHers = await makeReport(customer, { template: 'sessions', format: 'csv', days: 1 });
    // Since then the session is somebody else's.
    await customer.accept([facts.correlated('lent', 'carl', { ...carl, correlatedAt: facts.secondsAgo(1) })]);
    const made = new Map([[whileHers, 'a session that was theirs']]);
    const course = { template: 'course-integrity', days: 7 };
    const inputs = [
      ['her course', { ...course, courseId: hers, format: 'csv' }],
      ['her course', { ...course, courseId: hers, format: 'pdf' }],
      ['his course', { ...course, courseId: his, format: 'pdf' }],
      ['removed sessions', { template: 'sessions', format: 'pdf', days: 60 }],
      ['a time before them', { template: 'sessions', format: 'csv', days: 1, until: daysAgo(41) }],
    ] as const;
    const request = async ([title, input]: (typeof inputs)[number]) =>
      made.set(await makeReport(customer, input), `${input.format} of ${title}`);
    await Promise.all(inputs.map(request));
    const [ofCourse] = [...made].find(([, title]) => title === 'csv of her course')!;
    const download = () => customer.get(`/reports/${ofCourse}/download`);
    expect((await download()).text).toContain(`\r\n${id},${name},0,`);
    await db.sql`update integrations set plan = 'free' where id = ${customer.id}`;
    await pruneSessions(db);
    expect((await customer.get('/v1/sessions/old')).status).toBe(404);

    const { reportCount } = await eraseUserFully(customer, id);
    const left = await db.sql`select id from report_jobs where integration_id = ${customer.id}`;
    expect(left.map((row) => made.get(row.id)).sort()).toEqual(['csv of a time before them', 'pdf of his course']);
    expect([reportCount, (await download()).status]).toEqual([4, 404]);
  });
});

describe('what the pixel sent', () => {
  const u = ADA;
  const p = [`https://lms.example.edu/people/augusta-4711?tab=profile&id=1`];

  /** Reads all that is kept of what pages sent, unpacked. */
  async function readSent(customer: Customer): Promise<string[]> {
    const { db } = server.database;
    const batches = await db.sql<{ body: Buffer }[]>`
      select b.body from session_batches b join collected_sessions c on c.key = b.session_key where c.integration_id = ${customer.id}`;
    const traces = await db.sql<{ body: Buffer }[]>`
      select t.body from session_traces t join collected_sessions c on c.key = t.session_key where c.integration_id = ${customer.id}`;
    return [
      ...batches.map(({ body }) => JSON.stringify(unpackBatch(body, { d: '', n: 0, receivedAtMs: 0 }))),
      ...traces.map(({ body }) => JSON.stringify(unpackTrace(body))),
    ];
  }
  const matchedSessions = async (customer: Customer) => (await customer.read('/v1/stats')).matchedSessions;

  it('goes; open sessions go on as nobody’s, and later ones begin so', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const [ended, open] = [new Tab(site), new Tab(site)];
    await ended.send({ u, p });
    await ended.send({ u, x: 1 });
    await open.send({ u, p });
    await eventually(async () => expect(await matchedSessions(customer)).toBe(2));
    await server.service.collector.sweep();
    await eventually(async () => expect((await readSent(customer)).some((one) => one.startsWith('['))).toBe(true));

    const { body } = await eraseUser(customer);
    // Processes know of it after a second at most.
    const late = new Tab(site);
    await late.send({ u, p });
    await open.send({ u });
    await waitForReceipt(customer, body.data.id);
    await open.send({ u });
    const later = new Tab(site);
    await later.send({ u });
    await eventually(async () => expect((await customer.read('/v1/sessions')).length).toBe(4));
    const sent = await readSent(customer);
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.filter((one) => TEXTS_OF_ADA.slice(0, 3).some((text) => one.includes(text)))).toEqual([]);
    const rows = findInDump(await dumpDatabase(server.database.db), TEXTS_OF_ADA.slice(0, 3));
    expect(rows.filter((row) => row.includes(customer.id))).toEqual([]);
    expect(await matchedSessions(customer)).toBe(2);
    const kept = await server.database.db
      .sql`select 1 from session_traces t join collected_sessions c on c.key = t.session_key where c.integration_id = ${customer.id}`;
    expect(kept.length).toBe(0);
    await expectCountsToFit(customer);
  });

  it('goes from an open session of somebody who is known more surely', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const tab = new Tab(site);
    await tab.send({ u: { id: 'somebody-else', lms: 1 } });
    await tab.send({ u });
    await eventually(async () => expect(await matchedSessions(customer)).toBe(1));
    const { body } = await eraseUser(customer);
    await waitForReceipt(customer, body.data.id);
    const sent = await readSent(customer);
    expect(sent).toHaveLength(2);
    expect(sent.filter((one) => TEXTS_OF_ADA.slice(0, 3).some((text) => one.includes(text)))).toEqual([]);
    expect(sent.filter((one) => one.includes('somebody-else'))).toHaveLength(1);
    await tab.send({ u: { id: 'somebody-else', lms: 1 } });
    expect((await customer.read('/v1/sessions'))[0]).toMatchObject({ userId: 'somebody-else' });
  });
});

describe('a page that two users shared', () => {
  it('goes on as that of the other one, if the first is erased', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const tab = new Tab(site);
    const readUser = async () => (await customer.read('/v1/sessions'))[0]?.userId;
    for (const id of [ADA.id, 'somebody-else']) {
      await tab.send({ u: { id, lms: 1 } });
      await eventually(async () => expect(await readUser()).toBe(id));
    }
    const { body } = await eraseUser(customer);
    await waitForReceipt(customer, body.data.id);
    const [row] = await server.database.db.sql`
      select progress #>> '{user,id}' as "userId" from collected_sessions where integration_id = ${customer.id}`;
    expect([row!.userId, await readUser()]).toEqual(['somebody-else', 'somebody-else']);
  });

  it('has events about each of them, of which the erasure and the export of one leave out those about the other', async () => {
    const customer = await Customer.create(server);
    await customer.switchOffFindings();
    for (const eventType of ['SessionCorrelated', 'SessionAnomaly'])
      await customer.post('/v1/webhooks', { url: `${webhookReceiver.url}/${customer.id}`, eventType });
    await customer.accept([
      facts.started('shared'),
      facts.correlated('shared', BEN.id, { user: BEN, correlatedAt: facts.secondsAgo(19) }),
      facts.anomaly('of-ben', { sessionId: 'shared', userId: BEN.id, metadata: { distanceKm: 900 } }),
      facts.correlated('shared', ADA.id, { user: ADA, correlatedAt: facts.secondsAgo(9) }),
      facts.anomaly('of-nobody', { sessionId: 'shared', userId: null }),
    ]);
    const exported = await customer.get(makeUserPath(ADA.id, 'export'));
    expect(exported.text).not.toContain(BEN.id);
    expect(exported.body.data.webhookEvents.map(({ type }: { type: string }) => type)).toEqual([
      ...['SessionCorrelated', 'SessionAnomaly'],
    ]);
    const { eventCount } = await eraseUserFully(customer);
    const anomalies = await server.database.db.sql`
      select user_id as "userId", metadata from anomalies where integration_id = ${customer.id} order by id`;
    expect([...anomalies]).toEqual([
      { userId: BEN.id, metadata: { distanceKm: 900 } },
      { userId: expect.stringMatching(/^erased-/), metadata: null },
    ]);
    const events: { payload: string }[] = await customer.read('/v1/webhook-events');
    const left = events.map(({ payload }) => JSON.parse(payload)).filter(({ erased }) => !erased);
    expect(left.map(({ userId }) => userId)).toEqual([BEN.id, BEN.id]);
    expect(eventCount).toBe(2);
  });
});
