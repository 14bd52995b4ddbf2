import { sql } from 'drizzle-orm';
import {
  bigint,
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
import type { ActorKind } from '../../contract/audit';
import type { Finding, ScoredSegment } from '../../contract/evidence';
import type { SessionEventType } from '../../contract/session-events';
import type { Confidence, DeviceType, GeoLocation, SessionStatus } from '../../contract/sessions';
import type { VerdictReason } from '../../contract/verdicts';
import { identifier, instant } from './columns';

// The tables that the pipeline writes have no foreign keys. The parents are checked and locked in the same transaction,
// and a check per row would cost more than the row.

/** Browsing sessions. `effectiveBin` is the single number that says how risky a session is. */
export const sessions = pgTable(
  'sessions',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at'),
    closedAt: instant('closed_at'),
    /** When scoring failed, and why. `status` says whether a score replaced the failure. */
    failedAt: instant('failed_at'),
    failureReason: text('failure_reason'),
    status: text('status').$type<SessionStatus>().notNull(),
    pageUrl: text('page_url').notNull(),
    origin: text('origin').notNull(),
    userAgent: text('user_agent').notNull(),
    userAgentSummary: text('user_agent_summary').notNull(),
    deviceType: text('device_type').$type<DeviceType>().notNull(),
    browser: text('browser').notNull(),
    country: text('country'),
    /** About where the client was at the start. For the rules on findings; no route shows it. */
    location: jsonb('location').$type<GeoLocation>(),
    fingerprint: identifier('fingerprint'),
    botScore: doublePrecision('bot_score'),
    scoreBin: smallint('score_bin'),
    scoredAt: instant('scored_at'),
    detectionFlags: text('detection_flags').array().notNull().default(sql`'{}'`),
    /** 1 is labelled bot, -1 labelled human. */
    label: smallint('label').$type<1 | -1>(),
    labelConfidence: text('label_confidence').$type<Confidence>(),
    labelNotes: text('label_notes'),
    labeledAt: instant('labeled_at'),
    /** The address of the account, or the masked key, as it was then. */
    labeledBy: text('labeled_by'),
    effectiveBin: smallint('effective_bin').generatedAlwaysAs(
      sql`CASE label WHEN 1 THEN 101 WHEN -1 THEN -1 ELSE score_bin END`,
    ),
    userId: identifier('user_id'),
    correlationConfidence: doublePrecision('correlation_confidence'),
    correlatedAt: instant('correlated_at'),
    /** Whether the user follows only from the device (decisions: Findings). Any other match replaces it. */
    isInferred: boolean('is_inferred'),
    courseId: identifier('course_id'),
    eventCount: integer('event_count').notNull().default(0),
  },
  // Indexes are read backwards, newest first.
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('sessions_recent').on(table.integrationId, table.createdAt, table.id),
    index('sessions_user').on(table.integrationId, table.userId, table.createdAt, table.id),
    index('sessions_user_score').on(table.integrationId, table.userId, table.botScore).where(sql`user_id is not null`),
    index('sessions_course').on(table.integrationId, table.courseId, table.createdAt, table.id),
    index('sessions_fingerprint').on(table.integrationId, table.fingerprint, table.createdAt, table.id),
    index('sessions_origin').on(table.integrationId, table.origin, table.createdAt, table.id),
    // The score is there so that the error rates are counted without a look at the sessions.
    index('sessions_labeled')
      .on(table.integrationId, table.label, table.createdAt, table.id, table.scoreBin)
      .where(sql`label is not null`),
    // The review queue. Few sessions score so high, so the index costs the others nothing.
    index('sessions_review')
      .on(table.integrationId, table.createdAt, table.scoreBin, table.id)
      .where(sql`label is null and score_bin >= 20`),
  ],
);

/**
 * Every verdict on a session, and every removal of one. Append-only: the latest is also the label on the session. A row keeps
 * what the session looked like to its author.
 */
export const sessionVerdicts = pgTable(
  'session_verdicts',
  {
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    entry: bigint('entry', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    decidedAt: instant('decided_at').notNull(),
    /** 1 is bot, -1 human. Null: the label was removed. */
    label: smallint('label').$type<1 | -1>(),
    confidence: text('confidence').$type<Confidence>(),
    reasons: text('reasons').array().$type<VerdictReason[]>().notNull().default(sql`'{}'`),
    notes: text('notes'),
    /** Whether it takes back the verdict before it. */
    isUndo: boolean('is_undo').notNull().default(false),
    actorKind: text('actor_kind').$type<ActorKind>().notNull(),
    actorId: identifier('actor_id'),
    /** The address of the account, or the masked key, as it was then. */
    actorName: text('actor_name'),
    botScore: doublePrecision('bot_score'),
    ruleSetVersion: text('rule_set_version'),
    /** The risk thresholds of that time. Null for labels that are older than this table. */
    mediumAt: smallint('medium_at'),
    botAt: smallint('bot_at'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.sessionId, table.entry] }),
    index('session_verdicts_recent').on(table.integrationId, table.decidedAt, table.sessionId),
  ],
);

/** The flags of sessions again, one row each, because an index on the array would not keep the order of a list. */
export const sessionFlags = pgTable(
  'session_flags',
  {
    integrationId: identifier('integration_id').notNull(),
    flag: identifier('flag').notNull(),
    createdAt: instant('created_at').notNull(),
    sessionId: identifier('session_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.flag, table.createdAt, table.sessionId] })],
);

/** Courses, identified by the URLs of their sessions. */
export const courses = pgTable(
  'courses',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    name: text('name').notNull(),
    code: text('code'),
    url: text('url').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    index('courses_name').on(table.integrationId, sql`sort_name(name) collate "C"`, table.id),
  ],
);

/** Events in a session: metadata only, never content. */
export const sessionEvents = pgTable(
  'session_events',
  {
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    sequence: integer('sequence').notNull(),
    type: text('type').$type<SessionEventType>().notNull(),
    timestamp: instant('timestamp').notNull(),
    url: text('url'),
    durationMs: integer('duration_ms'),
    eventCount: integer('event_count').notNull(),
    metadata: jsonb('metadata').$type<Record<string, unknown>>(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.sessionId, table.sequence] })],
);

/** Every score of a session: the natural keys of `sessionScored`. The latest score is also stored on the session. */
export const sessionScores = pgTable(
  'session_scores',
  {
    integrationId: identifier('integration_id').notNull(),
    sessionId: identifier('session_id').notNull(),
    scoredAt: instant('scored_at').notNull(),
    botScore: doublePrecision('bot_score').notNull(),
    detectionFlags: text('detection_flags').array().notNull(),
    ruleSetVersion: text('rule_set_version'),
    evidence: jsonb('evidence').$type<Finding[]>(),
    /** How the parts of the session look, for the rule that asks whether a program took over. */
    segments: jsonb('segments').$type<ScoredSegment[]>(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.sessionId, table.scoredAt] })],
);
