import { bigint, doublePrecision, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { identifier, instant } from './columns';

// Counts of sessions, so that no answer's cost grows with history. A trigger on `sessions` appends every change to
// `session_deltas`; `foldSessionDeltas` moves them into the other tables; a reader adds up both. Sessions that retention
// removes stay counted.

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/**
 * Counts by least effective bin, so that a cut point is one of them and no sum: element `bin + 3` is the number with at
 * least that bin, from -2 (any or none) to the highest that was there; what lies beyond the end is 0.
 */
const tally = (name: string) => integer(name).array().notNull();

/**
 * Changes of sessions that are not folded yet: a session as it is now (sign 1) or was before (sign -1). `bin` is the
 * effective bin, -2 without any; hours are in UTC.
 */
export const sessionDeltas = pgTable(
  'session_deltas',
  {
    integrationId: identifier('integration_id').notNull(),
    id: bigint('id', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    sign: smallint('sign').notNull(),
    hour: instant('hour').notNull(),
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
    /** The score in whole millionths, so that no order of adding shows. */
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
    /** Without a fingerprint: each counts as a device of its own. */
    deviceless: tally('deviceless'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.grain, table.start] })],
);

/** Counts by origin, device type and browser. Only those of origins are told apart by bin; the others have bin -2. */
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

/** When a user (bin 0) or a device had sessions. */
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
 * How many users or devices there are, without counting them: the sum over `start >= T` of the counts by least bin is the
 * number of those seen since T with at least that bin, by hours or, from a midnight on, by days. Each adds one for each of its
 * points that no later and higher one dominates, and takes away one where two neighbours of these meet.
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

/** Counts of a user's or a course's sessions by effective bin. */
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

/** How many devices a user has, and users a course and (`all`, '') the integration. */
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

/** What no count tells of sessions that retention has removed: of a user, a course, or (`all`, '') the integration. */
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
 * How many courses, anomalies and confirmed devices there are: the sum of the tenant's rows. A trigger on those tables, from
 * which nothing is removed, appends an entry for each row; `foldSessionDeltas` adds them to entry 0.
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
