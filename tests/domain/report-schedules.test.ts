import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { timeZoneName } from '../../contract/fields';
import { composeWindowStart, selectScheduledTimes } from '../../server/reports/schedules';
import { beginWindow } from '../support/clock-window';
import { correlated, started } from '../support/facts';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

let server: TestServer;
let tenant: { id: string };
let admin: StaffClient;

beforeAll(async () => {
  server = await startStaffServer();
  // Its crons would make the reports of these tests.
  await server.service.engine!.stop(0);
  admin = await createStaffClient(server, 'admin');
});
afterAll(() => server.stop());
beforeEach(async () => {
  // Schedules are due at full hours.
  await beginWindow(server.database.db, 3_600_000, 20_000);
  tenant = await server.createTenant();
});

const of = () => ({ 'x-integration-id': tenant.id });
const SESSIONS = { template: 'sessions', format: 'csv', days: 7 } as const;
const DAILY = { cadence: 'daily', hour: 6, timeZone: 'Europe/Paris' } as const;
const create = (input: object) => admin.mutate('reports.createSchedule', input, of());
const list = async () => (await admin.query('reports.listSchedules', undefined, of())).body.result.data;
const makeDue = () => server.service.reports.jobs.makeDueReports();
const sql = () => server.database.db.sql;
const listJobs = () => sql()`
  select id, name, template, format, state, parameters, start_at as "startAt", end_at as "endAt", requested_by as "requestedBy",
         extract(day from expires_at - requested_at)::int as "daysKept"
    from report_jobs where integration_id = ${tenant.id} order by end_at`;
/** Makes the schedules of the tenant due. */
const setDue = (at: string) =>
  sql()`update report_schedules set next_due_at = ${at}::timestamptz where integration_id = ${tenant.id}`;

