import { createHash, randomUUID } from 'node:crypto';
import type { GeoLocation } from '../../contract/sessions';
import type { Fact } from '../pipeline/facts';
import { type DemoTrace, moveBatches } from './traces';
import { type DemoVisit, listVisits, type VisitKind } from './visits';

/** Returns numbers in [0, 1). */
export type Random = () => number;

const HOST = 'https://learn.example.edu';
const ESSAYS = ['/courses/101/assignments/4', '/courses/310/assignments/7', '/courses/204/discussion_topics/2'];
/** Where the tasks of the recordings were done, as far as the demo says. */
const PAGES = new Map([
  ['quiz', ['/courses/101/quizzes/9', '/courses/310/quizzes/1', '/courses/204/quizzes/7', '/courses/415/quizzes/2']],
  ['essay', ESSAYS],
  ['composition', ESSAYS],
]);
const COUNTRIES = ['US', 'US', 'US', 'CA', 'GB', 'DE', 'IN', 'BR'];
const STUDENTS = [
  ...['Ada Lovelace', 'Alan Turing', 'Grace Hopper', 'Katherine Johnson', 'Edsger Dijkstra', 'Barbara Liskov'],
  ...['Donald Knuth', 'Margaret Hamilton', 'Tony Hoare', 'Frances Allen', 'John Backus', 'Radia Perlman'],
];
const MATCHED_SHARE = 0.85;
/** A session is matched as soon as its first page says who is signed in. */
const MATCHED_MS = 1_500;
/** How often somebody uses the device of somebody else. */
const BORROWED_SHARE = 0.03;
/** The most facts that one session has. */
export const MAX_SESSION_FACTS = 6;

/** Creates a repeatable random source (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A recorded visit at another time, of an invented person, who has one device for each browser of the recordings. */
export interface StagedSession {
  visit: DemoVisit;
  /** When it ended and was scored, in milliseconds. */
  endsAt: number;
  /** Whose device it is. */
  owner: number;
  /** Who is signed in. Null: nobody is known. */
  student: number | null;
  country: string;
  location?: GeoLocation;
}

/** Makes a session at a random place. What does not fit together is for the rules to find. */
export function makeSessionFacts(kind: VisitKind, endsAt: number, random: Random): StagedVisit {
  const visit = pick(
    listVisits().filter((one) => one.kind === kind),
    random,
  );
  const somebody = () => Math.floor(random() * STUDENTS.length);
  const student = somebody();
  const owner = random() < BORROWED_SHARE ? somebody() : student;
  const isMatched = random() < MATCHED_SHARE;
  const country = pick(COUNTRIES, random);
  return makeVisitFacts({ visit, endsAt, owner, student: isMatched ? student : null, country }, random);
}

const pick = <T>(items: T[], random: Random) => items[Math.floor(random() * items.length)] as T;

/** A session of the demo: its facts, and what a pixel would have sent. */
export interface StagedVisit {
  sessionId: string;
  facts: Fact[];
  trace: DemoTrace;
}

/** Makes the facts that the collector would have sent of a session. */
export function makeVisitFacts(session: StagedSession, random: Random): StagedVisit {
  const { visit, endsAt, owner, student, country, location } = session;
  const { userAgent, pageUrl, durationMs, botScore, detectionFlags, ruleSetVersion } = visit;
  const sessionId = `demo-${randomUUID()}`;
  const directory = HOST + pick(PAGES.get(visit.task)!, random);
  const at = (ms: number) => new Date(endsAt - durationMs + ms).toISOString();
  const move = (url: string) => `${directory}/${url.split('/').at(-1)}`;
  const endedAt = at(durationMs);
  const deviceFingerprint = createHash('sha256').update(`${owner} ${userAgent}`).digest('hex').slice(0, 16);
  const events = visit.events.map(({ atMs, url, ...event }, sequence) => ({
    ...event,
    ...{ sequence, timestamp: at(atMs), url: url && move(url) },
  }));
  const evidence = visit.findings.map(({ momentsMs, ...finding }) => ({ ...finding, moments: momentsMs.map(at) }));
  const segments = visit.segments.map(({ atMs, ...segment }) => ({ ...segment, startedAt: at(atMs) }));
  const facts: Fact[] = [
    {
      ...{ kind: 'sessionStarted', sessionId, startedAt: at(0), pageUrl: move(pageUrl) },
      ...{ userAgent, deviceFingerprint, country, location },
    },
    { kind: 'sessionEvents', sessionId, events },
    { kind: 'sessionClosed', sessionId, closedAt: endedAt },
    {
      ...{ kind: 'sessionScored', sessionId, botScore, detectionFlags, ruleSetVersion, evidence },
      ...{ segments, scoredAt: endedAt },
    },
  ];
  if (student !== null) facts.push(makeCorrelation(sessionId, at(Math.min(MATCHED_MS, durationMs)), student, random));
  for (const { key: _, ...text } of visit.texts)
    facts.push({
      ...{ kind: 'writingScored', ...text, sessionId: `${sessionId}-${text.documentId}`, scoredAt: endedAt },
      ...{ userId: student === null ? null : idOf(student), browsingSessionId: sessionId },
    });
  const startedAtMs = endsAt - durationMs;
  const batches = moveBatches(visit.batches, startedAtMs - visit.startedAtMs, move);
  return { sessionId, facts, trace: { sessionId, userAgent, startedAtMs, batches } };
}

const idOf = (student: number) => `student-${student + 1}`;

/** Makes the match of a session with a student. */
export function makeCorrelation(sessionId: string, correlatedAt: string, index: number, random: Random): Fact {
  const name = STUDENTS[index]!;
  const id = idOf(index);
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.edu`;
  return {
    kind: 'sessionCorrelated',
    sessionId,
    user: { id, name, email, url: `${HOST}/users/${index + 1}` },
    confidence: Math.round((0.8 + random() * 0.2) * 100) / 100,
    correlatedAt,
  };
}
