import { createHash } from 'node:crypto';
import { CHROME } from './facts';

// What the decisions page says about facts, labels, scores and counts, written again in the simplest way, to compare
// the product's answers with it. It uses none of the product's code.

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

export interface Agent {
  userAgent: string;
  deviceType: 'desktop' | 'mobile' | 'tablet';
  browser: string;
}

/** User agents and their classification. */
export const AGENTS: Agent[] = [
  { userAgent: CHROME, deviceType: 'desktop', browser: 'Chrome' },
  { userAgent: IPHONE, deviceType: 'mobile', browser: 'Safari' },
  { userAgent: IPAD, deviceType: 'tablet', browser: 'Safari' },
  { userAgent: FIREFOX, deviceType: 'desktop', browser: 'Firefox' },
  { userAgent: '', deviceType: 'desktop', browser: 'Unknown' },
];

export interface ModelCourse {
  id: string;
  name: string;
  code: string | null;
  url: string;
}
export interface Place {
  pageUrl: string;
  origin: string;
  course: ModelCourse | null;
}

/** Makes a page outside of courses. */
export const pageAt = (origin: string): Place => ({ pageUrl: `${origin}/home?x=1`, origin, course: null });

/** Makes a page of a course, as Canvas addresses it. */
export function canvasPage(origin: string, number: number): Place {
  const url = `${origin}/courses/${number}`;
  const id = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return { pageUrl: `${url}/quizzes/1?x=1#y`, origin, course: { id, name: `Course ${number}`, code: null, url } };
}

export interface ModelSession {
  id: string;
  createdAt: string;
  closedAt: string | null;
  failedAt: string | null;
  place: Place;
  agent: Agent;
  fingerprint: string | null;
  scores: Map<string, { botScore: number; detectionFlags: string[] }>;
  correlations: Map<string, { userId: string; confidence: number }>;
  events: Map<number, number>;
  label: 'bot' | 'human' | null;
}

interface ModelUser {
  name: string;
  email: string | null;
  url: string | null;
  describedAt: string;
}

// biome-ignore lint/suspicious/noExplicitAny: facts have many shapes
type Fact = any;
type Result = 'accepted' | 'duplicates' | 'suppressed';

const SUPPRESSED_TYPES = ['SharedDevice', 'DeviceSwitch'];

/** One integration, as its facts and requests made it. All times are ISO strings of one form, which sort as text. */
export class TenantModel {
  thresholds = { mediumAt: 40, botAt: 70 };
  readonly sessions = new Map<string, ModelSession>();
  readonly users = new Map<string, ModelUser>();
  readonly anomalies = new Map<string, { userId: string | null }>();
  /** The confirmed devices of each user. */
  readonly confirmations = new Map<string, Set<string>>();
  readonly #places: Map<string, Place>;
  readonly #agents = new Map(AGENTS.map((agent) => [agent.userAgent, agent]));

  constructor(places: Place[]) {
    this.#places = new Map(places.map((place) => [place.pageUrl, place]));
  }

  /** Applies a fact that the pipeline's endpoint accepts. */
  apply(fact: Fact): Result {
    if (fact.kind === 'sessionStarted') return this.#start(fact);
    if (fact.kind === 'anomalyDetected') return this.#notice(fact);
    const session = this.sessions.get(fact.sessionId)!;
    switch (fact.kind) {
      case 'sessionClosed':
        if (session.closedAt !== null) return 'duplicates';
        session.closedAt = fact.closedAt;
        return 'accepted';
      case 'sessionFailed':
        if (session.failedAt !== null) return 'duplicates';
        session.failedAt = fact.failedAt;
        return 'accepted';
      case 'sessionScored':
        if (session.scores.has(fact.scoredAt)) return 'duplicates';
        session.scores.set(fact.scoredAt, { botScore: fact.botScore, detectionFlags: fact.detectionFlags });
        return 'accepted';
      case 'sessionEvents': {
        const isNew = fact.events.some(({ sequence }: { sequence: number }) => !session.events.has(sequence));
        for (const { sequence, eventCount } of fact.events)
          if (!session.events.has(sequence)) session.events.set(sequence, eventCount ?? 1);
        return isNew ? 'accepted' : 'duplicates';
      }
      default:
        return this.#correlate(fact, session);
    }
  }

