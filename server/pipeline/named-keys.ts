import type { RecordKey, RecordKind } from './records';

/** The keys that the facts of a batch name. Their rows are read before the first fact is applied. */
export class NamedKeys {
  readonly integrationId: string;
  readonly sessionIds = new Set<string>();
  /** Sessions that start in this batch. They exist already only if the fact is sent again. */
  readonly newSessionIds = new Set<string>();
  readonly records = new Map<RecordKind, { integrationId: string; sessionId?: string }[]>();
  /** Users whose confirmed devices are read: given directly, or as the user that a session is correlated with. */
  readonly suspects: { integrationId: string; userId: string | null; sessionId: string | null }[] = [];
  readonly correlatedUserIds = new Set<string>();
  /** Users of whom it is read whether they were erased. */
  readonly userIds = new Set<string>();

  constructor(integrationId: string) {
    this.integrationId = integrationId;
  }

  /** Names a session. It is locked and read, for `findSession`. */
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

  /** Names the user whose device an anomaly may be about, for `isConfirmed`. */
  nameSuspect(userId: string | null, sessionId: string | null): void {
    this.suspects.push({ integrationId: this.integrationId, userId, sessionId });
  }

  /** Names the user of a correlation, because an anomaly in the same transaction may be about the correlated session. */
  nameCorrelatedUser(userId: string): void {
    this.correlatedUserIds.add(userId);
  }
}
