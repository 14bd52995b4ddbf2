import type { Finding, ScoredSegment } from '../../contract/evidence';
import { unpackTrace } from '../collector/packing';
import { anchorDocuments } from '../detection/documents';
import { type EventSummary, summariseEvents } from '../detection/events';
import { readPresence } from '../detection/presence';
import { scoreSegments, scoreTrace } from '../detection/score';
import type { TraceBatch } from '../detection/trace';
import { scoreWriting, type WritingScore } from '../detection/writing-score';
import recordings from './recordings.json';

// What the laboratory recorded, as the present rules judge it: people at their desks and programs that drive a browser.

/** `missed`: a program that the rules do not call a bot. `takeover`: a person, and then a program. */
export type VisitKind = 'human' | 'bot' | 'missed' | 'takeover';

/** A recorded visit. Its times are milliseconds since its start. */
export interface DemoVisit {
  kind: VisitKind;
  task: string;
  userAgent: string;
  pageUrl: string;
  /** What the pixel sent, and when that began. */
  batches: TraceBatch[];
  startedAtMs: number;
  durationMs: number;
  events: (Omit<EventSummary, 'timestampMs'> & { atMs: number })[];
  botScore: number;
  detectionFlags: string[];
  ruleSetVersion: string;
  findings: (Omit<Finding, 'moments'> & { momentsMs: number[] })[];
  segments: (Omit<ScoredSegment, 'startedAt'> & { atMs: number })[];
  /** The texts that were long enough to be judged. */
  texts: WritingScore[];
}

/** As for a new integration. */
const BOT_SCORE = 0.7;

let visits: DemoVisit[] | undefined;

/** A person's visits to a site, and those of the program to whom the person then leaves the tab. */
const TAKEOVER = [
  'mouse-chromium quiz',
  'mouse-chromium composition',
  'nodriver quiz',
  'playwright-mcp-fill quiz',
  'playwright-fill essay',
];
const START_MS = 1_800_000_000_000;
const PAUSE_MS = 5_000;
const PLACE_DIGITS = 4;

/** Judges the recordings once: a session costs nothing but its facts, however many there are. */
export function listVisits(): DemoVisit[] {
  visits ??= [...recordings.map(readRecording), readTakeover()];
  return visits;
}

function readRecording(recording: (typeof recordings)[number]): DemoVisit {
  const { task, isProgram, userAgent } = recording;
  const visit = judgeVisit(userAgent, readBatches(recording));
  return { ...visit, kind: isProgram ? (visit.botScore >= BOT_SCORE ? 'bot' : 'missed') : 'human', task };
}

function readTakeover(): DemoVisit {
  const joined = TAKEOVER.map((name) => recordings.find(({ subject, task }) => `${subject} ${task}` === name)!);
  const { task, userAgent } = joined[0]!;
  return { ...judgeVisit(userAgent, joinBatches(joined.map(readBatches))), kind: 'takeover', task };
}

const readBatches = ({ trace }: { trace: string }): TraceBatch[] => unpackTrace(Buffer.from(trace, 'base64'));

/** Makes one session of several recordings, one after the other, each on separate pages. */
export function joinBatches(recorded: readonly (readonly TraceBatch[])[]): TraceBatch[] {
  let startMs = START_MS;
  return recorded.flatMap((batches, place) => {
    const arrivals = batches.map(({ receivedAtMs }) => receivedAtMs);
    const [first, last] = [Math.min(...arrivals), Math.max(...arrivals)];
    const laterMs = startMs - first;
    startMs += last - first + PAUSE_MS;
    return batches.map((batch) => ({
      ...batch,
      // The same recording may be in a session twice.
      d: batch.d.slice(0, -PLACE_DIGITS) + place.toString(16).padStart(PLACE_DIGITS, '0'),
      receivedAtMs: batch.receivedAtMs + laterMs,
      c: [batch.c[0], batch.c[1] + laterMs] as TraceBatch['c'],
    }));
  });
}

function judgeVisit(userAgent: string, batches: TraceBatch[]): Omit<DemoVisit, 'kind' | 'task'> {
  const presence = readPresence({ batches });
  if (!presence?.pageUrl) throw new Error('a recording of the demo begins with no page');
  const { startedAtMs, lastSignMs, pageUrl } = presence;
  const { botScore, detectionFlags, ruleSetVersion, findings } = scoreTrace({ userAgent, batches });
  return {
    ...{ userAgent, pageUrl, batches, startedAtMs, durationMs: lastSignMs - startedAtMs },
    ...{ botScore, detectionFlags, ruleSetVersion },
    events: summariseEvents(batches, anchorDocuments(batches)).map(({ timestampMs, ...event }) => ({
      ...event,
      atMs: Math.min(timestampMs, lastSignMs) - startedAtMs,
    })),
    findings: findings.map(({ moments, ...finding }) => ({
      ...finding,
      momentsMs: moments.map((moment) => Date.parse(moment) - startedAtMs),
    })),
    segments: scoreSegments({ userAgent, batches }).map(({ startedAt, ...segment }) => ({
      ...segment,
      atMs: Date.parse(startedAt) - startedAtMs,
    })),
    texts: scoreWriting(batches),
  };
}
