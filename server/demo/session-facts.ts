import { createHash, randomUUID } from 'node:crypto';
import type { Fact } from '../pipeline/facts';
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

/**
 * Makes the facts of a session that ended and was scored at `endsAt` (milliseconds): a recorded visit at another time, of an
 * invented person, who has one device for each browser of the recordings. What does not fit together is for the rules to find.
 */
export function makeSessionFacts(
  kind: VisitKind,
  endsAt: number,
  random: Random,
): { sessionId: string; facts: Fact[] } {
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)] as T;
  const sessionId = `demo-${randomUUID()}`;
  const visit = pick(listVisits().filter((one) => one.kind === kind));
  const student = Math.floor(random() * STUDENTS.length);
  const owner = random() < BORROWED_SHARE ? Math.floor(random() * STUDENTS.length) : student;
  const facts = moveVisit(visit, {
    sessionId,
    startedAt: endsAt - visit.durationMs,
    directory: HOST + pick(PAGES.get(visit.task)!),
    country: pick(COUNTRIES),
    owner,
  });
  const endedAt = new Date(endsAt).toISOString();
  const isMatched = random() < MATCHED_SHARE;
  if (isMatched) facts.push(makeCorrelation(sessionId, endedAt, student, random));
  for (const { key: _, ...text } of visit.texts)
    facts.push({
      ...{ kind: 'writingScored', ...text, sessionId: `${sessionId}-${text.documentId}`, scoredAt: endedAt },
      ...{ userId: isMatched ? idOf(student) : null, browsingSessionId: sessionId },
    });
  return { sessionId, facts };
}

interface Place {
  sessionId: string;
  startedAt: number;
  /** The address under which the visit's pages are. */
  directory: string;
  country: string;
  /** Whose device it is. */
  owner: number;
}

/** Makes the facts that the collector would have sent of a visit. */
function moveVisit(visit: DemoVisit, { sessionId, startedAt, directory, country, owner }: Place): Fact[] {
  const at = (ms: number) => new Date(startedAt + ms).toISOString();
  const move = (url: string) => `${directory}/${url.split('/').at(-1)}`;
  const { userAgent, pageUrl, durationMs, botScore, detectionFlags, ruleSetVersion } = visit;
  const deviceFingerprint = createHash('sha256').update(`${owner} ${userAgent}`).digest('hex').slice(0, 16);
  const events = visit.events.map(({ atMs, url, ...event }, sequence) => ({
    ...event,
    ...{ sequence, timestamp: at(atMs), url: url && move(url) },
  }));
  const evidence = visit.findings.map(({ momentsMs, ...finding }) => ({ ...finding, moments: momentsMs.map(at) }));
  return [
    {
      ...{ kind: 'sessionStarted', sessionId, startedAt: at(0), pageUrl: move(pageUrl) },
      ...{ userAgent, deviceFingerprint, country },
    },
    { kind: 'sessionEvents', sessionId, events },
    { kind: 'sessionClosed', sessionId, closedAt: at(durationMs) },
    {
      ...{ kind: 'sessionScored', sessionId, botScore, detectionFlags, ruleSetVersion, evidence },
      scoredAt: at(durationMs),
    },
  ];
}

const idOf = (student: number) => `student-${student + 1}`;

function makeCorrelation(sessionId: string, correlatedAt: string, index: number, random: Random): Fact {
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
