/** A session that is to be judged. */
export interface PlannedSession {
  key: string;
  integrationId: string;
}

/** How a session is to be judged. */
export interface JudgeRequest {
  /** The database's time; null: when the session's last batch arrived. */
  nowMs: number | null;
  /** The session was found due or abandoned: all its batches are read, and a time to look again is written. */
  isDue: boolean;
}

export interface PlannedJudgement extends JudgeRequest {
  /** When it may be judged, on the monotonic clock, which nobody sets back. */
  atMs: number;
}

/**
 * The sessions that wait for their judgement. Those of an integration are judged one after the other, and integrations take turns: a
 * flood of sessions of one delays none of another.
 */
export interface WaitingSessions {
  /** Adds a session, or joins what is asked of one that waits. */
  add(session: PlannedSession, judgement: PlannedJudgement): void;
  get(session: PlannedSession): PlannedJudgement | undefined;
  remove(session: PlannedSession): void;
  /** Removes the sessions that may start, one after the other, and answers each. The others keep their places. */
  take(
    mayStart: (key: string, judgement: PlannedJudgement) => boolean,
  ): Iterable<PlannedSession & { judgement: PlannedJudgement }>;
  /** Counts the sessions, of an integration or of all. */
  count(integrationId?: string): number;
  /** Counts those that are over, of each integration that has some. */
  countOver(): Map<string, number>;
}

export function createWaitingSessions(): WaitingSessions {
  /** Of each integration that has sessions. The one whose turn is next comes first. */
  const groups = new Map<string, Map<string, PlannedJudgement>>();
  let size = 0;

  function remove({ key, integrationId }: PlannedSession) {
    const group = groups.get(integrationId);
    if (!group?.delete(key)) return;
    size--;
    if (group.size === 0) groups.delete(integrationId);
  }

  return {
    add({ key, integrationId }, judgement) {
      const group = groups.get(integrationId) ?? new Map<string, PlannedJudgement>();
      const known = group.get(key);
      if (!known) size++;
      groups.set(integrationId, group.set(key, known ? join(known, judgement) : judgement));
    },
    get: ({ key, integrationId }) => groups.get(integrationId)?.get(key),
    remove,
    *take(mayStart) {
      const places = new Map<string, Iterator<[string, PlannedJudgement]>>();
      // An integration that had its turn goes to the end, where this loop comes to it again.
      for (const [integrationId, group] of groups) {
        const place = places.get(integrationId) ?? group.entries();
        places.set(integrationId, place);
        const next = findNext(place, mayStart);
        if (!next) continue;
        const [key, judgement] = next;
        groups.delete(integrationId);
        groups.set(integrationId, group);
        remove({ key, integrationId });
        yield { key, integrationId, judgement };
      }
    },
    count: (integrationId) => (integrationId === undefined ? size : (groups.get(integrationId)?.size ?? 0)),
    countOver() {
      const counts = new Map<string, number>();
      for (const [integrationId, group] of groups)
        for (const { nowMs } of group.values())
          if (nowMs !== null) counts.set(integrationId, (counts.get(integrationId) ?? 0) + 1);
      return counts;
    },
  };
}

const join = (known: PlannedJudgement, { atMs, nowMs, isDue }: PlannedJudgement): PlannedJudgement => ({
  atMs: Math.min(atMs, known.atMs),
  nowMs: nowMs ?? known.nowMs,
  isDue: isDue || known.isDue,
});

function findNext(
  place: Iterator<[string, PlannedJudgement]>,
  mayStart: (key: string, judgement: PlannedJudgement) => boolean,
): [string, PlannedJudgement] | null {
  for (let next = place.next(); !next.done; next = place.next()) if (mayStart(...next.value)) return next.value;
  return null;
}
