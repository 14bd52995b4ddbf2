import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// A customer's site with a pixel on its pages, and the pipeline behind the pixel: a collector that turns the browsers'
// reports into facts, and scores a session when it is over.

export const QUIZ = '/courses/42/quizzes/9';
export const COURSE = '/courses/42';
const PAGES: Record<string, [file: string, type: string]> = {
  [QUIZ]: ['quiz.html', 'text/html; charset=utf-8'],
  [`${QUIZ}/done`]: ['done.html', 'text/html; charset=utf-8'],
  '/pixel.js': ['pixel.js', 'text/javascript; charset=utf-8'],
};

interface PixelEvent {
  sequence: number;
  type: string;
  url: string;
  timestamp: string;
  durationMs: number;
  eventCount: number;
  metadata?: { trails: number; lines: number };
}

interface Beacon {
  sessionId: string;
  startedAt: string;
  pageUrl: string;
  userAgent: string;
  webdriver: boolean;
  fingerprint: string;
  events: PixelEvent[];
}

/** The collector's data about one session. */
export interface Visit extends Omit<Beacon, 'events'> {
  events: PixelEvent[];
}

export interface Site {
  url: string;
  visits: Map<string, Visit>;
  /** Everything that pixels sent, byte for byte. */
  beacons: string[];
  /** Ends a session in the pipeline: closes and scores it. */
  finish(sessionId: string): Promise<{ botScore: number; detectionFlags: string[]; scoredAt: string }>;
  stop(): Promise<void>;
}

/** Starts the site. `deliver` posts facts to the product. */
export async function startSite(deliver: (facts: unknown[]) => Promise<void>): Promise<Site> {
  const visits = new Map<string, Visit>();
  const beacons: string[] = [];
  // Facts are delivered in order of arrival, sessionStarted first.
  let delivered = Promise.resolve();
  const enqueue = (facts: unknown[]) => {
    delivered = delivered.then(() => deliver(facts));
    delivered.catch(() => {}); // `finish` awaits it and reports errors
  };

  function collect({ events, ...visitor }: Beacon) {
    const { sessionId, startedAt, pageUrl, userAgent, fingerprint } = visitor;
    const facts: unknown[] = [{ kind: 'sessionEvents', sessionId, events }];
    const known = visits.get(sessionId);
    if (known) {
      known.events.push(...events);
    } else {
      visits.set(sessionId, { ...visitor, events });
      const deviceFingerprint = fingerprint;
      facts.unshift({ kind: 'sessionStarted', sessionId, startedAt, pageUrl, userAgent, deviceFingerprint });
    }
    enqueue(facts);
  }

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (request.method === 'POST' && pathname === '/collect') {
      const body = await text(request);
      beacons.push(body);
      collect(JSON.parse(body));
      return response.writeHead(204).end();
    }
    const page = PAGES[pathname];
    if (!page) return response.writeHead(404).end();
    const [file, type] = page;
    response.writeHead(200, { 'content-type': type }).end(await readFile(new URL(file, import.meta.url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    beacons,
    async finish(sessionId) {
      const visit = visits.get(sessionId);
      if (!visit) throw new Error(`no such session: ${sessionId}`);
      const score = { ...scoreVisit(visit), scoredAt: new Date().toISOString() };
      enqueue([
        { kind: 'sessionClosed', sessionId, closedAt: new Date().toISOString() },
        { kind: 'sessionScored', sessionId, ...score },
      ]);
      await delivered;
      return score;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A simple score of what the browser reported and did. */
function scoreVisit({ webdriver, userAgent, events }: Visit): { botScore: number; detectionFlags: string[] } {
  const sumOf = (name: 'trails' | 'lines') => events.reduce((sum, { metadata }) => sum + (metadata?.[name] ?? 0), 0);
  const signals: [flag: string, weight: number, isSeen: boolean][] = [
    ['webdriver', 0.5, webdriver],
    ['headless-browser', 0.15, /Headless/.test(userAgent)],
    ['linear-mouse-path', 0.3, sumOf('lines') > sumOf('trails') * 0.6],
    ['no-pointer', 0.2, !events.some(({ type }) => type === 'mouse' || type === 'touch')],
  ];
  const seen = signals.filter(([, , isSeen]) => isSeen);
  const botScore = seen.reduce((sum, [, weight]) => sum + weight, 0.04);
  return { botScore: Math.min(1, Math.round(botScore * 1_000) / 1_000), detectionFlags: seen.map(([flag]) => flag) };
}
