import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import type { SkipReason } from '../../contract/deliveries';
import type { EventTypeName } from '../../contract/events';
import type { NotedState } from '../../contract/webhook-states';
import type { DeliveryStatus, Threshold } from '../../contract/webhooks';
import { bytes, identifier, instant } from './columns';
import { integrations } from './integrations';

/** Events of a tenant that webhooks may report. The payload text is stored once, for all subscriptions. */
export const domainEvents = pgTable(
  'domain_events',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    type: text('type').$type<EventTypeName>().notNull(),
    naturalKey: identifier('natural_key').notNull(),
    payload: text('payload').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Why the event was not sent to a subscription of its type: subscription id → reason. */
    skips: jsonb('skips').$type<Record<string, SkipReason>>(),
    /** How deliveries ended that the log no longer shows: subscription id → status. */
    ended: jsonb('ended').$type<Record<string, DeliveryStatus>>(),
    /** Where the event is in the order in which events become visible (`db/event-positions.ts`). */
    position: bigint('position', { mode: 'bigint' }).notNull().default(sql`event_position(pg_current_xact_id())`),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    unique('domain_events_once').on(table.integrationId, table.type, table.naturalKey),
    index('domain_events_type').on(table.integrationId, table.type, table.createdAt, table.id),
    index('domain_events_position').on(table.integrationId, table.position, table.id),
    index('domain_events_skipped').on(table.integrationId, table.createdAt, table.id).where(sql`skips is not null`),
  ],
);

export const webhookSubscriptions = pgTable(
  'webhook_subscriptions',
  {
    integrationId: identifier('integration_id')
      .notNull()
      .references(() => integrations.id),
    id: identifier('id').notNull(),
    url: text('url').notNull(),
    eventType: text('event_type').$type<EventTypeName>().notNull(),
    threshold: jsonb('threshold').$type<Threshold>(),
    name: text('name').notNull(),
    enabled: boolean('enabled').notNull(),
    secretSealed: bytes('secret_sealed').notNull(),
    /** The secret before, while the grace period of its rotation runs; a job removes it afterwards. */
    previousSecretSealed: bytes('previous_secret_sealed'),
    previousSecretUntil: instant('previous_secret_until'),
    consecutiveFailures: integer('consecutive_failures').notNull().default(0),
    disabledReason: text('disabled_reason'),
    disabledFailureClass: text('disabled_failure_class'),
    lastDeliveryAt: instant('last_delivery_at'),
    lastDeliveryStatus: text('last_delivery_status').$type<DeliveryStatus>(),
    /** When the last wake-up was sent to the engine. The drain clears it before it claims. */
    nudgedAt: instant('nudged_at'),
    /** The state of the last notice to the operator, or that it was enabled since; null if there was none. */
    toldState: text('told_state').$type<NotedState>(),
    createdAt: instant('created_at').notNull().defaultNow(),
    deletedAt: instant('deleted_at'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    // Deleted ones stay for as long as the delivery log shows them. Nobody who looks for the others reads them.
    index('webhook_subscriptions_live').on(table.integrationId, table.id).where(sql`deleted_at is null`),
    index('webhook_subscriptions_deleted').on(table.deletedAt).where(sql`deleted_at is not null`),
    index('webhook_subscriptions_rotated').on(table.previousSecretUntil).where(sql`previous_secret_until is not null`),
  ],
);

/**
 * One event for one subscription. `attempts` counts the attempts begun since the delivery was last sent by hand. A
 * lease belongs to the current attempt.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    subscriptionId: identifier('subscription_id').notNull(),
    /** Null for a test delivery, whose payload is not needed again. */
    eventId: identifier('event_id'),
    isTest: boolean('is_test').notNull().default(false),
    /** Of a test delivery, the event type that was sent. Null for others, and for tests that are older than this column. */
    eventType: text('event_type').$type<EventTypeName>(),
    status: text('status').$type<DeliveryStatus>().notNull().default('Pending'),
    attempts: smallint('attempts').notNull().default(0),
    /** How often the delivery was sent again by hand after it ended. Each time it gets all attempts again. */
    resends: smallint('resends').notNull().default(0),
    /** How many processes in a row died during an attempt. */
    crashes: smallint('crashes').notNull().default(0),
    /** While an attempt runs: the end of its lease. */
    nextAttemptAt: instant('next_attempt_at'),
    lease: uuid('lease'),
    /** The process that holds the lease. Null: only the end of the lease says that the process is gone. */
    leaseOwner: integer('lease_owner'),
    failureClass: text('failure_class'),
    createdAt: instant('created_at').notNull().defaultNow(),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    unique('webhook_deliveries_once').on(table.integrationId, table.eventId, table.subscriptionId),
    index('webhook_deliveries_due')
      .on(table.integrationId, table.subscriptionId, table.nextAttemptAt)
      .where(sql`status = 'Pending' and lease is null`),
    // Few rows: what is delivered at once never enters it.
    index('webhook_deliveries_retries')
      .on(table.integrationId, table.subscriptionId, table.nextAttemptAt)
      .where(sql`status = 'Pending' and lease is null and attempts > 0`),
    index('webhook_deliveries_log').on(table.integrationId, table.subscriptionId, table.createdAt, table.id),
    index('webhook_deliveries_failed')
      .on(table.integrationId, table.subscriptionId, table.createdAt, table.id)
      .where(sql`status not in ('Pending', 'Delivered')`),
    index('webhook_deliveries_finished').on(table.integrationId, table.finishedAt).where(sql`status <> 'Pending'`),
    index('webhook_deliveries_tests')
      .on(table.integrationId, table.nextAttemptAt)
      .where(sql`is_test and status = 'Pending'`),
    // Attempts under way, and those whose process is gone. Nobody who looks for them reads a backlog.
    index('webhook_deliveries_leased').on(table.nextAttemptAt).where(sql`status = 'Pending' and lease is not null`),
  ],
);

