import { and, desc, eq, gt, inArray, notExists, or, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { MIN_INSTANT_MS } from '../../contract/fields';
import {
  PARAMETER_NAMES,
  REPORT_DAYS,
  type ReportJob,
  type ReportParameters,
  type RequestReportInput,
} from '../../contract/reports';
import type { Database, Transaction } from '../../db/client';
import { integrations, reportJobs, reports } from '../../db/schema';
import { type AuditedContext, nameActor, recordAct } from '../audit/acts';
import type { DomainContext } from '../domain/context';
import { REPORT_CONTENT } from '../domain/reports';
import { assertNotErased, type RefusalContext } from '../domain/user-erasures';
import { createId } from '../platform/ids';
import { removeReport } from './jobs';
import type { ReportKey, ReportStores, StoreName } from './stores/store';
import { TEMPLATES } from './templates';

/** The most reports of an integration that may wait or run at a time. */
const MAX_UNFINISHED = 20;
const RETRY_AFTER_SECONDS = 60;
/** The most unfinished and failed reports that staff see. */
const MAX_SHOWN_JOBS = 50;
const DAY_MS = 86_400_000;
/** The window of a template without a parameter for it. */
export const DEFAULT_DAYS = 7;

export type RequestContext = DomainContext & AuditedContext;
/** What a report is about may be a user whose erasure runs. */
export type SubjectContext = RequestContext & RefusalContext;

/**
 * Asks for a report. NOT_FOUND for an unknown course or user, UNSUPPORTED_OPERATION if it is about a user who is being erased,
 * RATE_LIMITED if too many wait.
 */
export async function requestReport(context: SubjectContext, input: RequestReportInput): Promise<ReportKey> {
  const { actor, integration, db } = context;
  const parameters = readParameters(input);
  // One clock for both, so that a window of the days that the plan keeps does not begin before them.
  const requestedAt = new Date().toISOString();
  const window = chooseWindow(parameters, input.until ?? requestedAt);
  const template = TEMPLATES[input.template];
  await template.assertSubject({ ...context, ...window, parameters });
  const id = createId('rep');
  await db.orm.transaction(async (tx) => {
    const { id: integrationId } = integration;
    await assertSubjectNotErased(tx, context, parameters);
    // Two requests at once must not both see the last free place.
    await tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, integrationId)).for('update');
    const [counted] = await tx
      .select({ n: sql<number>`count(*)::int` })
      .from(reportJobs)
      .where(and(eq(reportJobs.integrationId, integrationId), inArray(reportJobs.state, ['Queued', 'Running'])));
    if (counted!.n >= MAX_UNFINISHED) {
      const message = `At most ${MAX_UNFINISHED} reports of an integration can wait or run at a time`;
      throw new ApiError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const asked = { name: input.name ?? template.name, template: input.template, format: input.format, parameters };
    await tx.insert(reportJobs).values({
      ...{ integrationId, id, ...asked, ...window, requestedAt, requestedBy: nameActor(actor) },
      expiresAt: sql`now() + ${REPORT_DAYS}::int * interval '1 day'`,
    });
    await recordAct(tx, actor, { action: 'ReportRequested', integrationId, subjectId: id, details: asked });
  });
  return { integrationId: integration.id, reportId: id };
}

/** Until an erasure has moved the counts, its user is known. */
export async function assertSubjectNotErased(
  tx: Transaction,
  { integration, secrets }: SubjectContext,
  { userId }: ReportParameters,
): Promise<void> {
  if (userId !== undefined) await assertNotErased(tx, secrets.erasureKey, { integrationId: integration.id, userId });
}

/** Takes the parameters of a template out of an input. */
export function readParameters(input: object): ReportParameters {
  const given: ReportParameters = input;
  return Object.fromEntries(
    PARAMETER_NAMES.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
}

/** The window of that many days that ends at a time, or now. It begins with the earliest time at the earliest. */
export function chooseWindow({ days = DEFAULT_DAYS }: ReportParameters, until?: string) {
  const endMs = until === undefined ? Date.now() : Date.parse(until);
  const startMs = Math.max(endMs - days * DAY_MS, MIN_INSTANT_MS);
  return { startAt: new Date(startMs).toISOString(), endAt: new Date(endMs).toISOString() };
}

const factOf = ({ orm }: Database) =>
  orm
    .select({ one: sql`1` })
    .from(reports)
    .where(and(eq(reports.integrationId, reportJobs.integrationId), eq(reports.id, reportJobs.id)));

/** Lists the newest reports that are not in the list of reports: they are not finished, or have failed. Newest first. */
export async function listReportJobs({ db, integration }: DomainContext): Promise<ReportJob[]> {
  const { id, name, format, state, failure, recordCount, requestedAt } = reportJobs;
  const failedAt = sql<string | null>`case when ${state} = 'Failed' then ${reportJobs.completedAt} end`;
  const rows = await db.orm
    .select({ id, name, format, state, failure, failedAt, recordCount, ...REPORT_CONTENT })
    .from(reportJobs)
    .where(
      and(
        eq(reportJobs.integrationId, integration.id),
        // One that is ready is listed there as soon as its fact is committed.
        or(
          inArray(state, ['Queued', 'Running', 'Failed']),
          and(eq(state, 'Ready'), gt(reportJobs.expiresAt, sql`now()`), notExists(factOf(db))),
        ),
      ),
    )
    .orderBy(desc(requestedAt), desc(id))
    .limit(MAX_SHOWN_JOBS);
  return rows as ReportJob[];
}

/**
 * Deletes a report of ours, or cancels it if it is not ready. Returns the store with its file. NOT_FOUND for an unknown one, and for
 * one of a customer's own pipeline, whose file is not ours.
 */
export async function deleteReport(context: RequestContext, id: string): Promise<StoreName | null> {
  const { db, actor, integration } = context;
  const { id: integrationId } = integration;
  const isIt = and(eq(reportJobs.integrationId, integrationId), eq(reportJobs.id, id));
  return db.orm.transaction(async (tx) => {
    const [deleted] = await tx
      .update(reportJobs)
      .set({ state: 'Deleted', expiresAt: sql`now()` })
      .where(and(isIt, sql`${reportJobs.state} <> 'Deleted'`))
      .returning();
    if (!deleted) throw new ApiError('NOT_FOUND', 'Report not found');
    await tx.delete(reports).where(and(eq(reports.integrationId, integrationId), eq(reports.id, id)));
    const { name, template, format } = deleted;
    await recordAct(tx, actor, {
      ...{ action: 'ReportDeleted', integrationId, subjectId: id, details: { name, template, format } },
    });
    return deleted.store;
  });
}

/**
 * Removes the file of a report and then its row. If it fails in between, or if the store is not configured, the row stays for the
 * job of a later hour.
 */
export async function purgeReport(
  { db }: Pick<DomainContext, 'db'>,
  stores: ReportStores,
  report: ReportKey,
  store: StoreName | null,
): Promise<void> {
  if (store !== null) {
    if (!stores[store]) return;
    await stores[store].remove(report);
  }
  await removeReport(db, report);
}
