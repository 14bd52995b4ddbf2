import { sql } from 'drizzle-orm';
import { boolean, index, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import type { KeyScope } from '../../contract/integrations';
import type { Plan } from '../../contract/tiers';
import { bytes, identifier, instant } from './columns';

/** The region that the database belongs to, in one row. The first migration run writes it. */
export const meta = pgTable('meta', { region: text('region').primaryKey() });

/** A tenant. */
export const integrations = pgTable('integrations', {
  id: identifier('id').primaryKey(),
  name: text('name').notNull(),
  plan: text('plan').$type<Plan>().notNull(),
  status: text('status').$type<'Active'>().notNull().default('Active'),
  allowedOrigins: text('allowed_origins').array().notNull().default(sql`'{}'`),
  /** Encrypted. If there is one, users that a page names need a signature, unless unsigned ones are accepted. */
  identitySecret: bytes('identity_secret'),
  acceptsUnsignedUsers: boolean('accepts_unsigned_users').notNull().default(false),
  /** Whether a tag may ask to collect in spite of Global Privacy Control. */
  mayIgnorePrivacyControl: boolean('may_ignore_privacy_control').notNull().default(false),
  mediumAt: smallint('medium_at').notNull().default(40),
  botAt: smallint('bot_at').notNull().default(70),
  /** How many sessions of a day are drawn at random for review. 0: none. */
  reviewSampleSize: smallint('review_sample_size').notNull().default(0),
  /** Sessions that began before are counted by minute, later ones by and by. Null: all of them. */
  minutesRecountedTo: instant('minutes_recounted_to'),
  /** Not read any more. Older processes would count sessions of users who are not known reliably. A later version removes the column. */
  minutesCountedTo: instant('minutes_counted_to'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** API keys. Only the SHA-256 of a key and its masked form are stored. */
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
    /** Keys from before there were scopes, and those that an older process mints, have all that these could do. */
    scopes: text('scopes')
      .array()
      .$type<KeyScope[]>()
      .notNull()
      .default(sql`'{read,sessions:write,webhooks:write,settings:write}'`),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Up to a minute behind. */
    lastUsedAt: instant('last_used_at'),
    /** Null: never. */
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [index('api_keys_integration').on(table.integrationId, table.createdAt)],
);

/**
 * Requests counted per bucket and clock minute. UNLOGGED (see the migration), because a counter needs no flush to disk:
 * if a crash loses a window, callers only get one minute of extra quota.
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

/**
 * Keys that customers gave to requests of the last day. `answer_sealed` is written in the transaction of the request's effect. Without
 * it, a request is under way, or its process died: then the claim expires.
 */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    integrationId: identifier('integration_id')
      .notNull()
      .references(() => integrations.id),
    apiKeyId: identifier('api_key_id').notNull(),
    /** Keyed hashes of the key, and of route, path and body. */
    keyHash: bytes('key_hash').notNull(),
    contentHash: bytes('content_hash').notNull(),
    claim: uuid('claim').notNull(),
    claimedUntil: instant('claimed_until').notNull(),
    /** Encrypted, without a secret that is shown once. */
    answerSealed: bytes('answer_sealed'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.apiKeyId, table.keyHash] }),
    index('idempotency_keys_age').on(table.integrationId, table.createdAt),
  ],
);
