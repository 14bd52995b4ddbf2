import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestReportInput } from '../../contract/reports';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { anomaly, closed, correlated, finding, report, scored, secondsAgo, started } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer, TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string; keyId: string };
let other: { id: string; key: string };
let analyst: StaffClient;
let courseId: string;

const of = ({ id }: { id: string }) => ({ 'x-integration-id': id });
const COURSE = 'https://lms.example.edu/courses/42';
const USER = 'lms 4711/é';

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startStaffServer({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '3' });
  tenant = await server.createTenant();
  other = await server.createTenant();
  analyst = await createStaffClient(server, 'analyst');
  const evidence = [finding('webdriver', { measured: 1, expected: '0' }), finding('quiet', { state: 'notFound' })];
  const facts = [0.1, 0.5, 0.95].flatMap((score, n) => {
    const id = `ses-${n}`;
    return [
      started(id, { pageUrl: `${COURSE}/quizzes/${n}`, deviceFingerprint: 'fp', startedAt: secondsAgo(60 - n) }),
      closed(id),
      scored(id, score, { detectionFlags: n === 2 ? ['webdriver', '=cmd'] : [], ruleSetVersion: '2026.4', evidence }),
      correlated(id, USER, { user: { id: USER, name: '=Ada, "Countess" 李' } }),
    ];
  });
  await server.ingest(tenant.id, [...facts, anomaly('ano-1', { userId: USER, sessionId: 'ses-0' })]);
  await foldSessionDeltas(server.service.db);
  courseId = (await server.call('GET', '/v1/courses', { key: tenant.key })).body.data[0].id;
  const body = { url: `${receiver.url}/ready`, eventType: 'ReportReady' };
  expect((await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).status).toBe(200);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const request = (input: object, as = analyst, whose: { id: string } = tenant) =>
  as.mutate('reports.request', input, of(whose));
const listReady = async () => (await analyst.query('reports.list', {}, of(tenant))).body.result.data.data;
const listJobs = async () => (await analyst.query('reports.jobs', undefined, of(tenant))).body.result.data;

/** Asks for a report and waits until it is ready. */
async function make(input: RequestReportInput) {
  const answer = await request(input);
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('rep_')]);
  const { id } = answer.body.result.data;
  await waitUntil(async () => (await listReady()).some((report: { id: string }) => report.id === id));
  const report = (await listReady()).find((report: { id: string }) => report.id === id);
  return { ...report, id: id as string };
}
const download = (id: string, options: object = { key: tenant.key }) =>
  server.call('GET', `/reports/${id}/download`, options);
const readCsv = ({ text }: Answer) => text.replace(/^\uFEFF/, '').split('\r\n');

