import { sql } from 'drizzle-orm';
import { bigint, boolean, date, index, integer, jsonb, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import type { GeoLocation } from '../../contract/sessions';
import { bytes, identifier, instant } from './columns';

// What the pixel sends. Facts about it go through the pipeline like those of a customer.

/** The sites of an integration: what the public key in a page's tag stands for. */
export const sites = pgTable(
  'sites',
  {
    id: identifier('id').primaryKey(),
    integrationId: identifier('integration_id').notNull(),
    /** Public: `site_` and 24 characters. */
    siteKey: identifier('site_key').notNull().unique(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    revokedAt: instant('revoked_at'),
    /** When the first batch of the site was kept. */
    firstBatchAt: instant('first_batch_at'),
  },
  (table) => [index('sites_integration').on(table.integrationId, table.createdAt)],
);

/** What the collector knows of a session that a pixel began. The session itself is in `sessions`, as a fact. */
export const collectedSessions = pgTable(
  'collected_sessions',
  {
    /** Stands for the session in the tables of its batches. */
    key: bigint('key', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    siteId: identifier('site_id').notNull(),
    createdAt: instant('created_at').notNull(),
    /** The UTC day of `createdAt`: the partition of its batches. */
    day: date('day', { mode: 'string' }).notNull(),
    userAgent: text('user_agent').notNull(),
    /** The network of the first batch's client (/24 or /48). */
    addressPrefix: text('address_prefix'),
    /** Not written any more. Older processes do so during a rolling upgrade, so a later version removes the column. */
    addressHash: bytes('address_hash'),
    country: text('country'),
    location: jsonb('location').$type<GeoLocation>(),
    /** When to look at the session again. Null once it is closed. */
    dueAt: instant('due_at'),
    closedAt: instant('closed_at'),
    /** Rises with each judgement, so that two processes cannot judge the same batches. */
    version: integer('version').notNull().default(0),
    /** Which batches the judgements cover, and what they wrote (server/collector). */
    progress: jsonb('progress').$type<Record<string, unknown>>(),
    /** Whether all batches that have arrived are judged, as far as the last judgement knew. */
    judgedAt: instant('judged_at'),
    /** Written at the close: digests of what was typed and pressed, and whether an earlier session has the same. */
    digests: bigint('digests', { mode: 'bigint' }).array(),
    isReplay: boolean('is_replay'),
  },
  (table) => [
    unique('collected_sessions_session').on(table.integrationId, table.sessionId),
    index('collected_sessions_due').on(table.dueAt).where(sql`due_at is not null`),
    index('collected_sessions_judged').on(table.judgedAt).where(sql`due_at is not null`),
    index('collected_sessions_day').on(table.day),
    index('collected_sessions_site').on(table.siteId, table.createdAt),
    index('collected_sessions_digests').using('gin', table.digests),
  ],
);

/** Batches as they arrived, packed. Partitioned by day (see the migration); a partition is dropped as a whole. */
export const sessionBatches = pgTable(
  'session_batches',
  {
    day: date('day', { mode: 'string' }).notNull(),
    sessionKey: bigint('session_key', { mode: 'number' }).notNull(),
    /** The id of the document, as a signed number. */
    document: bigint('document', { mode: 'bigint' }).notNull(),
    sequence: integer('sequence').notNull(),
    receivedAt: instant('received_at').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.day, table.sessionKey, table.document, table.sequence] }),
    index('session_batches_received').on(table.receivedAt),
  ],
);

/** All batches of a closed session in one compressed row. Partitioned like the batches. */
export const sessionTraces = pgTable(
  'session_traces',
  {
    day: date('day', { mode: 'string' }).notNull(),
    sessionKey: bigint('session_key', { mode: 'number' }).notNull(),
    batches: integer('batches').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.sessionKey] })],
);
