import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestReportInput } from '../../contract/reports';
import { asOperator } from '../../server/audit/acts';
import { findIntegration } from '../../server/domain/integrations';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { createReports, type ReportService } from '../../server/reports/reports';
import { createPostgresStore } from '../../server/reports/stores/postgres-store';
import type { ReportKey, ReportStore } from '../../server/reports/stores/store';
import { TEMPLATES } from '../../server/reports/templates';
import { anomaly, correlated, finding, scored, secondsAgo, started } from '../support/facts';
import { countRead, explainStatement } from '../support/plans';
import { startTestServer, type TestServer } from '../support/server';
import { recordStatements } from '../support/statements';
import { IN_VOLUME, loadVolumes } from '../support/volume';

// How a report is rendered in parts. No engine runs here: the tests do what it does, step by step.

let server: TestServer;
let large: { id: string; key: string };
let small: { id: string; key: string };
/** Reports of a process whose engine does nothing. */
let reports: ReportService;
let woken: ReportKey[];
let store: ReportStore;
let isEngineAway: boolean;

/** More than one part has. */
const SESSIONS = 21_000;
const ALL = { template: 'sessions', format: 'csv', days: 365 } as const;

beforeAll(async () => {
  server = await startTestServer();
  // Its crons would find the reports of these tests.
  await server.service.engine!.stop(0);
  large = await server.createTenant();
  small = await server.createTenant();
  await loadVolumes(server.database.db, [
    { integrationId: large.id, sessions: SESSIONS },
    { integrationId: small.id, sessions: 40 },
  ]);
  await server.database.db.sql`
    insert into session_scores (integration_id, session_id, scored_at, bot_score, detection_flags)
    select integration_id, id, scored_at, bot_score, detection_flags from sessions`;
  await foldSessionDeltas(server.service.db);
  await server.database.db.sql`analyze`;
});
afterAll(() => server.stop());

beforeEach(() => {
  const { db, log, secrets, ingester } = server.service;
  woken = [];
  isEngineAway = false;
  store = createPostgresStore(db);
  reports = createReports({
    ...{ db, log, ingester, cursorKey: secrets.cursorKey },
    stores: {
      current: 'postgres',
      postgres: { ...store, write: (...part) => store.write(...part), remove: (...part) => store.remove(...part) },
      s3: null,
    },
    wake: async (keys) => {
      if (isEngineAway) throw new Error('the engine is away');
      woken.push(...keys);
    },
  });
});

async function contextOf({ id }: { id: string }) {
  const { db, secrets } = server.service;
  return { ...asOperator(db), cursorKey: secrets.cursorKey, integration: (await findIntegration(db, id))!.integration };
}

async function request(input: RequestReportInput, tenant = small) {
  const { id } = await reports.request(await contextOf(tenant), input);
  return { integrationId: tenant.id, reportId: id, runId: `run of ${id}` };
}
type Run = Awaited<ReturnType<typeof request>>;
const START = { number: 0, after: null, recordCount: 0 };

/** Renders the parts from `start` on, as the function does. */
async function renderFrom(run: Run, start: Parameters<ReportService['jobs']['renderPart']>[1]) {
  const parts = [];
  for (let next: typeof start | null = start; next; ) {
    const rendered = await reports.jobs.renderPart(run, next);
    if (rendered === null || 'failure' in rendered) throw new Error(JSON.stringify(rendered));
    parts.push(rendered);
    next = rendered.next && { number: next.number + 1, after: rendered.next, recordCount: rendered.recordCount };
  }
  return parts;
}
type Rendered = Awaited<ReturnType<typeof renderFrom>>;
const complete = (run: Run, rendered: Rendered, { jobs } = reports) =>
  jobs.completeReport(run, {
    parts: rendered.map(({ part }) => part),
    recordCount: rendered.at(-1)!.recordCount,
  });
const read = async ({ reportId }: Run, { key } = large) =>
  (await server.call('GET', `/reports/${reportId}/download`, { key })).text;
const readState = async ({ reportId }: Run) =>
  (
    await server.database.db
      .sql`select state, failure, record_count as rows, completed_at as at from report_jobs where id = ${reportId}`
  )[0];
