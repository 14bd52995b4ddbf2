import type { ReviewQueue } from '../../../../contract/review';
import type { Verdict } from '../../../../contract/sessions';

// Where a reviewer stands in a queue. The queue is fixed when it is opened, so nothing moves while people work.

/** What became of a session: a verdict of this reviewer, skipped once or again, or a verdict that somebody else gave. */
export type ReviewOutcome = Verdict | 'skipped' | 'skippedAgain' | 'elsewhere';

export interface ReviewProgress extends ReviewQueue {
  outcomes: Readonly<Record<string, ReviewOutcome>>;
  /** The place of the current session; behind the last one at the end. */
  at: number;
}

const isVerdict = (outcome: ReviewOutcome | undefined): outcome is Verdict => outcome === 'bot' || outcome === 'human';

export const startReview = (queue: ReviewQueue): ReviewProgress => ({ ...queue, outcomes: {}, at: 0 });

export const findCurrent = ({ sessions, at }: ReviewProgress) => sessions[at];

/** What became of a session. An id of a customer's pipeline may be the name of something that every object has. */
export const findOutcome = ({ outcomes }: Pick<ReviewProgress, 'outcomes'>, id: string): ReviewOutcome | undefined =>
  Object.hasOwn(outcomes, id) ? outcomes[id] : undefined;

/**
 * Finds the place to go on to: the next session without an outcome, then those that were passed with j, then those that were
 * skipped once. Behind the last one if nothing is left.
 */
function findNext(progress: ReviewProgress): number {
  const { sessions, at } = progress;
  const find = (from: number, outcome: ReviewOutcome | undefined) =>
    sessions.findIndex(({ id }, place) => place >= from && findOutcome(progress, id) === outcome);
  const place = [find(at + 1, undefined), find(0, undefined), find(0, 'skipped')].find((found) => found >= 0);
  return place ?? sessions.length;
}

const goOn = (progress: ReviewProgress): ReviewProgress => ({ ...progress, at: findNext(progress) });

const withOutcome = (progress: ReviewProgress, id: string, outcome: ReviewOutcome | undefined): ReviewProgress => {
  const { [id]: _, ...others } = progress.outcomes;
  return { ...progress, outcomes: outcome ? { ...others, [id]: outcome } : others };
};

/** Notes a verdict on the current session and goes on. */
export function decideCurrent(progress: ReviewProgress, verdict: Verdict): ReviewProgress {
  const current = findCurrent(progress);
  return current ? goOn(withOutcome(progress, current.id, verdict)) : progress;
}

/** Goes on without a verdict. The session comes back when the others are done; skipped again, it does not. */
export function skipCurrent(progress: ReviewProgress): ReviewProgress {
  const current = findCurrent(progress);
  if (!current) return progress;
  const outcome = findOutcome(progress, current.id);
  if (isVerdict(outcome) || outcome === 'elsewhere') return goOn(progress);
  return goOn(withOutcome(progress, current.id, outcome === undefined ? 'skipped' : 'skippedAgain'));
}

/** Goes to the session before or after, whatever became of it. */
export const stepTo = (progress: ReviewProgress, at: number): ReviewProgress => ({
  ...progress,
  at: Math.max(0, Math.min(at, progress.sessions.length - 1)),
});

/** Notes verdicts of this reviewer on several sessions. Goes on if the current one is among them. */
export function decideMany(progress: ReviewProgress, ids: readonly string[], verdict: Verdict): ReviewProgress {
  const listed = new Set(progress.sessions.map(({ id }) => id));
  const outcomes = Object.fromEntries(ids.filter((id) => listed.has(id)).map((id) => [id, verdict]));
  const after = { ...progress, outcomes: { ...progress.outcomes, ...outcomes } };
  const current = findCurrent(progress);
  return current && Object.hasOwn(outcomes, current.id) ? goOn(after) : after;
}

/** Forgets what became of sessions, because it was undone or refused. */
export const forgetOutcomes = (progress: ReviewProgress, ids: readonly string[]): ReviewProgress =>
  ids.reduce((rest, id) => withOutcome(rest, id, undefined), progress);

/** Returns to a session whose verdict was undone to the one before it, or to none. */
export function returnTo(progress: ReviewProgress, id: string, verdict: Verdict | undefined): ReviewProgress {
  const place = progress.sessions.findIndex((session) => session.id === id);
  return place < 0 ? progress : { ...withOutcome(progress, id, verdict), at: place };
}

/** Lets those that were skipped come back once more. */
export function resumeSkipped(progress: ReviewProgress): ReviewProgress {
  const outcomes = Object.entries(progress.outcomes).map(([id, outcome]) => [
    id,
    outcome === 'skippedAgain' ? 'skipped' : outcome,
  ]);
  return goOn({ ...progress, outcomes: Object.fromEntries(outcomes) });
}

/**
 * Notes what was decided anywhere since the queue was opened, by this reviewer too: on another page, say. A verdict that
 * this page has noted stays, because the news may be older. The current session stays current, so that nobody's keys meet
 * another session than the one they see. Returns the same progress if nothing is new.
 */
export function noteVerdicts(
  progress: ReviewProgress,
  told: readonly { sessionId: string; verdict: Verdict | null; isOwn: boolean }[],
): ReviewProgress {
  const listed = new Set(progress.sessions.map(({ id }) => id));
  return told.reduce((rest, { sessionId, verdict, isOwn }) => {
    const outcome = findOutcome(rest, sessionId);
    if (!listed.has(sessionId) || isVerdict(outcome)) return rest;
    if (verdict === null) return outcome === 'elsewhere' ? withOutcome(rest, sessionId, undefined) : rest;
    if (isOwn) return withOutcome(rest, sessionId, verdict);
    return outcome === 'elsewhere' ? rest : withOutcome(rest, sessionId, 'elsewhere');
  }, progress);
}

/** Counts what became of the sessions. */
export function countOutcomes({ sessions, outcomes }: ReviewProgress) {
  const counts = { bot: 0, human: 0, skipped: 0, elsewhere: 0 };
  for (const outcome of Object.values(outcomes)) counts[outcome === 'skippedAgain' ? 'skipped' : outcome] += 1;
  const reviewed = counts.bot + counts.human;
  return { ...counts, reviewed, open: sessions.length - reviewed - counts.skipped - counts.elsewhere };
}