describe('a schedule', () => {
  it('is due at its hour in its time zone, and makes one report, however many processes look', async () => {
    const { id } = (await create({ ...SESSIONS, ...DAILY, name: 'Daily list' })).body.result.data;
    const [schedule] = await list();
    expect(schedule).toMatchObject({ id, name: 'Daily list', ...DAILY, weekday: null, createdBy: admin.email });
    const hour = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Paris', hour: '2-digit', minute: '2-digit' });
    expect(hour.format(new Date(schedule.nextDueAt))).toBe('06:00');
    const waitMs = Date.parse(schedule.nextDueAt) - Date.now();
    expect(waitMs > 0 && waitMs <= 25 * 3_600_000).toBe(true);
    expect(await makeDue()).toBe(0);
    // A day of its time zone, which has 25 hours when clocks go back.
    await sql()`
      update report_schedules set next_due_at = (next_due_at at time zone time_zone - interval '1 day') at time zone time_zone
       where id = ${id}`;
    const made = await Promise.all([makeDue(), makeDue(), makeDue()]);
    expect(made.sort()).toEqual([0, 0, 1]);
    const [job, ...others] = await listJobs();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ name: 'Daily list', template: 'sessions', state: 'Queued', requestedBy: null });
    expect(job!.id).toMatch(/^rep_[\w-]{22}$/);
    expect(hour.format(new Date(job!.startAt))).toBe(hour.format(new Date(job!.endAt)));
    expect(Math.round((Date.parse(job!.endAt) - Date.parse(job!.startAt)) / 86_400_000)).toBe(7);
    // So long staff see it, also if it fails.
    expect(job!.daysKept).toBe(30);
    expect((await list())[0].nextDueAt).toBe(schedule.nextDueAt);
  });

  it.each(['CET', 'EET', 'IST', 'EST5EDT', 'utc', 'Asia/Kolkata'])(
    'in %s is due at its hour of that zone, also in summer',
    async (name) => {
      const [due] = await sql().unsafe(
        `select due.at from (select 'daily' as cadence, 6 as hour, $1::text as time_zone, null::int as weekday, null::int as day_of_month) s
        cross join lateral (${selectScheduledTimes("'2026-07-01T00:00Z'::timestamptz", "'2026-07-02T12:00Z'::timestamptz")}) due limit 1`,
        [timeZoneName().parse(name)],
      );
      const hour = new Intl.DateTimeFormat('en-GB', { timeZone: name, hour: '2-digit', minute: '2-digit' });
      expect(hour.format(new Date(due!.at))).toBe('06:00');
    },
  );

  it('takes no offset for a time zone, because its sign means two things', () => {
    expect(['+05:30', '-03:00', 'Nowhere/AtAll', ''].filter((name) => timeZoneName().safeParse(name).success)).toEqual(
      [],
    );
  });

  it.each(['2026-03-27T00:00Z', '2026-10-23T00:00Z'])(
    'covers whole days of its time zone, so that daily reports join when clocks change after %s',
    async (from) => {
      // Each hour of the clock: also the one that is skipped, and the one that comes twice.
      const windows = await sql().unsafe(`
        select s.hour, due.at as "endAt", ${composeWindowStart('due.clock', '1', 's.time_zone')} as "startAt"
          from (select 'daily' as cadence, hour, 'Europe/Paris' as time_zone, null::int as weekday, null::int as day_of_month
                  from generate_series(0, 23) hour) s
         cross join lateral (${selectScheduledTimes(`'${from}'::timestamptz`, `('${from}'::timestamptz + interval '5 days')`)}) due
         order by 1, 2`);
      const joins = windows.flatMap(({ hour, startAt }, n) =>
        windows[n - 1]?.hour === hour ? [[hour, startAt, windows[n - 1]!.endAt]] : [],
      );
      expect(joins.length).toBeGreaterThanOrEqual(24 * 4);
      for (const [hour, startAt, endBefore] of joins) expect([hour, startAt]).toEqual([hour, endBefore]);
    },
  );

  it('finds a due time again from itself, also one that a change of clocks moves to the next day', async () => {
    // In Nuuk the hour 23 of 28 March 2026 is skipped.
    const [found] = await sql().unsafe(`
      select due.at, due.clock::text from (
        select 'daily' as cadence, 23 as hour, 'America/Nuuk' as time_zone, null::int as weekday, null::int as day_of_month) s
       cross join lateral (${selectScheduledTimes("'2026-03-29T01:00Z'::timestamptz", "'2026-03-29T01:10Z'::timestamptz")}) due`);
    expect(found).toMatchObject({ at: '2026-03-29T01:00:00.000Z', clock: '2026-03-28 23:00:00' });
  });

  it('makes the same report only once, even if its due time comes again', async () => {
    await create({ ...SESSIONS, ...DAILY, timeZone: 'UTC' });
    const due = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T06:00:00Z`;
    await setDue(due);
    expect(await makeDue()).toBe(1);
    await setDue(due);
    expect(await makeDue()).toBe(0);
    expect(await listJobs()).toHaveLength(1);
  });

  it('makes only the report of its latest due time after an outage', async () => {
    await create({ ...SESSIONS, ...DAILY, timeZone: 'UTC' });
    await setDue(`${new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10)}T06:00:00Z`);
    expect(await makeDue()).toBe(1);
    const [job] = await listJobs();
    const ageMs = Date.now() - Date.parse(job!.endAt);
    expect(ageMs >= 0 && ageMs < 86_400_000).toBe(true);
    expect(await makeDue()).toBe(0);
  });

  it('whose time zone the database does not know any more waits alone', async () => {
    const { id } = (await create({ ...SESSIONS, ...DAILY, name: 'Waits' })).body.result.data;
    await create({ ...SESSIONS, ...DAILY, timeZone: 'europe/paris', name: 'Is made' });
    await sql()`update report_schedules set time_zone = 'US/Nowhere' where id = ${id}`;
    const due = new Date(Date.now() - 3_600_000).toISOString();
    await setDue(due);
    expect(await makeDue()).toBe(1);
    expect(await listJobs()).toMatchObject([{ name: 'Is made' }]);
    const waiting = (await list()).find((schedule: { id: string }) => schedule.id === id);
    expect(waiting.nextDueAt).toBe(due);
    await sql()`delete from report_schedules where id = ${id}`;
  });

  it('says what its reports are about, with names', async () => {
    const page = { pageUrl: 'https://lms.example.edu/courses/42' };
    await server.ingest(tenant.id, [started('s', page), correlated('s', 'u-1', { user: { id: 'u-1', name: 'Ada' } })]);
    await sql()`update courses set name = 'Algebra' where integration_id = ${tenant.id}`;
    const [course] = await sql()`select id from courses where integration_id = ${tenant.id}`;
    const courseId = course!.id;
    await create({ ...SESSIONS, ...DAILY, courseId, riskLevel: 'bot', days: 31, name: 'a' });
    await create({ template: 'user-evidence', format: 'pdf', days: 1, userId: 'u-1', ...DAILY, name: 'b' });
    await create({ template: 'weekly-overview', format: 'json', ...DAILY, name: 'c' });
    const all = { courseId: null, courseName: null, userId: null, userName: null, riskLevel: null };
    expect(await list()).toMatchObject([
      { ...all, name: 'a', days: 31, courseId, courseName: 'Algebra', riskLevel: 'bot' },
      { ...all, name: 'b', days: 1, userId: 'u-1', userName: 'Ada' },
      { ...all, name: 'c', days: 7 },
    ]);
  });

  it('about a course or a user of another integration is refused', async () => {
    const other = await server.createTenant();
    await server.ingest(other.id, [started('s'), correlated('s', 'u-1')]);
    const [course] = await sql()`select id from courses where integration_id = ${other.id}`;
    const subjects = [
      { template: 'course-integrity', courseId: course!.id },
      { template: 'sessions', courseId: course!.id },
      { template: 'user-evidence', userId: 'u-1' },
    ];
    for (const subject of subjects)
      expect((await create({ ...subject, format: 'csv', days: 7, ...DAILY })).status).toBe(404);
    expect(await list()).toEqual([]);
  });

  it('of a course that is gone fails in words', async () => {
    await server.ingest(tenant.id, [started('s', { pageUrl: 'https://lms.example.edu/courses/42' })]);
    const [course] = await sql()`select id from courses where integration_id = ${tenant.id}`;
    const input = { template: 'course-integrity', format: 'json', days: 1, courseId: course!.id };
    expect((await create({ ...input, ...DAILY })).status).toBe(200);
    await setDue(new Date(Date.now() - 3_600_000).toISOString());
    await makeDue();
    await sql()`delete from courses where integration_id = ${tenant.id}`;
    const [job] = await listJobs();
    const run = { integrationId: tenant.id, reportId: job!.id, runId: 'run' };
    const { jobs } = server.service.reports;
    await jobs.beginReport(run);
    expect(await jobs.renderPart(run, { number: 0, after: null, recordCount: 0 })).toEqual({
      failure: 'Course not found.',
    });
  });

  it('is deleted, and its reports stay', async () => {
    const { id } = (await create({ ...SESSIONS, ...DAILY })).body.result.data;
    await setDue(new Date(Date.now() - 3_600_000).toISOString());
    await makeDue();
    const other = await server.createTenant();
    const elsewhere = await admin.mutate('reports.deleteSchedule', { id }, { 'x-integration-id': other.id });
    expect(elsewhere.status).toBe(404);
    expect((await admin.mutate('reports.deleteSchedule', { id }, of())).body.result.data).toEqual({ id });
    expect((await admin.mutate('reports.deleteSchedule', { id }, of())).status).toBe(404);
    expect([await list(), (await listJobs()).length]).toEqual([[], 1]);
    const audit = (await admin.query('audit.list', {}, of())).body.result.data.data;
    expect(audit.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      ...['ReportScheduleDeleted', 'ReportScheduled'],
    ]);
  });

  it('is refused beyond the twentieth, and nothing is written', async () => {
    await sql()`
      insert into report_schedules (integration_id, id, name, template, format, parameters, cadence, hour, time_zone, next_due_at)
      select ${tenant.id}, 'sch-' || n, 'n', 'sessions', 'csv', '{}', 'daily', 0, 'UTC', now() + interval '1 year' from generate_series(1, 19) n`;
    const answers = await Promise.all([create({ ...SESSIONS, ...DAILY }), create({ ...SESSIONS, ...DAILY })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await list()).toHaveLength(20);
  });

  it.each([
    [{ ...DAILY, cadence: 'hourly' }, 'cadence'],
    [{ ...DAILY, cadence: 'weekly' }, 'weekday'],
    [{ ...DAILY, cadence: 'weekly', weekday: 8 }, 'weekday'],
    [{ ...DAILY, cadence: 'monthly' }, 'dayOfMonth'],
    [{ ...DAILY, cadence: 'monthly', dayOfMonth: 29 }, 'dayOfMonth'],
    [{ ...DAILY, hour: 24 }, 'hour'],
    [{ ...DAILY, hour: 6.5 }, 'hour'],
    [{ ...DAILY, timeZone: 'Europe/Atlantis' }, 'timeZone'],
    [{ ...DAILY, timeZone: '' }, 'timeZone'],
    [{ ...DAILY, timeZone: "UTC'; drop table x" }, 'timeZone'],
  ])('with %j is refused', async (timing, field) => {
    const answer = await create({ ...SESSIONS, ...timing });
    expect([answer.status, answer.body.error.data.field]).toEqual([400, field]);
    expect(await list()).toEqual([]);
  });
});

describe('the due times', () => {
  const S = `(select $1::text as cadence, $2::int as hour, $3::text as time_zone, $4::int as weekday, $5::int as day_of_month) s`;
  const read = async (from: string, to: string, parameters: (string | number | null)[]) =>
    (
      await server.database.db.query<{ at: string }>(
        `select due.at from ${S} cross join lateral (${selectScheduledTimes('$6::timestamptz', '$7::timestamptz')}) due order by 1`,
        [...parameters, from, to] as string[],
      )
    ).map(({ at }) => at.slice(0, 16));

  it.each<[name: string, from: string, to: string, parameters: (string | number | null)[], times: string[]]>([
    [
      'of a day, when clocks go forward and the hour does not exist',
      ...(['2026-03-28T00:00Z', '2026-03-30T12:00Z'] as const),
      ['daily', 2, 'Europe/Paris', null, null],
      ['2026-03-28T01:00', '2026-03-29T01:00', '2026-03-30T00:00'],
    ],
    [
      'of a day, when clocks go back and the hour comes twice',
      ...(['2026-10-24T00:00Z', '2026-10-26T12:00Z'] as const),
      ['daily', 2, 'Europe/Paris', null, null],
      ['2026-10-24T00:00', '2026-10-25T01:00', '2026-10-26T01:00'],
    ],
    [
      'of a week, where the day is another one than in UTC',
      ...(['2026-11-01T00:00Z', '2026-11-20T00:00Z'] as const),
      ['weekly', 1, 'Asia/Tokyo', 1, null],
      ['2026-11-01T16:00', '2026-11-08T16:00', '2026-11-15T16:00'],
    ],
    [
      'of a month',
      ...(['2026-01-01T00:00Z', '2026-04-01T00:00Z'] as const),
      ['monthly', 23, 'America/New_York', null, 28],
      ['2026-01-29T04:00', '2026-03-01T04:00', '2026-03-29T03:00'],
    ],
    [
      'of a zone with half an hour',
      ...(['2026-06-01T00:00Z', '2026-06-02T00:00Z'] as const),
      ['daily', 6, 'Asia/Kolkata', null, null],
      ['2026-06-01T00:30'],
    ],
  ])('%s', async (_name, from, to, parameters, times) => {
    expect(await read(from, to, parameters)).toEqual(times);
  });
});