const countChunks = async ({ reportId }: Run) =>
  (await server.database.db.sql`select 1 from report_chunks where report_id = ${reportId}`).length;

/** Renders a report as JSON and reads it. */
async function render(input: RequestReportInput, tenant: { id: string; key: string }) {
  const run = await request(input, tenant);
  await reports.jobs.beginReport(run);
  await complete(run, await renderFrom(run, START));
  return JSON.parse(await read(run, tenant));
}

describe('a report on people', () => {
  it('counts the sessions that anybody could have begun in their name, and no anomalies of other courses', async () => {
    const tenant = await server.createTenant();
    const visits: [id: string, course: number, score: number, confidence: number][] = [
      ...([
        ['signed', 42, 0.95, 1],
        ['read', 42, 0.1, 0.7],
        ['claimed', 42, 0.95, 0.5],
        ['inferred', 42, 0.1, 0.3],
        ['elsewhere', 43, 0.95, 0.5],
      ] as [string, number, number, number][]),
    ];
    const facts = visits.flatMap(([id, course, score, confidence]) => [
      started(id, { pageUrl: `https://lms.example.edu/courses/${course}` }),
      ...[scored(id, score), correlated(id, 'ada', { confidence })],
    ]);
    const sessionIds = ['signed', 'elsewhere', undefined];
    const seen = sessionIds.map((sessionId, n) => anomaly(`ano-${n}`, { userId: 'ada', sessionId }));
    await server.ingest(tenant.id, [...facts, ...seen]);
    await foldSessionDeltas(server.service.db);
    const labels = [
      ['claimed', 'bot'],
      ['read', 'human'],
      ['inferred', 'human'],
    ];
    for (const [id, verdict] of labels)
      await server.call('POST', `/v1/sessions/${id}/label`, { key: tenant.key, body: { verdict } });
    const { body } = await server.call('GET', '/v1/sessions/signed', { key: tenant.key });
    const { courseId } = body.data;
    const { rows } = await render({ template: 'course-integrity', format: 'json', days: 1, courseId }, tenant);
    expect(rows).toMatchObject([
      {
        ...{ userId: 'ada', sessionCount: 4, botSessionCount: 2, anomalyCount: 1 },
        ...{ uncertainSessionCount: 2, uncertainBotSessionCount: 1, labeledBotCount: 1, labeledHumanCount: 2 },
      },
    ]);
    const all = await render({ template: 'sessions', format: 'json', days: 1, courseId }, tenant);
    const shown = all.rows.map(({ sessionId, label }: { sessionId: string; label: string }) => [sessionId, label]);
    expect(Object.fromEntries(shown)).toEqual({ ...Object.fromEntries(labels), signed: null });
  });

  it('has what happened in its window, and of each session what its latest score says', async () => {
    const tenant = await server.createTenant();
    const daysAgo = (days: number) => secondsAgo(days * 86_400);
    const visit = (id: string, days: number) => [
      started(id, { startedAt: daysAgo(days) }),
      scored(id, 0.1, { scoredAt: daysAgo(days), evidence: [finding('webdriver', { measured: 1, expected: '0' })] }),
      correlated(id, 'ada', { correlatedAt: daysAgo(days) }),
      anomaly(`ano-${id}`, { userId: 'ada', sessionId: id, detectedAt: daysAgo(days) }),
    ];
    await server.ingest(tenant.id, [
      ...[...visit('before', 12), ...visit('within', 8), ...visit('after', 4)],
      scored('within', 0.2, { scoredAt: daysAgo(7.5), evidence: [finding('no-approach', { measured: null })] }),
    ]);
    await foldSessionDeltas(server.service.db);
    const { body } = await server.call('GET', '/v1/sessions/within', { key: tenant.key });
    const window = { format: 'json', days: 4, until: daysAgo(6) } as const;
    const ofUser = await render({ ...window, template: 'user-evidence', userId: 'ada' }, tenant);
    expect(ofUser.rows).toMatchObject([{ sessionId: 'within', botScore: 0.2, findings: ['no-approach'] }]);
    expect(ofUser.sections.anomalies.rows).toMatchObject([{ id: 'ano-within' }]);
    const { courseId } = body.data;
    const ofCourse = await render({ ...window, template: 'course-integrity', courseId }, tenant);
    expect(ofCourse.rows).toMatchObject([{ userId: 'ada', sessionCount: 1, maxBotScore: 0.2, anomalyCount: 1 }]);
  });

  it('says from when on the plan keeps sessions, and that there are more anomalies than it lists', async () => {
    const tenant = await server.createTenant('free');
    const seen = Array.from({ length: 201 }, (_, n) => anomaly(`ano-${n}`, { userId: 'ada', sessionId: 'one' }));
    await server.ingest(tenant.id, [started('one'), correlated('one', 'ada'), ...seen]);
    const input = { template: 'user-evidence', format: 'json', userId: 'ada' } as const;
    const long = await render({ ...input, days: 90 }, tenant);
    const { requestedAt, sessionsKeptFrom } = long.report;
    expect(Date.parse(requestedAt) - Date.parse(sessionsKeptFrom)).toBe(30 * 86_400_000);
    expect([long.sections.anomalies.rows.length, long.sections.anomalies.hasMore]).toEqual([200, true]);
    // Also of exactly the days that the plan keeps.
    for (const days of [7, 30]) expect((await render({ ...input, days }, tenant)).report.sessionsKeptFrom).toBeNull();
  });

  it.each(['user-evidence', 'course-integrity', 'sessions'] as const)(
    'prints in %s how sure it is whose sessions they are',
    (template) => {
      const printed = TEMPLATES[template].columns.filter(({ isPrinted }) => isPrinted).map(({ key }) => key);
      expect(printed.some((key) => ['correlationConfidence', 'uncertainSessionCount'].includes(key))).toBe(true);
    },
  );
});

