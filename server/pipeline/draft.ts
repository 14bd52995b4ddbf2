import type { EventPayload, EventTypeName } from '../../contract/events';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { courses, OutboxCause, sessionFlags, sessions, users } from '../../db/schema';
import { makeNaturalKey, type ToldEventType } from '../webhooks/natural-keys';
import { type RecordKind, type RecordRow, Records } from './records';

/** Thrown by a fact that cannot be applied. Its whole batch is refused. */
export class FactRefusal extends Error {}

export type SessionRow = Omit<typeof sessions.$inferSelect, 'effectiveBin'>;
export type FlagRow = typeof sessionFlags.$inferSelect;
export type UserRow = typeof users.$inferSelect;
export type CourseRow = typeof courses.$inferSelect;

/** The time of a user's description that nobody vouches for: before that of every other one. */
export const UNVERIFIED_AT = '1970-01-01T00:00:00.000Z';

/** A session, with the changes of the facts applied so far. */
export interface SessionDraft {
  row: SessionRow;
  isNew: boolean;
  isChanged: boolean;
  /** The flags in the database. */
  storedFlags: string[];
}

/** A tenant, with the stored sessions and records that the facts name. */
export interface Tenant {
  integrationId: string;
  thresholds: RiskThresholds;
  /** The time of the database's clock. */
  now: string;
  /** The public address, for links to the dashboard; null if it is not set. */
  publicUrl: string | null;
  sessions: Map<string, SessionDraft>;
  records: Records;
  /** Confirmed (user, fingerprint) pairs, by `makePairKey`. */
  confirmations: ReadonlySet<string>;
  /** The users that the facts name and that were erased. */
  erasedUserIds: ReadonlySet<string>;
}

export const createSessionDraft = (row: SessionRow, isNew: boolean): SessionDraft => ({
  row,
  isNew,
  isChanged: false,
  storedFlags: row.detectionFlags,
});

/** Joins a user and a fingerprint to a key. Ids contain no control characters, so the key is unique. */
export const makePairKey = (userId: string, fingerprint: string) => `${userId}\n${fingerprint}`;

export interface NewEvent {
  integrationId: string;
  type: EventTypeName;
  naturalKey: string;
  payload: Record<string, unknown>;
}

export type FactResult = 'accepted' | 'duplicate' | 'suppressed';

const MAX_AHEAD_MS = 5 * 60_000;

/** Applies one batch in memory, on copies of the stored state, so that nothing of a refused batch is ever written. */
export class BatchDraft {
  readonly sessions = new Map<string, SessionDraft>();
  readonly newRecords = new Records();
  readonly describedUsers: UserRow[] = [];
  readonly namedCourses: CourseRow[] = [];
  readonly domainEvents: NewEvent[] = [];
  /** Sessions that the rules on findings are to judge, and why. */
  readonly concerns = new Map<string, Set<OutboxCause>>();
  /** Facts whose key exists with other content. */
  readonly conflicts: { kind: string; id: string }[] = [];
  readonly #tenant: Tenant;
  readonly #latestMs: number;
  readonly isOurs: boolean;

  /** Our own facts have times of the database, which may be ahead after its clock was set back. */
  constructor(tenant: Tenant, isOurs = false) {
    this.#tenant = tenant;
    this.isOurs = isOurs;
    this.#latestMs = isOurs ? Number.POSITIVE_INFINITY : Date.parse(tenant.now) + MAX_AHEAD_MS;
  }

  get integrationId() {
    return this.#tenant.integrationId;
  }

  get thresholds() {
    return this.#tenant.thresholds;
  }

  /** Finds a session that the batch may change. Returns null if it does not exist. */
  findSession(sessionId: string): SessionDraft | null {
    const known = this.sessions.get(sessionId);
    if (known) return known;
    const base = this.#tenant.sessions.get(sessionId);
    if (!base) return null;
    const copy = { ...base, row: { ...base.row } };
    this.sessions.set(sessionId, copy);
    return copy;
  }

  /** As findSession, but refuses the batch if there is no such session. */
  requireSession(sessionId: string): SessionDraft {
    const session = this.findSession(sessionId);
    if (!session) throw new FactRefusal('sessionId: no such session; sessionStarted must come first');
    return session;
  }

  addSession(row: SessionRow) {
    this.sessions.set(row.id, createSessionDraft(row, true));
  }

  /** Adds a course that a session's address names. */
  nameCourse(course: CourseRow) {
    this.namedCourses.push(course);
  }

  /** Adds a correlation's description of a user. The latest description is stored. */
  describeUser(user: UserRow) {
    this.describedUsers.push(user);
  }

  /** Finds the record with the same key, in this batch or in the database. */
  findRecord<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>): RecordRow<Kind> | null {
    return this.newRecords.find(kind, row) ?? this.#tenant.records.find(kind, row);
  }

  addRecord<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>) {
    this.newRecords.add(kind, row);
  }

  /** Whether the customer confirmed the device as the user's own. */
  isConfirmed(userId: string | null, fingerprint: string | null): boolean {
    return userId !== null && fingerprint !== null && this.#tenant.confirmations.has(makePairKey(userId, fingerprint));
  }

  /** Marks a session as changed by a fact now. A label may be newer, because the transaction may have waited for locks. */
  touch(session: SessionDraft) {
    session.isChanged = true;
    const { updatedAt } = session.row;
    if (updatedAt === null || updatedAt < this.#tenant.now) session.row.updatedAt = this.#tenant.now;
  }

  /** Has the rules on findings judge a session after the commit. */
  concern(sessionId: string, cause: OutboxCause) {
    const known = this.concerns.get(sessionId);
    if (known) known.add(cause);
    else this.concerns.set(sessionId, new Set([cause]));
  }

  /** Returns the address of the session's page in the dashboard. */
  findSessionUrl(sessionId: string): string | null {
    const { integrationId, publicUrl } = this.#tenant;
    const path = [integrationId, 'sessions', sessionId].map(encodeURIComponent).join('/');
    return publicUrl === null ? null : `${publicUrl}/dashboard/${path}`;
  }

  /** Adds an event that webhooks may report. */
  fireEvent<T extends ToldEventType>(type: T, payload: EventPayload<T>) {
    const naturalKey = makeNaturalKey(type, payload);
    this.domainEvents.push({ integrationId: this.integrationId, type, naturalKey, payload });
  }

  /** Handles a fact whose key exists. If the content differs (`isSame` is false), the conflict is logged. */
  repeat(kind: string, id: string, isSame: boolean): 'duplicate' {
    if (!isSame) this.conflicts.push({ kind, id });
    return 'duplicate';
  }

  /** Refuses the batch if a time is more than 5 minutes ahead of the database's clock, unless the product itself found it. */
  assertNotAhead(field: string, time: string) {
    if (Date.parse(time) > this.#latestMs) {
      throw new FactRefusal(`${field}: is more than 5 minutes in the future`);
    }
  }
}
