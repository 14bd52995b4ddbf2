import type { sessionEvents, sessionScores, sessions } from '../../db/schema';
import type { EventPayload, EventTypeName } from '../contract/events';
import type { RiskThresholds } from '../domain/risk';

/** A fact that cannot be applied: its batch is refused as a whole. */
export class FactRefusal extends Error {}

export type SessionRow = Omit<typeof sessions.$inferSelect, 'effectiveBin'>;
export type EventRow = typeof sessionEvents.$inferSelect;
export type ScoreRow = typeof sessionScores.$inferSelect;

/** A session with what the facts at hand touch of it. */
export interface SessionDraft {
  row: SessionRow;
  isNew: boolean;
  isChanged: boolean;
  events: Map<number, EventRow>;
  scores: Map<string, ScoreRow>;
}

export interface NewEvent {
  integrationId: string;
  type: EventTypeName;
  naturalKey: string;
  payload: Record<string, unknown>;
}

export type FactResult = 'accepted' | 'duplicate' | 'suppressed';

const MAX_AHEAD_MS = 5 * 60_000;

/**
 * One batch applied in memory, on copies, over what was read: nothing of a refused batch is ever written. `base` holds
 * the sessions that exist, by id.
 */
export class BatchDraft {
  readonly integrationId: string;
  readonly thresholds: RiskThresholds;
  /** The database's clock. */
  readonly now: string;
  readonly sessions = new Map<string, SessionDraft>();
  readonly newEvents: EventRow[] = [];
  readonly newScores: ScoreRow[] = [];
  readonly domainEvents: NewEvent[] = [];
  /** Facts whose key is known with other content. */
  readonly conflicts: { kind: string; sessionId: string }[] = [];
  readonly #base: ReadonlyMap<string, SessionDraft>;

  constructor(
    tenant: { integrationId: string; thresholds: RiskThresholds; now: string },
    base: ReadonlyMap<string, SessionDraft>,
  ) {
    this.integrationId = tenant.integrationId;
    this.thresholds = tenant.thresholds;
    this.now = tenant.now;
    this.#base = base;
  }

  /** Finds a session for change; null when it does not exist. */
  findSession(sessionId: string): SessionDraft | null {
    const known = this.sessions.get(sessionId);
    if (known) return known;
    const base = this.#base.get(sessionId);
    if (!base) return null;
    const copy = { ...base, row: { ...base.row }, events: new Map(base.events), scores: new Map(base.scores) };
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
    this.sessions.set(row.id, { row, isNew: true, isChanged: false, events: new Map(), scores: new Map() });
  }

  /** Marks a session as changed by a fact now. */
  touch(session: SessionDraft) {
    session.isChanged = true;
    session.row.updatedAt = this.now;
  }

  tell<T extends EventTypeName>(type: T, naturalKey: string, payload: EventPayload<T>) {
    this.domainEvents.push({ integrationId: this.integrationId, type, naturalKey, payload });
  }

  /** A fact whose key is known: compares the content, so that a contradiction is logged. */
  repeat(kind: string, sessionId: string, isSame: boolean): 'duplicate' {
    if (!isSame) this.conflicts.push({ kind, sessionId });
    return 'duplicate';
  }

  /** Refuses a time more than 5 minutes ahead of the database's clock. */
  assertNotAhead(field: string, time: string) {
    if (Date.parse(time) > Date.parse(this.now) + MAX_AHEAD_MS) {
      throw new FactRefusal(`${field}: is more than 5 minutes in the future`);
    }
  }
}
