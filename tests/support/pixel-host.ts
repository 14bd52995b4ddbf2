import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Beacon, EVENT_FIELDS, EventCode, PAGE_CAUSES } from '../../contract/beacon';
import { readBeacon } from '../../server/detection/batch';
import { POLL_LIMIT_MS } from './limits.mjs';
import { waitUntil } from './receiver';

// The pixel alone, in a real browser: a site on one port, and on another a host that records what arrives at /collect.

const CLOCK_STEP_MS = 10_000;

export interface Received {
  beacon: Beacon;
  path: string;
  headers: IncomingHttpHeaders;
  /** Everything that was sent, headers included. */
  bytes: string;
  atMs: number;
}
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}
export type NamedEvent = { code: string; timeMs: number } & Record<string, number>;

export const TOKEN_TEXT = 'token-1';
export const TOKEN: Answer = { status: 200, body: { token: TOKEN_TEXT } };
const { file, integrity } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));
const script = readFileSync(`pixel/released/${file}`);

export const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
export const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

type PageKind = 'plain' | 'timed';

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export class PixelHost {
  /** Pages that the tests of a file share. Null: each page gets a new context. */
  readonly #kept: Map<PageKind, Page> | null;
  /** Each test has a key. What the pages of the test before send while they are closed has another one. */
  siteKey = '';
  received: Received[] = [];
  answer: (beacon: Beacon) => Answer = () => TOKEN;
  readonly #pages = new Map<string, { html: string; headers: Record<string, string> }>();
  readonly #contexts: BrowserContext[] = [];
  #unanswered = 0;
  /** What was asked of the site, with the queries. */
  requested: string[] = [];
  #site: Server = this.#createSite();
  readonly #host = createServer(async (request, response) => {
    const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
    const path = request.url!;
    if (request.method === 'GET') {
      return response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8', ...open }).end(script);
    }
    this.#unanswered++;
    response.once('close', () => this.#unanswered--);
    const body = await text(request);
    const beacon = JSON.parse(body) as Beacon;
    const bytes = [path, ...request.rawHeaders, body].join('\n');
    const isOfThisTest = beacon.k === this.siteKey;
    if (isOfThisTest) this.received.push({ beacon, path, headers: request.headers, bytes, atMs: performance.now() });
    const { status, headers, body: content } = isOfThisTest ? this.answer(beacon) : TOKEN;
    return response
      .writeHead(status, { ...open, ...headers })
      .end(content === undefined ? '' : JSON.stringify(content));
  });

  constructor(keepsPages: boolean) {
    this.#kept = keepsPages ? new Map() : null;
  }

  #createSite() {
    return createServer((request, response) => {
      this.requested.push(request.url!);
      const page = this.#pages.get(new URL(request.url!, 'http://site').pathname);
      if (!page) return response.writeHead(404).end();
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
    });
  }
  get siteUrl() {
    return urlOf(this.#site);
  }
  get hostUrl() {
    return urlOf(this.#host);
  }
  get beacons() {
    return this.received.map(({ beacon }) => beacon);
  }
  get events() {
    return readEvents(this.beacons);
  }

  async start() {
    await Promise.all([listen(this.#site), listen(this.#host)]);
  }
  async stop() {
    await Promise.all([closeServer(this.#site), closeServer(this.#host)]);
  }
  async reset() {
    if (this.#kept) {
      // Another origin: nothing is stored there.
      await closeServer(this.#site);
      this.#site = this.#createSite();
      await listen(this.#site);
    }
    this.siteKey = `site_${randomBytes(18).toString('base64url')}`;
    this.received = [];
    this.requested = [];
    this.answer = () => TOKEN;
    this.#pages.clear();
  }
  async closePages() {
    for (const page of this.#kept?.values() ?? []) await page.goto('about:blank');
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  /** The tag as the documentation shows it. */
  tag(attributes = '', from = this.hostUrl): string {
    return `<script async src="${from}/pixel.js" integrity="${integrity}" crossorigin="anonymous" data-site="${this.siteKey}" ${attributes}></script>`;
  }
  /** Makes a page of the site. Returns its address. */
  setPage(path: string, html: string, headers: Record<string, string> = {}): string {
    this.#pages.set(path, { html: `<!doctype html><html lang="en"><title>Page</title><body>${html}`, headers });
    return this.siteUrl + path;
  }
  /** Opens a page. With options it is a new one. */
  async openPage(browser: Browser, options?: BrowserContextOptions, kind: PageKind = 'plain'): Promise<Page> {
    const kept = options ? undefined : this.#kept?.get(kind);
    if (kept) {
      await kept.bringToFront();
      return kept;
    }
    const context = await browser.newContext(options);
    context.setDefaultTimeout(POLL_LIMIT_MS);
    const page = await context.newPage();
    if (this.#kept && !options) this.#kept.set(kind, page);
    else this.#contexts.push(context);
    return page;
  }
  /** Opens a page whose clock stands still: `runClock` moves it. Where timing is not the subject, no test waits for it. */
  async openTimedPage(browser: Browser): Promise<Page> {
    const page = await this.openPage(browser, undefined, 'timed');
    await page.clock.install({ time: new Date() });
    return page;
  }
  /**
   * Moves a page's clock, and waits until what was sent then has arrived. It moves in steps, because it also ends requests after the
   * pixel's 30 seconds: an answer that is under way must come first.
   */
  async runClock(page: Page, ms = 2_500): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= CLOCK_STEP_MS) {
      await page.clock.runFor(Math.min(leftMs, CLOCK_STEP_MS));
      await waitUntil(() => this.#unanswered === 0);
      await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).catch(() => {}), `${this.hostUrl}/fence`);
    }
  }

  /** Waits until so many batches have arrived, and answers them. */
  async waitForBatches(count: number): Promise<Beacon[]> {
    await expect.poll(() => this.received.length, POLL).toBeGreaterThanOrEqual(count);
    return this.beacons;
  }
  eventsOf(code: keyof typeof EventCode): NamedEvent[] {
    return this.events.filter((event) => event.code === code);
  }
  async waitForEvent(code: keyof typeof EventCode, count = 1): Promise<void> {
    const arrived = () =>
      this.received.map(({ atMs, beacon }) => `${atMs} ${readEvents([beacon]).map((event) => event.code)}`);
    await waitUntil(
      () => this.eventsOf(code).length >= count,
      POLL_LIMIT_MS,
      () => `${performance.now()}: ${this.eventsOf(code).length} of ${count} ${code} among\n${arrived().join('\n')}`,
    );
  }
  /** Waits until the first batch of a page is answered. Before that it has no token, and its last batch could not be sent. */
  async waitForToken(page: Page): Promise<void> {
    const hasToken = (token: string) => Object.values({ ...sessionStorage }).some((kept) => `${kept}`.includes(token));
    await page.waitForFunction(hasToken, TOKEN_TEXT);
  }
  async leave(page: Page): Promise<void> {
    await this.waitForToken(page);
    await page.goto('about:blank');
    await this.waitForEvent('Leave');
  }
  /** The pages that batches tell of, and why. */
  pagesOf(beacons: Beacon[] = this.beacons): string[] {
    return beacons.flatMap((beacon) =>
      readEvents([beacon])
        .filter(({ code }) => code === 'Page')
        .map(({ page, cause }) => `${beacon.p![page!]!.replace(this.siteUrl, '')} ${PAGE_CAUSES[cause!]}`),
    );
  }
}

const POLL = { interval: 20 };

/** Reads the events of batches by the names of the contract. Fails if a field is missing or not an integer. */
export function readEvents(beacons: Beacon[]): NamedEvent[] {
  return beacons.flatMap(({ ev }) => {
    const events: NamedEvent[] = [];
    let [at, tenths] = [0, 0];
    while (at < ev.length) {
      const code = ev[at] as EventCode;
      const fields: readonly string[] = EVENT_FIELDS[code];
      tenths += ev[at + 1]!;
      const values = ev.slice(at + 2, at + 2 + fields.length);
      if (values.length !== fields.length || !values.every(Number.isInteger))
        throw new Error(`malformed: ${ev.slice(at, at + 20)}`);
      const named = Object.fromEntries(fields.map((name, index) => [name, values[index]!]));
      events.push({ code: EventCode[code], timeMs: tenths / 10, ...named } as NamedEvent);
      at += 2 + fields.length;
    }
    return events;
  });
}

/**
 * Starts a host for the tests of a file. After each of them, the collector must take whatever the pixel has sent. A host
 * that keeps pages opens windows once, which is what costs most in Firefox; each test has a separate origin.
 */
export function preparePixelHost({ keepsPages = false } = {}): PixelHost {
  const host = new PixelHost(keepsPages);
  beforeAll(() => host.start());
  beforeEach(() => host.reset());
  afterEach(async () => {
    expect(host.beacons.filter((beacon) => readBeacon(beacon) === null)).toEqual([]);
    await host.closePages();
  });
  afterAll(() => host.stop());
  return host;
}

/** Starts a browser for the tests of a file. */
export function prepareBrowser(launch: () => Promise<Browser>): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  return () => browser!;
}

/** Tells a page that it is hidden or shown, one after the other. */
export const setHidden = (page: Page, ...states: boolean[]): Promise<void> =>
  page.evaluate((values) => {
    for (const value of values) {
      Object.defineProperty(Document.prototype, 'hidden', { get: () => value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
  }, states);

/** Collects what a page would notice of the pixel: errors, refusals by its policy, lines in its console. */
export async function watchFaults(page: Page): Promise<() => Promise<string[]>> {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error ${error.message}`));
  // `endGroup` is how the pixel asks the inspector; consoles show nothing. The browser itself notes failed requests.
  page.on('console', (message) => {
    const isOfBrowser = /^Failed to load resource|Password field/.test(message.text());
    if (message.type() !== 'endGroup' && !isOfBrowser) complaints.push(`${message.type()} ${message.text()}`);
  });
  await page.addInitScript(() => {
    Object.assign(window, { faults: [] });
    const keep = (event: Event) => (window as unknown as { faults: string[] }).faults.push(event.type);
    for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(name, keep);
  });
  return async () => [
    ...complaints,
    ...(await page.evaluate(() => (window as unknown as { faults: string[] }).faults)),
  ];
}

/** A page with every kind of field. */
export const FIELDS = `<input id="name"><textarea id="essay"></textarea><div id="rich" contenteditable style="height:40px"></div>
  <input id="password" type="password"><label><input id="agree" type="checkbox">Yes</label>
  <button id="ok" style="width:100px;height:40px">OK</button><div style="height:4000px"></div>`;
