import { sql } from 'drizzle-orm';
import { bigint, doublePrecision, index, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { identifier, instant } from './columns';

// Counts of sessions. docs/counts.md explains these tables by an example of five sessions.

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** Counts by least effective bin: element `bin + 3` (docs/counts.md, "Counts by least bin"). */
const tally = (name: string) => integer(name).array().notNull();

/**
 * Changes of sessions that are not folded yet: a session as it is now (sign 1) or was before (sign -1). `bin` is the
 * effective bin, or -2 if there is none. Hours are in UTC.
 */
export const sessionDeltas = pgTable(
  'session_deltas',
  {
    integrationId: identifier('integration_id').notNull(),
    id: bigint('id', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    sign: smallint('sign').notNull(),
    hour: instant('hour').notNull(),
    /** Null in rows that were written before there were counts by minute. */
    minute: instant('minute'),
    bin: smallint('bin').notNull(),
    origin: text('origin').notNull(),
    deviceType: text('device_type').notNull(),
    browser: text('browser').notNull(),
    isActive: smallint('is_active').notNull(),
    label: smallint('label'),
    userId: identifier('user_id'),
    courseId: identifier('course_id'),
    fingerprint: identifier('fingerprint'),
    events: integer('events').notNull(),
    /** The score in whole millionths, so that the order of additions does not affect the sum. */
    scoreMicros: integer('score_micros'),
    confidenceMicros: integer('confidence_micros'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.id] })],
);

/** Counts by time. `grain` is `hour`, `day`, or `all` (its start is `-infinity`). */
export const sessionRollups = pgTable(
  'session_rollups',
  {
    integrationId: identifier('integration_id').notNull(),
    grain: text('grain').$type<'hour' | 'day' | 'all'>().notNull(),
    start: instant('start').notNull(),
    sessions: tally('sessions'),
    events: count('events'),
    active: count('active'),
    scored: count('scored'),
    scoreMicros: count('score_micros'),
    matched: count('matched'),
    confidenceMicros: count('confidence_micros'),
    labeledBot: count('labeled_bot'),
    labeledHuman: count('labeled_human'),
    /** Sessions without a fingerprint. Each counts as one device. */
    deviceless: tally('deviceless'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.grain, table.start] })],
);

/** Counts by origin, device type and browser. Only origins are counted by bin; the other dimensions use bin -2. */
export const dimensionRollups = pgTable(
  'dimension_rollups',
  {
    integrationId: identifier('integration_id').notNull(),
    grain: text('grain').$type<'hour' | 'day' | 'week'>().notNull(),
    start: instant('start').notNull(),
    dimension: text('dimension').$type<'origin' | 'device' | 'browser'>().notNull(),
    value: text('value').notNull(),
    sessions: tally('sessions'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.grain, table.start, table.dimension, table.value] })],
);

/** The hours in which a user (bin 0) or a device had sessions. */
export const seenHours = pgTable(
  'seen_hours',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'device'>().notNull(),
    value: identifier('value').notNull(),
    hour: instant('hour').notNull(),
    bin: smallint('bin').notNull(),
    sessions: count('sessions'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.value, table.hour, table.bin] })],
);

/**
 * Distinct users and devices: the sum of `count` over all rows with `start >= T` is the number of those seen since T. T is a
 * full hour, or a midnight for the daily rows (docs/counts.md, "The staircase of distinct counts").
 */
export const seenSteps = pgTable(
  'seen_steps',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'device'>().notNull(),
    grain: text('grain').$type<'hour' | 'day'>().notNull(),
    start: instant('start').notNull(),
    count: tally('count'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.grain, table.start] })],
);

/** Counts of the sessions of a user or a course by effective bin. */
export const entityRollups = pgTable(
  'entity_rollups',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course'>().notNull(),
    value: identifier('value').notNull(),
    bin: smallint('bin').notNull(),
    sessions: count('sessions'),
    scored: count('scored'),
    scoreMicros: count('score_micros'),
    confidenceMicros: count('confidence_micros'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.value, table.bin] })],
);