describe('a report of many rows', () => {
  it('is rendered in parts, each once, newest first, and goes on after a crash with the part that it was in', async () => {
    const run = await request(ALL, large);
    expect(await reports.jobs.beginReport(run)).toBe(true);
    const first = await reports.jobs.renderPart(run, START);
    expect(first).toMatchObject({ recordCount: 20_000, next: [expect.any(String), expect.any(String)] });
    expect(await readState(run)).toMatchObject({ state: 'Running', rows: 20_000 });
    const { next: after, recordCount, part } = first as Rendered[number];
    const start = { number: 1, after, recordCount };
    // The process dies after it has stored a part, and before the engine knows.
    await reports.jobs.renderPart(run, start);
    expect(await reports.jobs.beginReport(run)).toBe(true);
    const rest = await renderFrom(run, start);
    expect(rest.at(-1)!.recordCount).toBe(SESSIONS);
    await complete(run, [first as Rendered[number], ...rest]);
    const lines = (await read(run)).split('\r\n');
    const ids = lines.slice(1, -1).map((line) => line.split(',')[1]);
    expect([lines.length, new Set(ids).size]).toEqual([SESSIONS + 2, SESSIONS]);
    const times = lines.slice(1, -1).map((line) => line.split(',')[0]!);
    expect(times).toEqual([...times].sort().reverse());
    expect(part.size).toBeLessThan(8 * 1024 * 1024);
    // A file of which a piece is missing breaks the connection, so that nobody takes it for whole.
    await server.database.db.sql`delete from report_chunks where report_id = ${run.reportId} and number = 3`;
    await expect(read(run)).rejects.toThrow();
  });

  it('with a filter that few pass reads a bounded number of sessions in each part', async () => {
    const run = await request({ ...ALL, format: 'json', riskLevel: 'bot' }, large);
    await reports.jobs.beginReport(run);
    const rendered = await renderFrom(run, START);
    await complete(run, rendered);
    const { rowCount, rows } = JSON.parse(await read(run));
    expect([rowCount, rows.length]).toEqual([rows.length, rendered.at(-1)!.recordCount]);
    const page = await server.call('GET', '/v1/analytics?period=90d', { key: large.key });
    expect(page.status).toBe(200);
    expect(rows.every(({ riskLevel }: { riskLevel: string }) => riskLevel === 'bot')).toBe(true);
  });
});

