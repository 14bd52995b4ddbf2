import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, openConnections } from './connection';
import { type FloodRequest, type FloodResult, NETWORKS } from './flooder';

// Run by `flooder.ts` in its own process: posts beacons at a fixed rate, whatever the server does with them (an open loop).
// A batch that finds no free connection within LATE_MS is not sent. No latency is measured here, and `connection.ts` writes
// HTTP by hand, so this process costs as little as it can.

const TICK_MS = 1;
/** How long a batch waits for a free connection. */
const LATE_MS = 100;
/** Longer than any answer should take. */
const LAST_ANSWERS_MS = 5_000;

const random = (bytes: number) => () => randomBytes(bytes).toString('hex');

/**
 * `‹n 5›` becomes 5 until a batch of the template was kept, then 6, and so on: a page sends a batch again until it is kept.
 * The others become random text.
 */
const FILLERS: Record<string, (kept: number, first: string) => string> = {
  n: (kept, first) => String(Number(first) + kept),
  nonce: random(16),
  document: random(8),
  network: () => String(Math.floor(Math.random() * NETWORKS)),
};

interface Template {
  write(): string;
  kept: number;
  /** One of its batches is under way, so the next one has no number yet. */
  isWaiting: boolean;
  isNumbered: boolean;
}

function compile(text: string): Template {
  const parts = text.split(/[‹›]/).map((part, place) => (place % 2 === 0 ? part : part.split(' ')));
  const template: Template = {
    write: () =>
      parts.map((part) => (typeof part === 'string' ? part : FILLERS[part[0]!]!(template.kept, part[1]!))).join(''),
    ...{ kept: 0, isWaiting: false, isNumbered: text.includes('‹n ') },
  };
  return template;
}

/** The templates of each target, so that a second flood goes on where the first one ended. */
const compiled = new Map<string, Template[]>();

async function flood({
  url: text,
  headers,
  templates,
  perSecond,
  ms,
  connections,
}: FloodRequest): Promise<FloodResult> {
  const url = new URL(text);
  const head = compile(
    [`POST ${url.pathname} HTTP/1.1`, `host: ${url.host}`, ...headers, 'content-length: '].join('\r\n'),
  );
  const bodies = compiled.get(text) ?? templates.map(compile);
  compiled.set(text, bodies);
  const onClosed = (closed: Connection) => void open.delete(closed);
  const open = new Set<Connection>();
  const idle = await openConnections(url, connections, onClosed);
  for (const connection of idle) open.add(connection);
  const statuses: Record<number, number> = {};
  let [sent, unsent, answered, turn] = [0, 0, 0, 0];

  function takeConnection(): Connection | null {
    for (let known = idle.pop(); known; known = idle.pop()) if (!known.isClosed) return known;
    if (open.size >= connections) return null;
    const connection = new Connection(url, onClosed);
    open.add(connection);
    return connection;
  }

  async function post(connection: Connection, body: Template) {
    const text = body.write();
    body.isWaiting = body.isNumbered;
    const status = await connection.ask(`${head.write()}${text.length}\r\n\r\n${text}`).catch(() => 0);
    body.isWaiting = false;
    if (status === 200) body.kept++;
    statuses[status] = (statuses[status] ?? 0) + 1;
    answered++;
    if (status !== 0) idle.push(connection);
  }

  /** Finds the next page that has no batch under way. */
  function takeBody(): Template | null {
    for (let tries = 0; tries < bodies.length; tries++) {
      const body = bodies[turn++ % bodies.length]!;
      if (!body.isWaiting) return body;
    }
    return null;
  }

  const from = performance.now();
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - from) {
    const due = (elapsed * perSecond) / 1_000;
    while (sent + unsent < due) {
      const body = takeBody();
      const connection = body && takeConnection();
      if (!connection) break;
      void post(connection, body);
      sent++;
    }
    unsent = Math.max(unsent, Math.floor(due - (LATE_MS * perSecond) / 1_000) - sent);
    await sleep(TICK_MS);
  }
  const tookMs = performance.now() - from;
  while (answered < sent && performance.now() - from < ms + LAST_ANSWERS_MS) await sleep(10);
  for (const connection of open) connection.close();
  return { sent, unsent, ms: tookMs, statuses };
}

process.on('message', async (request: FloodRequest) => process.send!(await flood(request)));
process.on('disconnect', () => process.exit());
process.send!('ready');
