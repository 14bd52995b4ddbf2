import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import type { Plan } from '../../contract/tiers';
import { bytes, identifier, instant } from './columns';

/** One row for the whole database: the region it belongs to, written by the first migration. */
export const meta = pgTable('meta', { region: text('region').primaryKey() });

/** A tenant. */
export const integrations = pgTable('integrations', {
  id: identifier('id').primaryKey(),
  name: text('name').notNull(),
  plan: text('plan').$type<Plan>().notNull(),
  status: text('status').$type<'Active'>().notNull().default('Active'),
  allowedOrigins: text('allowed_origins').array().notNull().default(sql`'{}'`),
  mediumAt: smallint('medium_at').notNull().default(40),
  botAt: smallint('bot_at').notNull().default(70),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** API keys: only the SHA-256 of a key is stored, and what its masked form shows. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: identifier('id').primaryKey(),
    integrationId: identifier('integration_id')
      .notNull()
      .references(() => integrations.id),
    name: text('name').notNull(),
    hash: bytes('hash').notNull().unique(),
    first4: text('first4').notNull(),
    last4: text('last4').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Behind by up to a minute. */
    lastUsedAt: instant('last_used_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [index('api_keys_integration').on(table.integrationId, table.createdAt)],
);

/**
 * Requests counted per bucket and clock minute. UNLOGGED (see the migration): a counter needs no flush to disk, and a
 * window that is lost with the machine is a minute of mercy.
 */
export const rateWindows = pgTable(
  'rate_windows',
  {
    bucket: text('bucket').notNull(),
    windowStart: instant('window_start').notNull(),
    requests: integer('requests').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.bucket, table.windowStart] }),
    index('rate_windows_start').on(table.windowStart),
  ],
);
