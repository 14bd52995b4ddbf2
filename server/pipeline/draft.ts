import type { EventPayload, EventTypeName } from '../../contract/events';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { courses, sessionFlags, sessions, users } from '../../db/schema';
import { makeNaturalKey, type ToldEventType } from '../webhooks/natural-keys';
import { type RecordKind, type RecordRow, Records } from './records';

/** A fact that cannot be applied: its batch is refused as a whole. */
export class FactRefusal extends Error {}

export type SessionRow = Omit<typeof sessions.$inferSelect, 'effectiveBin'>;
export type FlagRow = typeof sessionFlags.$inferSelect;
export type UserRow = typeof users.$inferSelect;
export type CourseRow = typeof courses.$inferSelect;

/** A session as the facts at hand leave it. */
export interface SessionDraft {
  row: SessionRow;
  isNew: boolean;
  isChanged: boolean;
  /** What the database has. */
  storedFlags: string[];
}

/** A tenant, with what exists of the things that the facts at hand name. */
export interface Tenant {
  integrationId: string;
  thresholds: RiskThresholds;
  /** The database's clock. */
  now: string;
  /** Where the dashboard is; null where this process does not know. */
  publicUrl: string | null;
  sessions: Map<string, SessionDraft>;
  records: Records;
  /** Confirmed (user, fingerprint) pairs, by `pairKey`. */
  confirmations: ReadonlySet<string>;
}

export const createSessionDraft = (row: SessionRow, isNew: boolean): SessionDraft => ({
  row,
  isNew,
  isChanged: false,
  storedFlags: row.detectionFlags,
});

/** Ids hold no control characters. */
export const pairKey = (userId: string, fingerprint: string) => `${userId}\n${fingerprint}`;

export interface NewEvent {
  integrationId: string;
  type: EventTypeName;
  naturalKey: string;
  payload: Record<string, unknown>;
}

export type FactResult = 'accepted' | 'duplicate' | 'suppressed';

const MAX_AHEAD_MS = 5 * 60_000;

/** One batch applied in memory, on copies, over what was read: nothing of a refused batch is ever written. */
export class BatchDraft {
  readonly sessions = new Map<string, SessionDraft>();
  readonly newRecords = new Records();
  readonly describedUsers: UserRow[] = [];
  readonly namedCourses: CourseRow[] = [];
  readonly domainEvents: NewEvent[] = [];
  /** Facts whose key is known with other content. */
  readonly conflicts: { kind: string; id: string }[] = [];
  readonly #tenant: Tenant;
  readonly #latestMs: number;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.#latestMs = Date.parse(tenant.now) + MAX_AHEAD_MS;
  }

  get integrationId() {
    return this.#tenant.integrationId;
  }

  get thresholds() {
    return this.#tenant.thresholds;
  }

  /** Finds a session for change; null when it does not exist. */
  findSession(sessionId: string): SessionDraft | null {
    const known = this.sessions.get(sessionId);
    if (known) return known;
    const base = this.#tenant.sessions.get(sessionId);
    if (!base) return null;
    const copy = { ...base, row: { ...base.row } };
    this.sessions.set(sessionId, copy);
    return copy;
  }

  /** As findSession; refuses the batch when there is none. */
  requireSession(sessionId: string): SessionDraft {
    const session = this.findSession(sessionId);
    if (!session) throw new FactRefusal('sessionId: no such session; sessionStarted must come first');
    return session;
  }

  addSession(row: SessionRow) {
    this.sessions.set(row.id, createSessionDraft(row, true));
  }

  /** A course that a session's address names. */
  nameCourse(course: CourseRow) {
    this.namedCourses.push(course);
  }

  /** What a correlation says of a user; the latest one stands. */
  describeUser(user: UserRow) {
    this.describedUsers.push(user);
  }

  /** What is known under a record's key, of this batch or from before. */
  findRecord<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>): RecordRow<Kind> | null {
    return this.newRecords.find(kind, row) ?? this.#tenant.records.find(kind, row);
  }

  addRecord<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>) {
    this.newRecords.add(kind, row);
  }

  /** Whether the customer confirmed the device as the user's own. */
  isConfirmed(userId: string | null, fingerprint: string | null): boolean {
    return userId !== null && fingerprint !== null && this.#tenant.confirmations.has(pairKey(userId, fingerprint));
  }

  /** Marks a session as changed by a fact now. */
  touch(session: SessionDraft) {
    session.isChanged = true;
    session.row.updatedAt = this.#tenant.now;
  }

  /** The session's page in the dashboard. */
  findSessionUrl(sessionId: string): string | null {
    const { integrationId, publicUrl } = this.#tenant;
    const path = [integrationId, 'sessions', sessionId].map(encodeURIComponent).join('/');
    return publicUrl === null ? null : `${publicUrl}/dashboard/${path}`;
  }

  tell<T extends ToldEventType>(type: T, payload: EventPayload<T>) {
    const naturalKey = makeNaturalKey(type, payload);
    this.domainEvents.push({ integrationId: this.integrationId, type, naturalKey, payload });
  }

  /** A fact whose key is known: compares the content, so that a contradiction is logged. */
  repeat(kind: string, id: string, isSame: boolean): 'duplicate' {
    if (!isSame) this.conflicts.push({ kind, id });
    return 'duplicate';
  }

  /** Refuses a time more than 5 minutes ahead of the database's clock. */
  assertNotAhead(field: string, time: string) {
    if (Date.parse(time) > this.#latestMs) {
      throw new FactRefusal(`${field}: is more than 5 minutes in the future`);
    }
  }
}