describe('a run', () => {
  it('has its report alone, and a run that was given up changes nothing', async () => {
    const run = await request(ALL);
    const late = { ...run, runId: 'another run' };
    expect(woken).toEqual([{ integrationId: small.id, reportId: run.reportId }]);
    expect(await reports.jobs.beginReport(run)).toBe(true);
    expect(await reports.jobs.beginReport(late)).toBe(false);
    expect(await reports.jobs.renderPart(late, START)).toBeNull();
    await reports.jobs.failReport(late, 'late');
    expect(await readState(run)).toMatchObject({ state: 'Running', failure: null });
    expect(await countChunks(run)).toBe(0);
    await complete(run, await renderFrom(run, START));
    await complete(run, [{ part: { key: 'other', size: 1 }, recordCount: 1, next: null }]);
    expect(await readState(run)).toMatchObject({ state: 'Ready', rows: 40 });
    const [fired] = await server.database.db
      .sql`select count(*)::int as n from domain_events where natural_key = ${run.reportId}`;
    expect(fired).toEqual({ n: 1 });
    // As if the answer to its last step had got lost. Customers know of the report by now.
    await reports.jobs.failReport(run, 'It could not be sent.');
    expect(await readState(run)).toMatchObject({ state: 'Ready', failure: null });
    expect((await read(run, small)).split('\r\n')).toHaveLength(42);
  });

  it('stops when its report is deleted, and leaves nothing of it', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    const rendered = await renderFrom(run, START);
    await reports.delete(await contextOf(small), run.reportId);
    expect(await reports.jobs.renderPart(run, START)).toBeNull();
    await complete(run, rendered);
    expect(await readState(run)).toBeUndefined();
    expect(await countChunks(run)).toBe(0);
    const { sql } = server.database.db;
    expect(await sql`select 1 from reports where id = ${run.reportId}`).toHaveLength(0);
  });

  it('of which a part is stored while it is deleted leaves nothing either', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    const { write } = store;
    store.write = async (...part) => {
      await reports.delete(await contextOf(small), run.reportId);
      await write(...part).catch(() => {});
    };
    expect(await reports.jobs.renderPart(run, START)).toBeNull();
    expect(await countChunks(run)).toBe(0);
  });

  it('that was given up in the middle of a part removes that part alone', async () => {
    const run = await request(ALL);
    const next = { ...run, runId: 'the next run' };
    await reports.jobs.beginReport(run);
    const { write } = store;
    let rendered: Rendered = [];
    store.write = async (...part) => {
      store.write = write;
      await server.database.db.sql`
        update report_jobs set state = 'Queued', run_id = null where id = ${run.reportId}`;
      await reports.jobs.beginReport(next);
      rendered = await renderFrom(next, START);
      await write(...part);
    };
    expect(await reports.jobs.renderPart(run, START)).toBeNull();
    expect(await countChunks(run)).toBe(1);
    await complete(next, rendered);
    await complete(run, rendered);
    expect((await read(run, small)).split('\r\n')).toHaveLength(42);
  });

  it('whose store is away fails with the step, so that the engine tries again', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    const { write } = store;
    store.write = () => Promise.reject(new Error('the store is away'));
    await expect(reports.jobs.renderPart(run, START)).rejects.toThrow('away');
    store.write = write;
    await complete(run, await renderFrom(run, START));
    expect((await read(run, small)).split('\r\n')).toHaveLength(42);
  });

  it('whose fact cannot be sent stays in the list of those that are being made, and fails in the end', async () => {
    const { db, log, secrets } = server.service;
    const ingestFacts = async () => {
      throw new Error('the database is away');
    };
    const cut = createReports({
      ...{ db, log, cursorKey: secrets.cursorKey, stores: { current: 'postgres', postgres: store, s3: null } },
      ...{ ingester: { ...server.service.ingester, ingestFacts }, wake: async () => {} },
    });
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    const rendered = await renderFrom(run, START);
    await expect(complete(run, rendered, cut)).rejects.toThrow('away');
    const stateOf = async () => {
      const jobs = await reports.listJobs(await contextOf(small));
      return jobs.find(({ id }) => id === run.reportId)?.state;
    };
    expect(await stateOf()).toBe('Ready');
    await cut.jobs.failReport(run, 'It could not be sent.');
    expect(await stateOf()).toBe('Failed');
    await reports.delete(await contextOf(small), run.reportId);
  });

  it('that fails says why, to staff and to those who ask for the file', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    await reports.jobs.renderPart(run, START);
    await reports.jobs.failReport(run, 'It has more rows than a file may have.');
    expect(await countChunks(run)).toBe(0);
    const jobs = await reports.listJobs(await contextOf(small));
    expect(jobs.find(({ id }) => id === run.reportId)).toMatchObject({
      state: 'Failed',
      failure: 'It has more rows than a file may have.',
      failedAt: expect.stringMatching(/Z$/),
    });
    const answer = await server.call('GET', `/reports/${run.reportId}/download`, { key: small.key });
    expect([answer.status, answer.body.error.message]).toEqual([404, 'The report has no file: it failed']);
    await reports.delete(await contextOf(small), run.reportId);
  });

  it('of a report with too many parts fails in words', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    expect(await reports.jobs.renderPart(run, { ...START, number: 900 })).toEqual({
      failure: 'It has more rows than a file may have. Choose a shorter window.',
    });
  });
});