/**
 * What users and courses are sorted by. A trigger on `entity_rollups` writes it, so it is as fresh as the latest fold. Lists
 * read an index backwards, the largest first.
 */
export const entityTotals = pgTable(
  'entity_totals',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course'>().notNull(),
    value: identifier('value').notNull(),
    sessions: count('sessions'),
    lastSeenAt: instant('last_seen_at').notNull(),
    /** -1 for a user without a score, and for courses, which nobody sorts by it. */
    maxBotScore: doublePrecision('max_bot_score').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.kind, table.value] }),
    index('entity_totals_sessions').on(table.integrationId, table.kind, table.sessions, table.value),
    index('entity_totals_seen').on(table.integrationId, table.kind, table.lastSeenAt, table.value),
    index('entity_totals_score').on(table.integrationId, table.maxBotScore, table.value).where(sql`kind = 'user'`),
  ],
);

/** Sessions by user and device, by course and user, and (`all`, '') by user. */
export const entityPairs = pgTable(
  'entity_pairs',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course' | 'all'>().notNull(),
    value: identifier('value').notNull(),
    other: identifier('other').notNull(),
    sessions: count('sessions'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.value, table.other] })],
);

/** The number of devices of a user, of users of a course, and (`all`, '') of users of the integration. */
export const entityOthers = pgTable(
  'entity_others',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course' | 'all'>().notNull(),
    value: identifier('value').notNull(),
    others: count('others'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.value] })],
);

/**
 * Data that the counts do not contain, of sessions removed by retention: by user, by course, or (`all`, '') of the integration.
 */
export const prunedEnds = pgTable(
  'pruned_ends',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course' | 'all'>().notNull(),
    value: identifier('value').notNull(),
    firstSeenAt: instant('first_seen_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
    maxBotScore: doublePrecision('max_bot_score'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.value] })],
);

/**
 * The number of courses, anomalies and confirmed devices: the sum of the tenant's rows. A trigger on those tables appends an
 * entry per row, and the fold adds the entries up in entry 0.
 */
export const rowCounts = pgTable(
  'row_counts',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'courses' | 'anomalies' | 'device_confirmations'>().notNull(),
    entry: bigint('entry', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    rows: count('rows'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.entry] })],
);

/**
 * Sessions by the minute in which they began, for alert rules: of the integration (its value is ''), a course, a user and an
 * origin. A trigger adds each change to them when it leaves `session_deltas` (docs/counts.md, "Counts by minute").
 */
export const minuteCounts = pgTable(
  'minute_counts',
  {
    integrationId: identifier('integration_id').notNull(),
    scope: text('scope').$type<'integration' | 'course' | 'user' | 'origin'>().notNull(),
    value: identifier('value').notNull(),
    minute: instant('minute').notNull(),
    sessions: tally('sessions'),
    scored: count('scored'),
    scoreMicros: count('score_micros'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.scope, table.value, table.minute] }),
    index('minute_counts_old').on(table.integrationId, table.minute),
  ],
);

/**
 * Anomalies, and deliveries that ended without success, by minute. Triggers on their tables append an entry each, and
 * `foldIncidents` adds the entries up in entry 0. A failed delivery has neither type nor severity.
 */
export const incidentCounts = pgTable(
  'incident_counts',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'Anomaly' | 'FailedDelivery'>().notNull(),
    scope: text('scope').$type<'integration' | 'user'>().notNull(),
    value: identifier('value').notNull(),
    minute: instant('minute').notNull(),
    type: text('type').notNull(),
    severity: text('severity').notNull(),
    entry: bigint('entry', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    incidents: count('incidents'),
  },
  (table) => [
    primaryKey({
      // The default name is longer than Postgres takes.
      name: 'incident_counts_pk',
      columns: [
        ...([table.integrationId, table.kind, table.scope, table.value, table.minute] as const),
        ...([table.type, table.severity, table.entry] as const),
      ],
    }),
    index('incident_counts_old').on(table.integrationId, table.minute),
    index('incident_counts_unfolded').on(table.entry).where(sql`entry > 0`),
  ],
);
