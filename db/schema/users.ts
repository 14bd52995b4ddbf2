import { sql } from 'drizzle-orm';
import { doublePrecision, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Severity } from '../../contract/events';
import { INCIDENT_STATUS, identifier, instant } from './columns';

/** LMS users, as the latest correlation that named them described them. */
export const users = pgTable(
  'users',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    name: text('name').notNull(),
    email: text('email'),
    url: text('url'),
    /** The time of that correlation. */
    describedAt: instant('described_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('users_name').on(table.integrationId, sql`sort_name(name) collate "C"`, table.id),
  ],
);

/**
 * Every correlation of a session: the natural keys of `sessionCorrelated`. The latest is also stored on the session.
 */
export const sessionCorrelations = pgTable(
  'session_correlations',
  {
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    correlatedAt: instant('correlated_at').notNull(),
    userId: identifier('user_id').notNull(),
    confidence: doublePrecision('confidence').notNull(),
    contextId: text('context_id'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.sessionId, table.correlatedAt] })],
);

/** Devices that a customer confirmed as a user's own. The user need not be known to us. */
export const deviceConfirmations = pgTable(
  'device_confirmations',
  {
    integrationId: identifier('integration_id').notNull(),
    userId: identifier('user_id').notNull(),
    fingerprint: identifier('fingerprint').notNull(),
    firstConfirmedAt: instant('first_confirmed_at').notNull().defaultNow(),
    confirmedAt: instant('confirmed_at').notNull().defaultNow(),
    /** The address of the account, or the masked key, of the latest confirmation. Null if it is older than this column. */
    confirmedBy: text('confirmed_by'),
    notes: text('notes'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.userId, table.fingerprint] })],
);

/**
 * Anomalies found by the correlation pipeline. `metadata` holds a shortened fingerprint if the full one must not leave.
 */
export const anomalies = pgTable(
  'anomalies',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    type: text('type').notNull(),
    severity: text('severity').$type<Severity>().notNull(),
    detectedAt: instant('detected_at').notNull(),
    sessionId: identifier('session_id'),
    userId: identifier('user_id'),
    fingerprint: identifier('fingerprint'),
    metadata: jsonb('metadata').$type<Record<string, unknown>>(),
    acknowledgedAt: instant('acknowledged_at'),
    acknowledgedBy: text('acknowledged_by'),
    resolvedAt: instant('resolved_at'),
    resolvedBy: text('resolved_by'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('anomalies_status').on(table.integrationId, sql.raw(INCIDENT_STATUS), table.detectedAt, table.id),
    // Lists read the indexes backwards, newest first.
    index('anomalies_recent').on(table.integrationId, table.detectedAt, table.id),
    index('anomalies_user').on(table.integrationId, table.userId, table.detectedAt, table.id),
    index('anomalies_session').on(table.integrationId, table.sessionId, table.detectedAt, table.id),
    index('anomalies_type').on(table.integrationId, table.type, table.detectedAt, table.id),
    index('anomalies_severity').on(table.integrationId, table.severity, table.detectedAt, table.id),
  ],
);