describe('a report that nobody renders', () => {
  const age = ({ reportId }: Run, interval: string) =>
    server.database.db.sql`update report_jobs set woken_at = now() - ${interval}::interval where id = ${reportId}`;

  it('because the engine was away when it was asked for is found after two minutes', async () => {
    isEngineAway = true;
    const run = await request(ALL);
    isEngineAway = false;
    expect(woken).toEqual([]);
    await age(run, '100 seconds');
    expect(await reports.jobs.wakeReports()).toBe(0);
    await age(run, '121 seconds');
    expect(await reports.jobs.wakeReports()).toBe(1);
    expect(woken).toEqual([{ integrationId: small.id, reportId: run.reportId }]);
    expect(await reports.jobs.wakeReports()).toBe(0);
  });

  it('because its run was lost is rendered by another one, from the beginning', async () => {
    const run = await request(ALL);
    // It lives as long as it begins and stores parts, however long it waited or takes.
    await age(run, '61 minutes');
    await reports.jobs.beginReport(run);
    expect(await reports.jobs.wakeReports()).toBe(0);
    await age(run, '61 minutes');
    await reports.jobs.renderPart(run, START);
    expect(await reports.jobs.wakeReports()).toBe(0);
    await age(run, '59 minutes');
    expect(await reports.jobs.wakeReports()).toBe(0);
    await age(run, '61 minutes');
    expect(await reports.jobs.wakeReports()).toBe(1);
    const next = { ...run, runId: 'the next run' };
    expect(await reports.jobs.beginReport(next)).toBe(true);
    expect(await reports.jobs.renderPart(run, START)).toBeNull();
    await complete(next, await renderFrom(next, START));
    expect((await read(run, small)).split('\r\n')).toHaveLength(42);
    // The part of the lost run goes with the report.
    expect(await countChunks(run)).toBe(2);
    await reports.delete(await contextOf(small), run.reportId);
    expect(await countChunks(run)).toBe(0);
  });
});

describe('a report that ends each process that renders it', () => {
  it('fails after a day', async () => {
    const run = await request(ALL);
    await reports.jobs.beginReport(run);
    await server.database.db.sql`
      update report_jobs set woken_at = now() - interval '2 hours', requested_at = now() - interval '25 hours' where id = ${run.reportId}`;
    expect(await reports.jobs.wakeReports()).toBe(0);
    expect(await readState(run)).toMatchObject({
      ...{ state: 'Failed', failure: expect.stringContaining('within a day'), at: expect.any(String) },
    });
    expect(await reports.jobs.renderPart(run, START)).toBeNull();
  });
});