describe('a report', () => {
  it('is rendered, is told to webhooks with a path that works, and can be downloaded with a key and by staff', async () => {
    const report = await make({ template: 'sessions', format: 'csv', days: 1, name: ' Käthe’s list ' });
    const file = await download(report.id);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-disposition': `attachment; filename="K_the_s list.csv"; filename*=UTF-8''K%C3%A4the%E2%80%99s%20list.csv`,
      'content-length': String(Buffer.byteLength(file.text) + 3),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'x-service-tier': 'enterprise',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    const [names, ...lines] = readCsv(file);
    expect(names).toMatch(/^createdAt,sessionId,status,riskLevel,botScore,detectionFlags,/);
    expect(lines).toHaveLength(4);
    expect(lines[0]).toContain(",ses-2,Scored,bot,0.95,webdriver;' =cmd,");
    expect(lines[0]).toContain(`"'=Ada, ""Countess"" 李"`);
    expect(report).toMatchObject({
      ...{ name: 'Käthe’s list', templateId: 'sessions', format: 'csv', recordCount: 3, status: 'Ready' },
      ...{ fileSize: Number(file.headers.get('content-length')), downloadUrl: `/reports/${report.id}/download` },
    });
    expect(Date.parse(report.expiresAt) - Date.parse(report.completedAt)).toBe(30 * 86_400_000);
    const byStaff = await download(report.id, { headers: { cookie: analyst.cookie } });
    expect([byStaff.status, byStaff.text, byStaff.headers.get('ratelimit')]).toEqual([200, file.text, null]);
    const told = () =>
      receiver.received.map(({ body }) => JSON.parse(body)).find(({ reportId }) => reportId === report.id);
    await waitUntil(() => told() !== undefined);
    expect(told()).toMatchObject({ reportName: 'Käthe’s list', downloadUrl: report.downloadUrl, recordCount: 3 });
    expect(await listJobs()).toEqual([]);
    const head = await server.call('HEAD', report.downloadUrl, { key: tenant.key });
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      ...[200, '', file.headers.get('content-length')],
    ]);
  });

  it('is told also if its step is repeated after the clock of the database was set back', async () => {
    const { id: reportId } = await make({ template: 'weekly-overview', format: 'csv' });
    const { sql } = server.database.db;
    await sql`delete from reports where id = ${reportId}`;
    const [job] = await sql<{ runId: string }[]>`
      update report_jobs set completed_at = completed_at + interval '1 hour' where id = ${reportId} returning run_id as "runId"`;
    const run = { integrationId: tenant.id, reportId, runId: job!.runId };
    await server.service.reports.jobs.completeReport(run, { parts: [], recordCount: 0 });
    expect((await listReady()).map(({ id }: { id: string }) => id)).toContain(reportId);
  });

  it('says who asked for it and what for, with names', async () => {
    const { id, content } = await make({ template: 'sessions', format: 'csv', days: 2, courseId, riskLevel: 'bot' });
    expect(content).toEqual({
      ...{ template: 'sessions', requestedBy: analyst.email, requestedAt: expect.stringMatching(/Z$/) },
      ...{ startAt: expect.stringMatching(/Z$/), endAt: expect.stringMatching(/Z$/) },
      ...{ courseId, courseName: expect.stringContaining('ourse'), userId: null, userName: null, riskLevel: 'bot' },
    });
    expect(Date.parse(content.endAt) - Date.parse(content.startAt)).toBe(2 * 86_400_000);
    const ofUser = await make({ template: 'user-evidence', format: 'csv', days: 1, userId: USER });
    expect(ofUser.content).toMatchObject({
      userId: USER,
      userName: expect.any(String),
      courseId: null,
      riskLevel: null,
    });
    // Until it is ready, its job says the same.
    const jobs = await listJobs();
    expect(jobs.filter((job: { id: string }) => job.id === id)).toEqual([]);
    await server.database.db.sql`
      insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, failure, completed_at, expires_at)
      values (${tenant.id}, 'rep_failed', 'n', 'sessions', 'csv', ${`{"courseId":"${courseId}","days":2}`}::jsonb, now(), now(),
              'Failed', 'Why', '2026-01-31T09:30:00Z', now() + interval '1 day')`;
    expect((await listJobs()).find((job: { id: string }) => job.id === 'rep_failed')).toMatchObject({
      ...{ courseId, courseName: content.courseName, riskLevel: null, requestedBy: null },
      ...{ failure: 'Why', failedAt: '2026-01-31T09:30:00.000Z' },
    });
    await server.database.db.sql`delete from report_jobs where id = 'rep_failed'`;
  });

  it('is told from one of a customer’s own pipeline, whose file is not here', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    await server.ingest(tenant.id, [report('foreign', { downloadUrl: '/reports/foreign/download' })]);
    const stored = new Map(
      (await listReady()).map((row: { id: string; content: unknown }) => [row.id, row.content !== null]),
    );
    expect([stored.get(id), stored.get('foreign')]).toEqual([true, false]);
    expect((await download('foreign')).status).toBe(404);
    expect((await analyst.mutate('reports.delete', { id: 'foreign' }, of(tenant))).status).toBe(404);
  });

  it('of sessions may be only those of a class or a course', async () => {
    const [bots, course] = await Promise.all([
      make({ template: 'sessions', format: 'json', days: 1, riskLevel: 'bot' }),
      make({ template: 'sessions', format: 'json', days: 1, courseId }),
    ]);
    const { body } = await download(bots.id);
    expect(body).toMatchObject({ rowCount: 1, rows: [{ sessionId: 'ses-2', detectionFlags: ['webdriver', '=cmd'] }] });
    expect(body.report).toMatchObject({ template: 'sessions', parameters: { days: 1, riskLevel: 'bot' } });
    expect((await download(course.id)).body.rowCount).toBe(3);
    const past = await make({ template: 'sessions', format: 'json', days: 1, until: '2026-01-01T00:00:00Z' });
    expect((await download(past.id)).body).toMatchObject({
      ...{ rowCount: 0, rows: [] },
      report: { startAt: '2025-12-31T00:00:00.000Z', endAt: '2026-01-01T00:00:00.000Z' },
    });
  });

  it('of a user has what was found in each session, and the anomalies', async () => {
    const { body } = await download(
      (await make({ template: 'user-evidence', format: 'json', userId: USER, days: 2 })).id,
    );
    expect(body.sections.user).toMatchObject({ id: USER, sessionCount: 3, botSessionCount: 1, anomalyCount: 1 });
    expect(body.sections.anomalies.rows).toMatchObject([{ id: 'ano-1', anomalyType: 'ImpossibleTravel' }]);
    expect(body.rows).toHaveLength(3);
    expect(body.rows[0]).toMatchObject({ ruleSetVersion: '2026.4', findings: ['webdriver: 1 (usual: 0)'] });
  });

  it('of a course counts the sessions of each user', async () => {
    const { body } = await download(
      (await make({ template: 'course-integrity', format: 'json', courseId, days: 2 })).id,
    );
    expect(body.sections.course).toMatchObject({ id: courseId, sessionCount: 3, userCount: 1 });
    expect(body.rows).toMatchObject([
      { userId: USER, sessionCount: 3, botSessionCount: 1, mediumSessionCount: 1, maxBotScore: 0.95, anomalyCount: 1 },
    ]);
  });

  it('of each template can be a document', async () => {
    const requests = [
      { template: 'sessions', days: 1 },
      { template: 'user-evidence', days: 1, userId: USER },
      { template: 'course-integrity', days: 1, courseId },
      { template: 'weekly-overview' },
    ] as const;
    // One after the other, because a process renders one document at a time, in seconds on a slow machine.
    for (const request of requests) {
      const { id, recordCount } = await make({ ...request, format: 'pdf' });
      const file = await download(id);
      expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/pdf']);
      expect(file.text).toMatch(/^%PDF-1\.7/);
      expect(recordCount).toBeGreaterThan(0);
    }
  });

  it('of a week agrees with the analytics', async () => {
    const made = await make({ template: 'weekly-overview', format: 'json' });
    const { body } = await download(made.id);
    const analytics = await server.call('GET', '/v1/analytics?period=7d&groupBy=day', { key: tenant.key });
    const { summary, timeSeries } = analytics.body.data;
    // It says what was counted: whole days of UTC until it was made, wherever it is shown.
    const { startAt, endAt } = body.report;
    expect(startAt).toBe(`${body.rows[0].day}T00:00:00.000Z`);
    expect(Date.parse(endAt)).toBeGreaterThanOrEqual(Date.parse(made.content.requestedAt));
    expect(made.content).toMatchObject({ startAt, endAt });
    expect(body.sections.totals).toMatchObject({ totalSessions: summary.totalSessions, uniqueUsers: 1 });
    expect(body.rows.map(({ sessionCount }: { sessionCount: number }) => sessionCount)).toEqual(
      timeSeries.map(({ sessionCount }: { sessionCount: number }) => sessionCount),
    );
    expect(body.sections.sessionsByDay.series.map(({ name }: { name: string }) => name)).toEqual([
      ...['Bot', 'Other sessions'],
    ]);
  });
});

