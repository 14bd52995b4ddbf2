import type { RecordKey, RecordKind } from './records';

/** What the facts of a batch name: what of it exists is read before the first of them is applied. */
export class NamedKeys {
  readonly integrationId: string;
  readonly sessionIds = new Set<string>();
  /** Sessions that begin here: they exist already only where the fact came again. */
  readonly newSessionIds = new Set<string>();
  readonly records = new Map<RecordKind, { integrationId: string; sessionId?: string }[]>();
  /** Whose confirmed devices matter: a user's, or those of the user that a session is correlated with. */
  readonly suspects: { integrationId: string; userId: string | null; sessionId: string | null }[] = [];
  readonly correlatedUserIds = new Set<string>();

  constructor(integrationId: string) {
    this.integrationId = integrationId;
  }

  /** Names a session: it is locked, and there for `findSession`. */
  nameSession(sessionId: string): void {
    this.sessionIds.add(sessionId);
  }

  nameNewSession(sessionId: string): void {
    this.sessionIds.add(sessionId);
    this.newSessionIds.add(sessionId);
  }

  /** Names a record, for `findRecord`. */
  nameRecord<Kind extends RecordKind>(kind: Kind, key: RecordKey<Kind>): void {
    const known = this.records.get(kind);
    if (known) known.push(key as { integrationId: string });
    else this.records.set(kind, [key as { integrationId: string }]);
  }

  /** Names whose device an anomaly may be about, for `isConfirmed`. */
  nameSuspect(userId: string | null, sessionId: string | null): void {
    this.suspects.push({ integrationId: this.integrationId, userId, sessionId });
  }

  /** Names the user that a session is about to be correlated with: an anomaly's session may be the one. */
  nameCorrelatedUser(userId: string): void {
    this.correlatedUserIds.add(userId);
  }
}
