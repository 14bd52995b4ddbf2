import { randomUUID } from 'node:crypto';
import type { Finding } from '../../contract/evidence';
import type { Fact } from '../pipeline/facts';

type Events = Extract<Fact, { kind: 'sessionEvents' }>['events'];
export type DemoKind = 'bot' | 'human';

/** Returns numbers in [0, 1). */
export type Random = () => number;

const HOST = 'https://learn.example.edu';
const PAGES = [
  '/courses/101/assignments/4',
  '/courses/101/quizzes/9',
  '/courses/204/discussion_topics/2',
  '/courses/204/pages/reading-list',
  '/courses/310/quizzes/1',
  '/courses/310/assignments/7',
  '/courses/415/modules',
];
const HUMAN_AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
];
const BOT_AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
];
const COUNTRIES = ['US', 'US', 'US', 'CA', 'GB', 'DE', 'IN', 'BR'];
/** Rules of an imagined pipeline, with what they measure in a bot's session. */
const RULES: Omit<Finding, 'state' | 'moments'>[] = [
  { flag: 'webdriver', group: 'environment', measured: 1, expected: '0', weight: 4 },
  { flag: 'linear-mouse-path', group: 'pointer', measured: 0.98, expected: 'below 0.6 of the moves', weight: 2 },
  { flag: 'superhuman-typing', group: 'typing', measured: 41, expected: 'at most 12 keys a second', weight: 2.5 },
  { flag: 'no-scroll', group: 'flow', measured: 0, expected: 'at least 1 on a long page', weight: 0.4 },
  { flag: 'datacenter-network', group: 'network', measured: 1, expected: '0', weight: 1.2 },
  { flag: 'agent-tool-calls', group: 'flow', measured: 3, expected: '0', weight: 3 },
];
const DEVICES = 60;
const STUDENTS = [
  ...['Ada Lovelace', 'Alan Turing', 'Grace Hopper', 'Katherine Johnson', 'Edsger Dijkstra', 'Barbara Liskov'],
  ...['Donald Knuth', 'Margaret Hamilton', 'Tony Hoare', 'Frances Allen', 'John Backus', 'Radia Perlman'],
];
const MATCHED_SHARE = 0.85;
const ANOMALY_TYPES = ['SharedDevice', 'DeviceSwitch', 'ImpossibleTravel'];
const ANOMALY_SHARE = 0.15;
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

/** Makes the facts of one plausible session that ended and was scored at `endsAt` (milliseconds). */
export function makeSessionFacts(kind: DemoKind, endsAt: number, random: Random): { sessionId: string; facts: Fact[] } {
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)] as T;
  const between = (from: number, to: number) => from + random() * (to - from);
  const isBot = kind === 'bot';
  const sessionId = `demo-${randomUUID()}`;
  const durationMs = Math.round(isBot ? between(8_000, 90_000) : between(60_000, 1_500_000));
  const startedAt = endsAt - durationMs;
  const at = (ms: number) => new Date(ms).toISOString();
  const device = Math.floor(random() * DEVICES)
    .toString(16)
    .padStart(2, '0');
  const botScore = Math.round((isBot ? between(0.7, 0.995) : between(0.02, 0.55) * between(0.5, 1)) * 1_000) / 1_000;
  const noticed = RULES.filter(() => random() < (isBot ? 0.45 : 0.03));
  const found = isBot && noticed.length === 0 ? RULES.slice(0, 1) : noticed;
  const fingerprint = `${isBot ? 'b' : 'f'}${device}4be81f0c9a7d`;
  const facts: Fact[] = [
    {
      kind: 'sessionStarted',
      sessionId,
      startedAt: at(startedAt),
      pageUrl: HOST + pick(PAGES),
      userAgent: pick(isBot ? BOT_AGENTS : HUMAN_AGENTS),
      deviceFingerprint: fingerprint,
      country: pick(COUNTRIES),
    },
    { kind: 'sessionEvents', sessionId, events: makeEvents(isBot, startedAt, durationMs, random) },
    { kind: 'sessionClosed', sessionId, closedAt: at(endsAt) },
    {
      kind: 'sessionScored',
      sessionId,
      botScore,
      detectionFlags: found.map(({ flag }) => flag),
      scoredAt: at(endsAt),
      ruleSetVersion: 'demo',
      evidence: found.map((rule) => ({ ...rule, state: 'found', moments: [at(startedAt + durationMs / 2)] })),
    },
  ];
  if (random() < MATCHED_SHARE) facts.push(makeCorrelation(sessionId, at(endsAt), random));
  if (isBot && random() < ANOMALY_SHARE) {
    facts.push({
      kind: 'anomalyDetected',
      anomalyId: `anomaly-${sessionId}`,
      anomalyType: pick(ANOMALY_TYPES),
      severity: pick(['low', 'medium', 'high'] as const),
      detectedAt: at(endsAt),
      sessionId,
      metadata: { otherUserCount: 1 + Math.floor(random() * 4) },
    });
  }
  return { sessionId, facts };
}

function makeCorrelation(sessionId: string, correlatedAt: string, random: Random): Fact {
  const index = Math.floor(random() * STUDENTS.length);
  const name = STUDENTS[index]!;
  const id = `student-${index + 1}`;
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.edu`;
  return {
    kind: 'sessionCorrelated',
    sessionId,
    user: { id, name, email, url: `${HOST}/users/${index + 1}` },
    confidence: Math.round((0.8 + random() * 0.2) * 100) / 100,
    correlatedAt,
  };
}

function makeEvents(isBot: boolean, startedAt: number, durationMs: number, random: Random): Events {
  const types: Events[number]['type'][] = isBot
    ? ['form', 'keyboard', 'navigation', 'form']
    : ['mouse', 'mouse', 'scroll', 'keyboard', 'navigation', 'visibility', 'form'];
  const count = Math.round(isBot ? 4 + random() * 8 : 10 + random() * 25);
  return Array.from({ length: count }, (_, sequence) => {
    const type = types[Math.floor(random() * types.length)]!;
    const page = PAGES[Math.floor(random() * PAGES.length)];
    return {
      sequence,
      type,
      timestamp: new Date(startedAt + Math.round(((sequence + random()) / count) * durationMs)).toISOString(),
      ...(type === 'navigation' ? { url: HOST + page } : { eventCount: 1 + Math.floor(random() * (isBot ? 3 : 40)) }),
      durationMs: Math.round(random() * 4_000),
    };
  });
}
