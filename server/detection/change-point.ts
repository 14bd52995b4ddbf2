import type { ScoredSegment } from '../../contract/evidence';

// Whether a person acted in one part of a session and a program in the other, and since when.

/** Where a session turned about. */
export interface Change {
  /** When the second part began. */
  at: string;
  direction: 'person-to-program' | 'program-to-person';
  segmentsBefore: number;
  segmentsAfter: number;
  /** How likely a program acted in each part, 0 to 1: by the mean log odds of its segments. */
  scoreBefore: number;
  scoreAfter: number;
}

/** Each part needs this many segments: one odd minute is no change. */
const MIN_PART_SEGMENTS = 2;
/** The least segments in which a change can be seen. */
export const MIN_SEGMENTS = 2 * MIN_PART_SEGMENTS;
/** A segment counts at most this much, so that none decides alone. */
const MAX_LOG_ODDS = 5;
/** The change must explain the session this much better, after the correction for the number of possible changes. */
const LEAST_LOG_RATIO = Math.log(20);
/** The mean log odds of a program's part: more than findings of one group can give. */
const LEAST_PROGRAM = Math.log(0.7 / 0.3);
/** The mean log odds of a person's part: a score of 0.4, below `medium`. */
const MOST_PERSON = Math.log(0.4 / 0.6);

/**
 * Finds where one actor followed the other. A segment's log odds are the logarithm of how much more likely a program made it
 * than a person, so the sum over a part is that of the part. The likelihood that one followed the other at a segment, the best
 * of all segments, is compared with the likelihood that one of them acted all the time. Null if that explains as much.
 */
export function findChange(segments: readonly ScoredSegment[]): Change | null {
  const values = segments.map(({ logOdds }) => Math.min(MAX_LOG_ODDS, Math.max(-MAX_LOG_ODDS, logOdds)));
  const total = sum(values);
  let best = { logRatio: Number.NEGATIVE_INFINITY, place: 0, isProgramLast: true };
  let before = sum(values.slice(0, MIN_PART_SEGMENTS - 1));
  for (let place = MIN_PART_SEGMENTS; place <= values.length - MIN_PART_SEGMENTS; place++) {
    before += values[place - 1]!;
    const isProgramLast = total - before >= before;
    // Relative to a person who acted all the time, whose logarithm is 0 here.
    const logRatio = Math.max(before, total - before) - Math.max(0, total);
    if (logRatio > best.logRatio) best = { logRatio, place, isProgramLast };
  }
  const choices = 2 * (values.length - MIN_SEGMENTS + 1);
  if (choices <= 0 || best.logRatio - Math.log(choices) < LEAST_LOG_RATIO) return null;
  const parts = [values.slice(0, best.place), values.slice(best.place)].map((part) => sum(part) / part.length);
  const [person, program] = best.isProgramLast ? parts : parts.toReversed();
  if (program! < LEAST_PROGRAM || person! > MOST_PERSON) return null;
  return {
    at: segments[best.place]!.startedAt,
    direction: best.isProgramLast ? 'person-to-program' : 'program-to-person',
    segmentsBefore: best.place,
    segmentsAfter: values.length - best.place,
    scoreBefore: toScore(parts[0]!),
    scoreAfter: toScore(parts[1]!),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const toScore = (logOdds: number) => Math.round(1_000 / (1 + Math.exp(-logOdds))) / 1_000;