describe('what is too old', () => {
  it('is removed: expired, failed and deleted reports, but none that waits or runs', async () => {
    const { sql } = server.database.db;
    const runs = [await request(ALL), await request(ALL), await request(ALL), await request(ALL)];
    const [ready, failed, running, queued] = runs as [Run, Run, Run, Run];
    await reports.jobs.beginReport(ready);
    await complete(ready, await renderFrom(ready, START));
    await reports.jobs.beginReport(failed);
    await reports.jobs.failReport(failed, 'why');
    await reports.jobs.beginReport(running);
    await sql`update report_jobs set expires_at = now() - interval '1 ms' where integration_id = ${small.id}`;
    await reports.jobs.pruneReports();
    expect([await readState(ready), await readState(failed)]).toEqual([undefined, undefined]);
    expect([(await readState(running))!.state, (await readState(queued))!.state]).toEqual(['Running', 'Queued']);
    expect(await countChunks(ready)).toBe(0);
  });

  it('is removed for a bounded time in each run, also if the store takes long for each', async () => {
    const { sql } = server.database.db;
    const runs = [await request(ALL), await request(ALL)];
    for (const run of runs) await reports.jobs.beginReport(run);
    const ids = runs.map(({ reportId }) => reportId);
    await sql`update report_jobs set state = 'Deleted', expires_at = now() - interval '1 ms' where id in ${sql(ids)}`;
    const { now } = performance;
    let [waitedMs, removed] = [0, 0];
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + waitedMs);
    store.remove = async () => {
      waitedMs += 60_000;
      removed++;
    };
    await reports.jobs.pruneReports().finally(() => vi.restoreAllMocks());
    expect(removed).toBe(1);
  });
});

describe('each page', () => {
  it.each([
    ['sessions', {}],
    ['sessions', { courseId: 'course-00007' }],
    ['sessions', { riskLevel: 'bot' }],
    ['user-evidence', { userId: 'user-00007' }],
    ['course-integrity', { courseId: 'course-00007' }],
    ['weekly-overview', {}],
  ] as const)('of %s with %j reads a part of an index', async (template, subject) => {
    const input = { template, format: 'json', days: 90, ...subject } as RequestReportInput;
    const run = await request(input, large);
    await reports.jobs.beginReport(run);
    const recorder = recordStatements(server.service.db);
    await renderFrom(run, START);
    const statements = recorder
      .take()
      .filter(({ text, parameters }) => text.includes('from') && parameters.includes(large.id));
    recorder.stop();
    expect(statements.length).toBeGreaterThan(1);
    const distinct = new Map(statements.map((statement) => [statement.text, statement]));
    for (const statement of [...distinct.values()].filter(({ text }) => !text.includes('report_'))) {
      const nodes = await explainStatement(server.database.db.sql, statement, 'generic');
      for (const node of nodes.filter((node) =>
        /^(sessions|anomalies|session_scores)$/.test(node['Relation Name'] ?? ''),
      ))
        expect([statement.text.slice(0, 80), node['Node Type'], countRead(node) <= 25_000]).toEqual([
          statement.text.slice(0, 80),
          expect.stringMatching(/Index/),
          true,
        ]);
    }
    await reports.delete(await contextOf(large), run.reportId);
  });

  it('of the busiest course counts each user once', async () => {
    const input = {
      template: 'course-integrity',
      format: 'json',
      days: 90,
      courseId: IN_VOLUME.busiest.courseId,
    } as const;
    const run = await request(input, large);
    await reports.jobs.beginReport(run);
    await complete(run, await renderFrom(run, START));
    const { rows, rowCount, sections } = JSON.parse(await read(run));
    expect([rowCount, new Set(rows.map(({ userId }: { userId: string }) => userId)).size]).toEqual([
      ...[sections.course.userCount, sections.course.userCount],
    ]);
    const counted = rows.reduce((sum: number, { sessionCount }: { sessionCount: number }) => sum + sessionCount, 0);
    const [expected] = await server.database.db.sql`
      select count(*)::int as n from sessions where integration_id = ${large.id} and course_id = ${input.courseId}
         and user_id is not null and created_at > now() - interval '90 days'`;
    expect(Math.abs(counted - expected!.n)).toBeLessThanOrEqual(1);
  });
});
