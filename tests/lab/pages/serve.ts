import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { Geometry, GeometryFeed, Task } from '../subject';
import { type Tag, writePage } from './layout';
import { planVisit, type VisitPlan } from './tasks';

/** What BotD says of a visit: whether it is a bot and of which kind, or why it could not say. */
export interface BotdVerdict {
  bot?: boolean;
  botKind?: string | null;
  error?: string;
}

/** A visit that the pages are served for. */
export interface OpenVisit {
  /** The address of its first page. */
  url: string;
  steps: VisitPlan['steps'];
  geometry: GeometryFeed;
  /** Null until the page has said it. */
  readBotd(): BotdVerdict | null;
}

export interface PageServer {
  origin: string;
  /** Serves the pages of one visit under its run's name. The pages name the run as their user. */
  open(run: string, task: Task, seed: number): OpenVisit;
  close(): Promise<void>;
}

const LOOK_MS = 25;
const PAGE_SCRIPT = readFileSync(new URL('./page.js', import.meta.url));

/** Serves the laboratory's pages on a free port of this machine. `readTag` is asked for each page; `botd` is BotD's module. */
export async function startPages(readTag: () => Tag, botd: Uint8Array | null): Promise<PageServer> {
  const visits = new Map<
    string,
    { plan: VisitPlan; geometry: Geometry | null; atMs: number; botd: BotdVerdict | null }
  >();
  const server = createServer(async (request, response) => {
    const [, run = '', name = ''] = new URL(request.url!, 'http://pages').pathname.split('/');
    const visit = visits.get(run);
    if (request.method === 'POST' && visit) {
      // A page that is left takes its last message with it.
      const body = await text(request).then(JSON.parse, () => null);
      if (body === null) return response.destroy();
      if (name === 'botd') visit.botd = body;
      else if (body.atMs > visit.atMs) Object.assign(visit, { atMs: body.atMs, geometry: JSON.parse(body.geometry) });
      return response.writeHead(204).end();
    }
    const script = run === 'page.js' ? PAGE_SCRIPT : run === 'botd.js' ? botd : null;
    if (script) return response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script);
    const page = visit?.plan.pages.get(name);
    if (!visit || !page) return response.writeHead(404).end();
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    return response.writeHead(200, headers).end(writePage(page, visit.plan.style, readTag(), run));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    open(run, task, seed) {
      const visit = { plan: planVisit(task, seed), geometry: null as Geometry | null, atMs: 0, botd: null };
      visits.set(run, visit);
      const geometry: GeometryFeed = {
        read: () => visit.geometry,
        async waitFor(isSo, limitMs = WAIT_LIMIT_MS) {
          for (const until = Date.now() + limitMs; ; await sleep(LOOK_MS)) {
            if (visit.geometry && isSo(visit.geometry)) return visit.geometry;
            if (Date.now() > until) throw new Error(`not seen on the page within ${limitMs} ms: ${isSo}`);
          }
        },
      };
      return { url: `${origin}/${run}/start`, steps: visit.plan.steps, geometry, readBotd: () => visit.botd };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