describe('a download', () => {
  it('is refused without a key and a session, and with a wrong one', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    const codes = await Promise.all(
      [{}, { headers: { cookie: 'staff_session=x' } }, { key: 'aik_v1_x' }].map(async (options) => {
        const { status, body } = await download(id, options);
        return [status, body.error.code];
      }),
    );
    expect(codes).toEqual([
      [401, 'MISSING_API_KEY'],
      [401, 'MISSING_API_KEY'],
      [401, 'INVALID_API_KEY'],
    ]);
    // A wrong key is not made good by a session.
    expect((await download(id, { key: 'aik_v1_x', headers: { cookie: analyst.cookie } })).status).toBe(401);
  });

  it('finds nothing of another integration, and answers as for an unknown report', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    const answers = await Promise.all([
      download(id, { key: other.key }),
      download('rep_nobody', { key: other.key }),
      download('%00', { key: other.key }),
      download('%ff', { key: other.key }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(Array(4).fill([404, 'NOT_FOUND']));
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    expect((await analyst.mutate('reports.delete', { id }, of(other))).status).toBe(404);
    expect((await download(id)).status).toBe(200);
    const unknown = await download('rep_nobody', { headers: { cookie: analyst.cookie } });
    expect([unknown.status, unknown.body.error.message]).toEqual([404, 'Report not found']);
  });

  it('of a report that expired says so, and its file goes', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    const { sql } = server.database.db;
    await sql`update report_jobs set expires_at = now() - interval '1 ms' where id = ${id}`;
    await sql`update reports set expires_at = now() - interval '1 ms' where id = ${id}`;
    const gone = await download(id);
    expect([gone.status, gone.body.error.message]).toEqual([404, 'The report has expired']);
    expect((await listReady()).find((report: { id: string }) => report.id === id).status).toBe('Expired');
    await server.service.reports.jobs.pruneReports();
    expect(await sql`select 1 from report_chunks where report_id = ${id}`).toHaveLength(0);
    expect((await download(id)).body.error.message).toBe('Report not found');
  });

  it('takes GET and HEAD, and no other path', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    const headers = { authorization: `Bearer ${tenant.key}` };
    for (const [method, path] of [
      ['POST', `/reports/${id}/download`],
      ['DELETE', `/reports/${id}/download`],
      ['GET', `/reports/${id}`],
      ['GET', `/reports/${id}/download/`],
      ['GET', '/reports'],
      ['GET', `//reports/${id}/download`],
    ] as const)
      expect([method, path, (await server.call(method, path, { headers })).status]).toEqual([method, path, 404]);
  });

  it('has one of two places of its integration or account, and of eight of the process, as long as it is read', async () => {
    // More than the buffers of the system take.
    const [chunk, chunks, bytes] = ['x'.repeat(256 * 1024), 128, 32 * 1024 * 1024];
    const { sql } = server.database.db;
    await sql`
      insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, store, parts, file_size, expires_at)
      values (${tenant.id}, 'rep_large', 'n', 'sessions', 'csv', '{"days":1}', now(), now(), 'Ready', 'postgres',
              ${`[{"key":"a","size":${bytes}}]`}::text::jsonb, ${bytes}, now() + interval '1 day')`;
    await sql`
      insert into report_chunks (integration_id, report_id, part, number, content)
      select ${tenant.id}, 'rep_large', 'a', n, convert_to(${chunk}, 'UTF8') from generate_series(0, ${chunks - 1}) n`;
    const staff = [analyst];
    for (let n = 0; n < 3; n++) staff.push(await createStaffClient(server, 'viewer'));
    const withKey = { authorization: `Bearer ${tenant.key}` };
    const [first, second, third, late] = staff.map(({ cookie }) => ({ cookie }));
    const leave = new AbortController();
    // Kept, because the body of an answer that nobody holds is cancelled.
    const held: Response[] = [];
    const open = async (headers: object) => {
      const url = `${server.url}/reports/rep_large/download`;
      const answer = await fetch(url, { headers: { ...headers }, signal: leave.signal });
      held.push(answer);
      return [answer.status, answer.headers.get('retry-after')];
    };
    for (const who of [withKey, first, second]) {
      expect([await open(who!), await open(who!)]).toEqual(Array(2).fill([200, null]));
      expect(await open(who!)).toEqual([429, '10']);
    }
    expect([await open(third!), await open(third!)]).toEqual(Array(2).fill([200, null]));
    expect(await open(late!)).toEqual([429, '10']);
    expect((await download('rep_nobody')).status).toBe(404);
    leave.abort();
    const head = () => server.call('HEAD', '/reports/rep_large/download', { key: tenant.key });
    await waitUntil(async () => (await head()).status === 200);
    // What only asks for the head leaves its place to the next one.
    for (let n = 0; n < 3; n++) expect((await head()).status).toBe(200);
    await sql`delete from report_jobs where id = 'rep_large'`;
  });

  it('counts in the rate limit and in the usage of its key', async () => {
    const { id } = await make({ template: 'weekly-overview', format: 'csv' });
    const remaining = async () => Number(/;?r=(\d+)/.exec((await download(id)).headers.get('ratelimit')!)![1]);
    const before = await remaining();
    expect([before - 1, 599, 5_999, 59_999]).toContain(await remaining());
    const { key } = await server.createTenant('free');
    const answers = [];
    // A minute may begin in between.
    for (let n = 0; n < 8; n++) answers.push(await download('rep_nobody', { key }));
    expect(answers.find(({ status }) => status === 429)!.headers.get('retry-after')).toMatch(/^\d+$/);
    const usage = await server.call('GET', '/v1/usage', { key: tenant.key });
    const paths = usage.body.data.byEndpoint.map(({ path }: { path: string }) => path);
    expect(paths).toContain('/reports/{reportId}/download');
  });
});