/**
 * Processes that may hold leases. Each holds the session lock of its id, so that others see when it dies
 * (`server/webhooks/lease-presence.ts`). The process that takes over from a dead one removes its row.
 */
export const leaseOwners = pgTable('lease_owners', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  /** How often the process has taken its lock. It takes it again after it lost its connection. */
  locks: integer('locks').notNull().default(1),
});

/** Every finished attempt of a delivery. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    integrationId: identifier('integration_id').notNull(),
    deliveryId: identifier('delivery_id').notNull(),
    /**
     * The subscription of its delivery, so that a subscription's latest attempts can be found. Null in rows that an
     * older version of the product wrote.
     */
    subscriptionId: identifier('subscription_id'),
    /** The delivery's count of resends at the time of the attempt. */
    resend: smallint('resend').notNull().default(0),
    attempt: smallint('attempt').notNull(),
    startedAt: instant('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    httpStatus: smallint('http_status'),
    failureClass: text('failure_class'),
    address: text('address'),
    /** The receiver's Retry-After. The schedule does not follow it. */
    retryAfter: text('retry_after'),
    /**
     * What went wrong: the code of Node's error, such as ECONNRESET, or one of ours (`toErrorCode`). After a space comes the date
     * that makes a certificate invalid.
     */
    errorCode: text('error_code'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.deliveryId, table.resend, table.attempt] }),
    index('webhook_attempts_recent').on(table.integrationId, table.subscriptionId, table.startedAt),
  ],
);

/** What receivers answered, for staff alone, for seven days. The outcome of an attempt never depends on it. */
export const webhookAnswers = pgTable(
  'webhook_answers',
  {
    integrationId: identifier('integration_id').notNull(),
    deliveryId: identifier('delivery_id').notNull(),
    resend: smallint('resend').notNull(),
    attempt: smallint('attempt').notNull(),
    receivedAt: instant('received_at').notNull(),
    /** Names in lower case; values that may be secrets are redacted. */
    headers: jsonb('headers').$type<Record<string, string>>().notNull(),
    /** The first 2 KiB. */
    body: bytes('body').notNull(),
    isCut: boolean('is_cut').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.deliveryId, table.resend, table.attempt] }),
    index('webhook_answers_received').on(table.receivedAt),
  ],
);

/** Notices to the operator about subscriptions. A row is removed when it was sent or given up. */
export const operatorNotices = pgTable(
  'operator_notices',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    subscriptionId: identifier('subscription_id').notNull(),
    /** The exact text to sign and send. */
    payload: text('payload').notNull(),
    attempts: smallint('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.id] })],
);

/**
 * Deliveries of the log that ended on a day (UTC), without tests. Triggers append entries; entry 0 is the sum of those that are
 * folded (`server/domain/usage.ts`).
 */
export const outcomeCounts = pgTable(
  'outcome_counts',
  {
    integrationId: identifier('integration_id').notNull(),
    day: date('day').notNull(),
    entry: bigint('entry', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    delivered: bigint('delivered', { mode: 'number' }).notNull(),
    failed: bigint('failed', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.day, table.entry] }),
    index('outcome_counts_unfolded').on(table.entry).where(sql`entry > 0`),
  ],
);

/** Deliveries that ended on a day (UTC) and were removed from the log. */
export const prunedOutcomes = pgTable(
  'pruned_outcomes',
  {
    integrationId: identifier('integration_id').notNull(),
    day: date('day').notNull(),
    delivered: bigint('delivered', { mode: 'number' }).notNull(),
    failed: bigint('failed', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.day] })],
);
