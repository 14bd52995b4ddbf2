import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { type CreateScheduleInput, REPORT_DAYS, type ReportSchedule } from '../../contract/reports';
import type { Database } from '../../db/client';
import { integrations, reportSchedules } from '../../db/schema';
import { nameActor, recordAct } from '../audit/acts';
import type { DomainContext } from '../domain/context';
import { SCHEDULED_SUBJECT } from '../domain/reports';
import { createId } from '../platform/ids';
import type { Logger } from '../platform/log';
import {
  assertSubjectNotErased,
  chooseWindow,
  DEFAULT_DAYS,
  type RequestContext,
  readParameters,
  type SubjectContext,
} from './requests';
import type { ReportKey } from './stores/store';
import { TEMPLATES } from './templates';

/** The most schedules of an integration. */
const MAX_SCHEDULES = 20;
/** What Postgres says of a time zone that it does not know. */
const INVALID_VALUE = '22023';

/**
 * Selects the times at which a schedule `s` is due in [from, to], each with the time of the clock that was asked for (SQL). Postgres
 * knows the time zones: an hour that a change of clocks skips is the next one, perhaps of the next day, and one that comes twice
 * counts once.
 */
export const selectScheduledTimes = (from: string, to: string) => `
  select clock at time zone s.time_zone as at, clock from (
    select day::date + make_interval(hours => s.hour) as clock
      from generate_series((${from} at time zone s.time_zone)::date - 1, (${to} at time zone s.time_zone)::date, interval '1 day') day
     where s.cadence = 'daily' or s.cadence = 'weekly' and extract(isodow from day) = s.weekday
        or s.cadence = 'monthly' and extract(day from day) = s.day_of_month) days
   where clock at time zone s.time_zone >= ${from} and clock at time zone s.time_zone <= ${to}`;

/** The next due time after now. A month later there is always one. */
const NEXT_DUE = `(select min(at) from (${selectScheduledTimes('now()', "(now() + interval '33 days')")}) next where at > now())`;

/**
 * Creates a schedule. NOT_FOUND for an unknown course or user, UNSUPPORTED_OPERATION beyond the most of an integration, and if it is
 * about a user who is being erased.
 */
export async function createReportSchedule(
  context: SubjectContext,
  input: CreateScheduleInput,
): Promise<{ id: string }> {
  const { db, actor, integration } = context;
  const { cadence, hour, timeZone, weekday = null, dayOfMonth = null, format } = input;
  const parameters = readParameters(input);
  const template = TEMPLATES[input.template];
  await template.assertSubject({ ...context, ...chooseWindow(parameters), parameters });
  const { id: integrationId } = integration;
  const id = createId('sch');
  const timing = { cadence, hour, timeZone, weekday, dayOfMonth };
  const asked = { name: input.name ?? template.name, template: input.template, format, parameters };
  const nextDueAt = await computeNextDue(db, timing);
  await db.orm.transaction(async (tx) => {
    await assertSubjectNotErased(tx, context, parameters);
    // Two requests at once must not both see the last free place.
    await tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, integrationId)).for('update');
    const [counted] = await tx
      .select({ n: sql<number>`count(*)::int` })
      .from(reportSchedules)
      .where(eq(reportSchedules.integrationId, integrationId));
    if (counted!.n >= MAX_SCHEDULES)
      throw new ApiError('UNSUPPORTED_OPERATION', `An integration has at most ${MAX_SCHEDULES} schedules`);
    const createdBy = nameActor(actor);
    await tx.insert(reportSchedules).values({ integrationId, id, ...asked, ...timing, nextDueAt, createdBy });
    const details = { ...asked, ...timing };
    await recordAct(tx, actor, { action: 'ReportScheduled', integrationId, subjectId: id, details });
  });
  return { id };
}

type Timing = Pick<ReportSchedule, 'cadence' | 'hour' | 'timeZone' | 'weekday' | 'dayOfMonth'>;

async function computeNextDue(db: Database, { cadence, hour, timeZone, weekday, dayOfMonth }: Timing): Promise<string> {
  try {
    const [row] = await db.query<{ at: string }>(COMPUTE_NEXT_DUE, [cadence, hour, timeZone, weekday, dayOfMonth]);
    return row!.at;
  } catch (error) {
    if ((error as { code?: unknown }).code !== INVALID_VALUE) throw error;
    throw new ApiError('INVALID_REQUEST', 'timeZone is not known to the database', { field: 'timeZone' });
  }
}