  #start(fact: Fact): Result {
    if (this.sessions.has(fact.sessionId)) return 'duplicates';
    this.sessions.set(fact.sessionId, {
      id: fact.sessionId,
      createdAt: fact.startedAt,
      closedAt: null,
      failedAt: null,
      place: this.#places.get(fact.pageUrl)!,
      agent: this.#agents.get(fact.userAgent)!,
      fingerprint: fact.deviceFingerprint ?? null,
      scores: new Map(),
      correlations: new Map(),
      events: new Map(),
      label: null,
    });
    return 'accepted';
  }

  #correlate({ user, correlatedAt, confidence }: Fact, session: ModelSession): Result {
    if (session.correlations.has(correlatedAt)) return 'duplicates';
    session.correlations.set(correlatedAt, { userId: user.id, confidence });
    const known = this.users.get(user.id);
    if (!known || known.describedAt <= correlatedAt)
      this.users.set(user.id, {
        name: user.name,
        email: user.email ?? null,
        url: user.url ?? null,
        describedAt: correlatedAt,
      });
    return 'accepted';
  }

  #notice(fact: Fact): Result {
    if (this.anomalies.has(fact.anomalyId)) return 'duplicates';
    const session = fact.sessionId == null ? null : this.sessions.get(fact.sessionId)!;
    const userId = fact.userId ?? (session && userOf(session)) ?? null;
    const fingerprint = fact.deviceFingerprint ?? session?.fingerprint ?? null;
    const isConfirmed = userId !== null && fingerprint !== null && this.confirmations.get(userId)?.has(fingerprint);
    if (SUPPRESSED_TYPES.includes(fact.anomalyType) && isConfirmed) return 'suppressed';
    this.anomalies.set(fact.anomalyId, { userId });
    return 'accepted';
  }

  confirm(userId: string, fingerprint: string): void {
    const devices = this.confirmations.get(userId) ?? new Set();
    this.confirmations.set(userId, devices.add(fingerprint));
  }

  /** The largest integer n with `botScore >= n/100`; 101 and −1 by label; null if there is neither. */
  effectiveBin(session: ModelSession): number | null {
    if (session.label !== null) return session.label === 'bot' ? 101 : -1;
    const botScore = scoreOf(session);
    if (botScore === null) return null;
    let bin = 100;
    while (botScore < bin / 100) bin--;
    return bin;
  }

  riskLevel(session: ModelSession): 'bot' | 'medium' | 'human' | null {
    return this.levelOf(this.effectiveBin(session));
  }

  levelOf(bin: number | null): 'bot' | 'medium' | 'human' | null {
    if (bin === null) return null;
    if (bin >= this.thresholds.botAt) return 'bot';
    return bin >= this.thresholds.mediumAt ? 'medium' : 'human';
  }
}

/** Finds the value with the latest time, whatever the order of arrival. */
export function latest<T>(byTime: Map<string, T>): T | null {
  const times = [...byTime.keys()].sort();
  return times.length === 0 ? null : byTime.get(times.at(-1)!)!;
}

export const scoreOf = (session: ModelSession) => latest(session.scores)?.botScore ?? null;
export const flagsOf = (session: ModelSession) => latest(session.scores)?.detectionFlags ?? [];
export const userOf = (session: ModelSession) => latest(session.correlations)?.userId ?? null;
export const confidenceOf = (session: ModelSession) => latest(session.correlations)?.confidence ?? null;
export const eventsOf = (session: ModelSession) => sum([...session.events.values()]);

export function statusOf(session: ModelSession): 'Active' | 'Closed' | 'Scored' | 'Failed' {
  if (session.scores.size > 0) return session.closedAt === null ? 'Active' : 'Scored';
  if (session.failedAt !== null) return 'Failed';
  return session.closedAt === null ? 'Active' : 'Closed';
}

export const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** Compares texts by their UTF-8 bytes, as every order of the API does. */
export const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares sessions as every list orders them: newest first, then by id, descending. */
export const newestFirst = (a: { createdAt: string; id: string }, b: { createdAt: string; id: string }) =>
  a.createdAt === b.createdAt ? compareBytes(b.id, a.id) : a.createdAt < b.createdAt ? 1 : -1;
