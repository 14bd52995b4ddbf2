import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import type { ActorKind, AuditAction } from '../../contract/audit';
import { identifier, instant } from './columns';

/**
 * Who changed keys, plans, thresholds and accounts. Each row is written in the transaction of its change and kept
 * forever, except for old changes by API keys (`pruneAuditEntries`). There are no foreign keys, because an entry outlives its subject.
 */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: identifier('id').primaryKey(),
    occurredAt: instant('occurred_at').notNull().defaultNow(),
    action: text('action').$type<AuditAction>().notNull(),
    actorKind: text('actor_kind').$type<ActorKind>().notNull(),
    actorId: identifier('actor_id'),
    actorName: text('actor_name'),
    clientAddress: text('client_address'),
    /** Null for changes to accounts, which belong to no integration. */
    integrationId: identifier('integration_id'),
    subjectId: identifier('subject_id').notNull(),
    details: jsonb('details').$type<Record<string, unknown>>().notNull(),
  },
  (table) => [
    index('audit_entries_integration').on(table.integrationId, table.occurredAt, table.id),
    // The history of a session needs the thresholds of a time. There are few changes of them among very many of labels.
    index('audit_entries_thresholds')
      .on(table.integrationId, table.occurredAt, table.id)
      .where(sql`action = 'ThresholdsChanged'`),
    index('audit_entries_time').on(table.occurredAt, table.id),
  ],
);
