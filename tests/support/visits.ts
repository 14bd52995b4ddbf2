import { randomUUID } from 'node:crypto';
import type { Fact } from '../../server/pipeline/facts';
import { CHROME } from './facts';

// Visits of people, as the facts of a pipeline tell them.

export const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0';
/** The browser of `CHROME` a year before. */
export const OLD_CHROME = CHROME.replace('142', '131');

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** The hour of the day that visits are counted back from. */
export const HOUR = 18;
/**
 * One moment for all visits of a run, so that facts that are made again are the same: on the day before, so that no day ends
 * between two visits of the hours before it.
 */
const NOW_MS = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + HOUR * 60 * MINUTE_MS;

/** A time some minutes before that moment. */
export const minutesAgo = (minutes: number) => new Date(NOW_MS - minutes * MINUTE_MS).toISOString();
export const daysAgo = (days: number) => days * DAY_MINUTES;

export interface VisitFields {
  id?: string;
  user?: string | null;
  device?: string | null;
  userAgent?: string;
  /** When it began, in minutes before that moment. */
  ago?: number;
  /** For how many minutes it lasts. Null: it is open. */
  minutes?: number | null;
  confidence?: number;
  /** The platform on which it is. */
  origin?: string;
  location?: { latitude: number; longitude: number; accuracyKm: number };
  /** The minutes after the start in which there is input of the given type. */
  input?: number[];
  inputType?: 'mouse' | 'keyboard' | 'touch' | 'form' | 'clipboard' | 'scroll' | 'visibility';
}

/** Makes the facts of a visit: start, match, input, and its end unless it is open. */
export function makeVisit(fields: VisitFields = {}): Fact[] {
  const { id: sessionId = randomUUID(), user = 'ada', device = 'laptop', userAgent = CHROME, ago = 60 } = fields;
  const { minutes = 1, confidence = 1, location, input = [], inputType = 'keyboard' } = fields;
  const { origin = 'https://lms.example.edu' } = fields;
  const facts: Fact[] = [
    {
      kind: 'sessionStarted',
      ...{ sessionId, startedAt: minutesAgo(ago), pageUrl: `${origin}/courses/42/quizzes/1`, userAgent },
      ...{ deviceFingerprint: device, ...(location && { location }) },
    },
  ];
  if (input.length > 0) {
    const events = input.map((after, sequence) => ({ sequence, type: inputType, timestamp: minutesAgo(ago - after) }));
    facts.push({ kind: 'sessionEvents', sessionId, events });
  }
  if (user !== null) {
    const correlatedAt = minutesAgo(ago - 0.05);
    facts.push({
      kind: 'sessionCorrelated',
      sessionId,
      user: { id: user, name: `Name of ${user}` },
      confidence,
      correlatedAt,
    });
  }
  if (minutes !== null) facts.push({ kind: 'sessionClosed', sessionId, closedAt: minutesAgo(ago - minutes) });
  return facts;
}
