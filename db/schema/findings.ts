import { sql } from 'drizzle-orm';
import {
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import type { AlertComparison, AlertMetric, AlertScope } from '../../contract/alert-rules';
import type { ReportFormat, Severity } from '../../contract/events';
import type { FindingRuleName } from '../../contract/findings';
import type { WritingEvidence } from '../../contract/writing';
import { INCIDENT_STATUS, identifier, instant } from './columns';
import { integrations } from './integrations';

// Pipeline facts other than browsing sessions. They have no foreign keys either.

/** AI-content scores of writing sessions. The pixel need not have seen those sessions. */
export const writingScores = pgTable(
  'writing_scores',
  {
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    scoredAt: instant('scored_at').notNull(),
    aiScore: doublePrecision('ai_score').notNull(),
    userId: identifier('user_id'),
    documentId: identifier('document_id'),
    wordCount: integer('word_count'),
    /** The browsing session in which the text was written, if the collector measured it. */
    browsingSessionId: identifier('browsing_session_id'),
    evidence: jsonb('evidence').$type<WritingEvidence>(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.sessionId, table.scoredAt] }),
    index('writing_scores_recent').on(table.integrationId, table.scoredAt, table.sessionId),
    index('writing_scores_by_session').on(
      table.integrationId,
      table.browsingSessionId,
      table.scoredAt,
      table.sessionId,
    ),
    index('writing_scores_by_user').on(table.integrationId, table.userId, table.scoredAt, table.sessionId),
  ],
);

/** Reports that are Ready. After `expiresAt` they count as Expired. */
export const reports = pgTable(
  'reports',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    name: text('name').notNull(),
    templateId: identifier('template_id').notNull(),
    format: text('format').$type<ReportFormat>().notNull(),
    recordCount: integer('record_count'),
    /** In bytes. A double, because the size may exceed an integer column. */
    fileSize: doublePrecision('file_size'),
    completedAt: instant('completed_at').notNull(),
    expiresAt: instant('expires_at'),
    /** A path on the dashboard's API host. */
    downloadUrl: text('download_url').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('reports_recent').on(table.integrationId, table.completedAt, table.id),
  ],
);

/**
 * The rules by which staff get alerts. A rule holds if its metric in a window of `windowMinutes` compares so with `value`. Each
 * change of a rule is a new version. Deleted rules stay as long as there are alerts of them.
 */
export const alertRules = pgTable(
  'alert_rules',
  {
    integrationId: identifier('integration_id')
      .notNull()
      .references(() => integrations.id),
    id: identifier('id').notNull(),
    version: integer('version').notNull().default(1),
    name: text('name').notNull(),
    metric: text('metric').$type<AlertMetric>().notNull(),
    /** Of the metric `anomalies`: the type, and the least severity. Null: any. */
    anomalyType: text('anomaly_type'),
    minSeverity: text('min_severity').$type<Severity>(),
    scope: text('scope').$type<AlertScope>().notNull(),
    /** The course, user or origin; empty for the scope `integration`. */
    scopeValue: identifier('scope_value').notNull(),
    windowMinutes: integer('window_minutes').notNull(),
    comparison: text('comparison').$type<AlertComparison>().notNull(),
    value: doublePrecision('value').notNull(),
    /** A share or an average of fewer sessions says nothing. */
    minSessions: integer('min_sessions').notNull(),
    severity: text('severity').$type<Severity>().notNull(),
    message: text('message').notNull(),
    coolDownMinutes: integer('cool_down_minutes').notNull(),
    enabled: boolean('enabled').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    createdBy: text('created_by'),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    updatedBy: text('updated_by'),
    deletedAt: instant('deleted_at'),
    /** Windows that ended before are not judged: the rule did not exist, or had another condition, or was switched off. */
    judgedFrom: instant('judged_from').notNull().defaultNow(),
    /** The ends of the windows for which the rule fired lately, in minutes since 1970. */
    firedEnds: integer('fired_ends').array().notNull().default(sql`'{}'`),
    /** The facts of claimed alerts that are not committed yet. */
    unsent: jsonb('unsent').$type<Record<string, unknown>[]>(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.id] })],
);

/** Alerts that alert rules fired, ours or the customer's. */
export const alerts = pgTable(
  'alerts',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    severity: text('severity').notNull(),
    message: text('message').notNull(),
    triggeredAt: instant('triggered_at').notNull(),
    url: text('url'),
    /** The rule of ours that fired. Null: the customer's pipeline sent the alert. */
    ruleId: identifier('rule_id'),
    /** The window in which the rule held. */
    windowStart: instant('window_start'),
    windowEnd: instant('window_end'),
    acknowledgedAt: instant('acknowledged_at'),
    acknowledgedBy: text('acknowledged_by'),
    resolvedAt: instant('resolved_at'),
    resolvedBy: text('resolved_by'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('alerts_recent').on(table.integrationId, table.triggeredAt, table.id),
    index('alerts_rule').on(table.integrationId, table.ruleId, table.triggeredAt, table.id),
    index('alerts_status').on(table.integrationId, sql.raw(INCIDENT_STATUS), table.triggeredAt, table.id),
  ],
);

/** Why the rules look at a session again: what the facts of a commit said about it. */
export type OutboxCause = 'correlated' | 'happened' | 'scored' | 'closed';

/**
 * Sessions about which facts were committed that rules on findings read. Written in the transaction of the facts, removed when
 * the rules have judged the session.
 */
export const factOutbox = pgTable(
  'fact_outbox',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    sessionId: identifier('session_id').notNull(),
    causes: text('causes').array().$type<OutboxCause[]>().notNull(),
    /** When a process looks at the row, if the one that wrote it has not removed it. */
    dueAt: instant('due_at').notNull().default(sql`now() + interval '1 second'`),
    /** How often a process has found it left behind. */
    tries: smallint('tries').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.id] }), index('fact_outbox_due').on(table.dueAt)],
);

/** The rules that an integration's admins have switched. A rule without a row is on. */
export const findingRules = pgTable(
  'finding_rules',
  {
    integrationId: identifier('integration_id').notNull(),
    rule: text('rule').$type<FindingRuleName>().notNull(),
    isEnabled: boolean('is_enabled').notNull(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.rule] })],
);
