import { sql } from 'drizzle-orm';
import {
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import type { ReportFormat } from '../../contract/events';
import type { Cadence, ReportParameters, ReportState, ReportTemplate } from '../../contract/reports';
import { bytes, identifier, instant } from './columns';

/** A stored part of a report's file. The parts in their order are the file. */
export interface ReportPart {
  key: string;
  /** In bytes. */
  size: number;
}

/**
 * Reports that the product makes: what was asked for, how far it is, and where the file is. A report that is ready is also a
 * row of `reports`, as are those of a customer's own pipeline.
 */
export const reportJobs = pgTable(
  'report_jobs',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    name: text('name').notNull(),
    template: text('template').$type<ReportTemplate>().notNull(),
    format: text('format').$type<ReportFormat>().notNull(),
    parameters: jsonb('parameters').$type<ReportParameters>().notNull(),
    /** The window of the report. */
    startAt: instant('start_at').notNull(),
    endAt: instant('end_at').notNull(),
    /** A deleted one is hidden, and goes when its file is removed. */
    state: text('state').$type<ReportState | 'Deleted'>().notNull().default('Queued'),
    failure: text('failure'),
    /** The address of the account as it was then. Null for a schedule. */
    requestedBy: text('requested_by'),
    requestedAt: instant('requested_at').notNull().defaultNow(),
    /** When the engine last got a wake-up for it. */
    wokenAt: instant('woken_at').notNull().defaultNow(),
    /** The run of the engine that renders it. */
    runId: text('run_id'),
    recordCount: integer('record_count').notNull().default(0),
    /** In bytes. A double, because the size may exceed an integer column. */
    fileSize: doublePrecision('file_size'),
    /** Which store has the file, and its parts. */
    store: text('store').$type<'postgres' | 's3'>(),
    parts: jsonb('parts').$type<ReportPart[]>(),
    /** When it was ready, or failed. */
    completedAt: instant('completed_at'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    // Staff follow a link that names no integration.
    uniqueIndex('report_jobs_id').on(table.id),
    index('report_jobs_recent').on(table.integrationId, table.requestedAt, table.id),
    index('report_jobs_unfinished').on(table.wokenAt).where(sql`state in ('Queued', 'Running')`),
    index('report_jobs_expiry').on(table.expiresAt),
  ],
);

/** The bytes of reports, in the default store. They go with their report. */
export const reportChunks = pgTable(
  'report_chunks',
  {
    integrationId: identifier('integration_id').notNull(),
    reportId: identifier('report_id').notNull(),
    part: text('part').notNull(),
    number: integer('number').notNull(),
    content: bytes('content').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.reportId, table.part, table.number] }),
    foreignKey({
      name: 'report_chunks_report',
      columns: [table.integrationId, table.reportId],
      foreignColumns: [reportJobs.integrationId, reportJobs.id],
    }).onDelete('cascade'),
  ],
);

/** Reports that are made again and again. Each due time makes one report, whose id is a hash of both. */
export const reportSchedules = pgTable(
  'report_schedules',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    name: text('name').notNull(),
    template: text('template').$type<ReportTemplate>().notNull(),
    format: text('format').$type<ReportFormat>().notNull(),
    parameters: jsonb('parameters').$type<ReportParameters>().notNull(),
    cadence: text('cadence').$type<Cadence>().notNull(),
    weekday: smallint('weekday'),
    dayOfMonth: smallint('day_of_month'),
    hour: smallint('hour').notNull(),
    timeZone: text('time_zone').notNull(),
    nextDueAt: instant('next_due_at').notNull(),
    createdBy: text('created_by'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('report_schedules_due').on(table.nextDueAt),
  ],
);