const COMPUTE_NEXT_DUE = `
  select ${NEXT_DUE} as at
    from (select $1::text as cadence, $2::int as hour, $3::text as time_zone, $4::int as weekday, $5::int as day_of_month) s`;

/** Lists the schedules of an integration, oldest first. */
export async function listReportSchedules({ db, integration }: DomainContext): Promise<ReportSchedule[]> {
  const { integrationId, parameters, ...shown } = getTableColumns(reportSchedules);
  const days = sql<number>`coalesce((${parameters} ->> 'days')::int, ${DEFAULT_DAYS}::int)`;
  return db.orm
    .select({ ...shown, ...SCHEDULED_SUBJECT, days })
    .from(reportSchedules)
    .where(eq(integrationId, integration.id))
    .orderBy(reportSchedules.createdAt, reportSchedules.id);
}

/** Deletes a schedule. The reports that it made stay. NOT_FOUND for an unknown one. */
export async function deleteReportSchedule(
  { db, actor, integration }: RequestContext,
  id: string,
): Promise<{ id: string }> {
  const { id: integrationId } = integration;
  await db.orm.transaction(async (tx) => {
    const [deleted] = await tx
      .delete(reportSchedules)
      .where(and(eq(reportSchedules.integrationId, integrationId), eq(reportSchedules.id, id)))
      .returning();
    if (!deleted) throw new ApiError('NOT_FOUND', 'Schedule not found');
    const { name, template, format } = deleted;
    const details = { name, template, format };
    await recordAct(tx, actor, { action: 'ReportScheduleDeleted', integrationId, subjectId: id, details });
  });
  return { id };
}

/**
 * Makes the reports of due schedules, each once, even if several processes look at the same time: the row is locked, and the
 * report's id is a hash of schedule and due time. After an outage, a schedule makes only the report of its latest due time.
 */
export async function makeDueReports(db: Database, log: Logger): Promise<ReportKey[]> {
  const parameters = [REPORT_DAYS, DEFAULT_DAYS];
  try {
    return await db.query<ReportKey>(composeMakeDue('true'), parameters);
  } catch (error) {
    if ((error as { code?: unknown }).code !== INVALID_VALUE) throw error;
    // Another Postgres may know fewer names than the one before: some systems left out `US/Eastern`.
    log.error(
      { err: error },
      'a schedule waits: its time zone is not known to the database; make it again in another one',
    );
    return db.query<ReportKey>(composeMakeDue(IS_KNOWN_ZONE), parameters);
  }
}

const DUE_BATCH = 100;
/** The id of a schedule is its own in all integrations. */
const HASH = `sha256(convert_to(due.id || ' ' || extract(epoch from due.due_at)::text, 'UTF8'))`;

/**
 * The start of a report's window as an expression of SQL, its days before the requested clock time. So the windows of a
 * daily report join, even when a change of clocks skips that time and the report is due an hour later.
 */
export const composeWindowStart = (clock: string, days: string, timeZone: string) =>
  `(${clock} - ${days} * interval '1 day') at time zone ${timeZone}`;

/** Postgres reads all its names for it, so it is only asked if one is unknown. The case of a name means nothing. */
const IS_KNOWN_ZONE = `lower(time_zone) in (
  select lower(name) from pg_timezone_names union all select lower(abbrev) from pg_timezone_abbrevs)`;

const composeMakeDue = (condition: string) => `
  with due as materialized (
    select s.*, coalesce(past.at, s.next_due_at) as due_at,
           coalesce(past.clock, s.next_due_at at time zone s.time_zone) as due_clock, ${NEXT_DUE} as later_at
      from (select * from report_schedules where next_due_at <= now() and ${condition}
             order by next_due_at limit ${DUE_BATCH} for update skip locked) s
      left join lateral (select * from (${selectScheduledTimes('s.next_due_at', 'now()')}) past order by at desc limit 1) past on true),
  moved as (
    update report_schedules s set next_due_at = due.later_at from due
     where s.integration_id = due.integration_id and s.id = due.id)
  insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, expires_at)
  select due.integration_id, 'rep_' || left(translate(encode(${HASH}, 'base64'), '+/', '-_'), 22), due.name, due.template,
         due.format, due.parameters,
         ${composeWindowStart('due.due_clock', "coalesce((due.parameters ->> 'days')::int, $2::int)", 'due.time_zone')}, due.due_at,
         now() + $1::int * interval '1 day'
    from due
  on conflict do nothing
  returning integration_id as "integrationId", id as "reportId"`;
