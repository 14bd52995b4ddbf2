import type { Finding } from '../../contract/evidence';
import { unpackTrace } from '../collector/packing';
import { anchorDocuments } from '../detection/documents';
import { type EventSummary, summariseEvents } from '../detection/events';
import { readPresence } from '../detection/presence';
import { scoreTrace } from '../detection/score';
import { scoreWriting, type WritingScore } from '../detection/writing-score';
import recordings from './recordings.json';

// What the laboratory recorded, as the present rules judge it: people at their desks and programs that drive a browser.

/** `missed`: a program that the rules do not call a bot. */
export type VisitKind = 'human' | 'bot' | 'missed';

/** A recorded visit. Its times are milliseconds since its start. */
export interface DemoVisit {
  kind: VisitKind;
  task: string;
  userAgent: string;
  pageUrl: string;
  durationMs: number;
  events: (Omit<EventSummary, 'timestampMs'> & { atMs: number })[];
  botScore: number;
  detectionFlags: string[];
  ruleSetVersion: string;
  findings: (Omit<Finding, 'moments'> & { momentsMs: number[] })[];
  /** The texts that were long enough to be judged. */
  texts: WritingScore[];
}

/** As for a new integration. */
const BOT_SCORE = 0.7;

let visits: DemoVisit[] | undefined;

/** Judges the recordings once: a session costs nothing but its facts, however many there are. */
export function listVisits(): DemoVisit[] {
  visits ??= recordings.map(readVisit);
  return visits;
}

function readVisit({ task, isProgram, userAgent, trace }: (typeof recordings)[number]): DemoVisit {
  const batches = unpackTrace(Buffer.from(trace, 'base64'));
  const presence = readPresence({ batches });
  if (!presence?.pageUrl) throw new Error('a recording of the demo begins with no page');
  const { startedAtMs, lastSignMs, pageUrl } = presence;
  const { botScore, detectionFlags, ruleSetVersion, findings } = scoreTrace({ userAgent, batches });
  return {
    kind: isProgram ? (botScore >= BOT_SCORE ? 'bot' : 'missed') : 'human',
    ...{ task, userAgent, pageUrl, durationMs: lastSignMs - startedAtMs, botScore, detectionFlags, ruleSetVersion },
    events: summariseEvents(batches, anchorDocuments(batches)).map(({ timestampMs, ...event }) => ({
      ...event,
      atMs: Math.min(timestampMs, lastSignMs) - startedAtMs,
    })),
    findings: findings.map(({ moments, ...finding }) => ({
      ...finding,
      momentsMs: moments.map((moment) => Date.parse(moment) - startedAtMs),
    })),
    texts: scoreWriting(batches),
  };
}
