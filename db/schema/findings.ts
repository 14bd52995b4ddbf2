import { doublePrecision, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { ReportFormat } from '../../contract/events';
import { identifier, instant } from './columns';

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
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.sessionId, table.scoredAt] }),
    index('writing_scores_recent').on(table.integrationId, table.scoredAt),
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

/** Alerts that the customer's rules fired. */
export const alerts = pgTable(
  'alerts',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    severity: text('severity').notNull(),
    message: text('message').notNull(),
    triggeredAt: instant('triggered_at').notNull(),
    url: text('url'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('alerts_recent').on(table.integrationId, table.triggeredAt, table.id),
  ],
);