describe('a request', () => {
  it.each([
    [{ template: 'nothing' }, 'template'],
    [{ template: 'sessions', format: 'xml', days: 1 }, 'format'],
    [{ template: 'sessions', format: 'csv' }, 'days'],
    [{ template: 'sessions', format: 'csv', days: 0 }, 'days'],
    [{ template: 'sessions', format: 'csv', days: 731 }, 'days'],
    [{ template: 'sessions', format: 'csv', days: 1.5 }, 'days'],
    [{ template: 'sessions', format: 'csv', days: 1, until: 'yesterday' }, 'until'],
    [{ template: 'weekly-overview', format: 'csv', until: '2026-01-01T00:00:00Z' }, 'until'],
    [{ template: 'sessions', format: 'csv', days: 1, name: '' }, 'name'],
    [{ template: 'sessions', format: 'csv', days: 1, name: ' \t' }, 'name'],
    [{ template: 'sessions', format: 'csv', days: 1, name: 'x'.repeat(201) }, 'name'],
    [{ template: 'course-integrity', format: 'csv', days: 1 }, 'courseId'],
    [{ template: 'user-evidence', format: 'csv', days: 1, userId: '\0' }, 'userId'],
  ])('%j is refused and changes nothing', async (input, field) => {
    const count = async () => (await server.database.db.sql`select count(*)::int as n from report_jobs`)[0]!.n;
    const before = await count();
    const answer = await request(input);
    expect([answer.status, answer.body.error.data.field]).toEqual([400, field]);
    expect(await count()).toBe(before);
  });

  it('covers no time before the earliest that there is', async () => {
    const until = '0001-01-01T12:00:00.000Z';
    const { id } = await make({ template: 'sessions', format: 'json', days: 730, until });
    const { startAt, endAt } = (await download(id)).body.report;
    expect([startAt, endAt]).toEqual(['0001-01-01T00:00:00.000Z', until]);
  });

  it('names what exists', async () => {
    const course = await request({ template: 'course-integrity', format: 'csv', days: 1, courseId: 'nothing' });
    expect([course.status, course.body.error.message]).toEqual([404, 'Course not found']);
    const foreign = await request({ template: 'course-integrity', format: 'csv', days: 1, courseId }, analyst, other);
    expect(foreign.status).toBe(404);
    const sessions = await request({ template: 'sessions', format: 'csv', days: 1, courseId: 'nothing' });
    expect([sessions.status, sessions.body.error.message]).toEqual([404, 'Course not found']);
    const user = await request({ template: 'user-evidence', format: 'csv', days: 1, userId: 'nobody' });
    expect([user.status, user.body.error.message]).toEqual([404, 'User not found']);
  });

  it('is refused while 20 others wait, also if many come at once', async () => {
    const busy = await server.createTenant();
    const { sql } = server.database.db;
    await sql`insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, expires_at)
              select ${busy.id}, 'waiting-' || ${busy.id} || n, 'n', 'sessions', 'csv', '{"days":1}', now(), now(), now() + interval '1 day'
                from generate_series(1, 18) n`;
    const input = { template: 'sessions', format: 'csv', days: 1 };
    const answers = await Promise.all(Array.from({ length: 5 }, () => request(input, analyst, busy)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(refused[0]!.body.error.message).toMatch(/^At most 20 reports/);
    await sql`delete from report_jobs where integration_id = ${busy.id}`;
  });

  it('is in the audit log, and so is a deletion, which removes the file', async () => {
    const admin = await createStaffClient(server, 'admin');
    const { id } = await make({ template: 'sessions', format: 'csv', days: 3, name: 'To be deleted' });
    expect((await analyst.mutate('reports.delete', { id }, of(tenant))).body.result.data).toEqual({ id });
    expect((await analyst.mutate('reports.delete', { id }, of(tenant))).status).toBe(404);
    const { sql } = server.database.db;
    expect(await sql`select 1 from report_chunks where report_id = ${id}`).toHaveLength(0);
    expect(await sql`select 1 from report_jobs where id = ${id}`).toHaveLength(0);
    expect((await listReady()).some((report: { id: string }) => report.id === id)).toBe(false);
    expect((await download(id)).status).toBe(404);
    const audit = (await admin.query('audit.list', {}, of(tenant))).body.result.data.data;
    const named = audit.filter(({ subjectId }: { subjectId: string }) => subjectId === id);
    expect(named.map(({ action, actor }: { action: string; actor: { name: string } }) => [action, actor.name])).toEqual(
      [
        ['ReportDeleted', analyst.email],
        ['ReportRequested', analyst.email],
      ],
    );
    expect(named[1].details).toEqual({
      ...{ name: 'To be deleted', template: 'sessions', format: 'csv', parameters: { days: 3 } },
    });
  });

  it('lists the templates with what they ask for', async () => {
    const templates = (await analyst.query('reports.templates', undefined, of(tenant))).body.result.data;
    expect(
      templates.map(({ id, parameters }: { id: string; parameters: { name: string; isRequired: boolean }[] }) => [
        id,
        parameters.map(({ name, isRequired }) => (isRequired ? `${name}!` : name)),
      ]),
    ).toEqual([
      ['course-integrity', ['courseId!', 'days!']],
      ['user-evidence', ['userId!', 'days!']],
      ['sessions', ['days!', 'riskLevel', 'courseId']],
      ['weekly-overview', []],
    ]);
  });
});
