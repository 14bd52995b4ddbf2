import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  firefox,
  type Page,
} from '@playwright/test';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AUTOMATION_MARKS,
  type Beacon,
  CLIPBOARD_KINDS,
  ELEMENT_ROLES,
  ENVIRONMENT_BITS,
  EVENT_FIELDS,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
  KEY_CLASSES,
  PAGE_CAUSES,
  POINTERS,
} from '../../contract/beacon';
import { readBeacon } from '../../server/detection/batch';
import { launchOptions } from '../support/browser.mjs';

// The pixel alone, in a real browser: a site on one port, and on another a host that records what arrives at /collect.

const LIMIT_MS = 60_000;
const STEP_LIMIT_MS = 10_000;
/** Longer than the pixel waits for its first batch. */
const SILENCE_MS = 1_600;
const HASH = 'a1'.repeat(32);
const { file, integrity } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));
const script = readFileSync(`pixel/released/${file}`);

interface Received {
  beacon: Beacon;
  path: string;
  headers: IncomingHttpHeaders;
  /** Everything that was sent, headers included. */
  bytes: string;
  atMs: number;
}
interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}
type Named = { code: string; timeMs: number } & Record<string, number>;

const TOKEN: Answer = { status: 200, body: { token: 'token-1' } };
/** Each test has a key. What the pages of the test before send while they are closed has another one. */
let siteKey = '';
let received: Received[] = [];
let answer: (beacon: Beacon) => Answer = () => TOKEN;
let pages = new Map<string, { html: string; headers: Record<string, string> }>();
let site: Server;
let host: Server;
let browser: Browser;
const contexts: BrowserContext[] = [];
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  site = createServer((request, response) => {
    const page = pages.get(new URL(request.url!, 'http://site').pathname);
    if (!page) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
  });
  host = createServer(async (request, response) => {
    const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
    const path = request.url!;
    if (request.method === 'GET') {
      return response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8', ...open }).end(script);
    }
    const body = await text(request);
    const beacon = JSON.parse(body) as Beacon;
    const bytes = [path, ...request.rawHeaders, body].join('\n');
    const isOfThisTest = beacon.k === siteKey;
    if (isOfThisTest) received.push({ beacon, path, headers: request.headers, bytes, atMs: performance.now() });
    const { status, headers, body: content } = isOfThisTest ? answer(beacon) : TOKEN;
    return response.writeHead(status, { ...open, ...headers }).end(content && JSON.stringify(content));
  });
  await Promise.all([listen(site), listen(host)]);
  browser = await chromium.launch(launchOptions());
}, LIMIT_MS);

beforeEach(() => {
  siteKey = `site_${randomBytes(18).toString('base64url')}`;
  received = [];
  answer = () => TOKEN;
  pages = new Map();
});
afterEach(async () => {
  // The collector takes whatever the pixel sends.
  expect(received.filter(({ beacon }) => readBeacon(beacon) === null)).toEqual([]);
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(async () => {
  await browser?.close();
  for (const server of [site, host]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}, LIMIT_MS);

/** The tag as the documentation shows it. */
const tag = (attributes = '', from = urlOf(host)) =>
  `<script async src="${from}/pixel.js" integrity="${integrity}" crossorigin="anonymous" data-site="${siteKey}" ${attributes}></script>`;
function setPage(path: string, html: string, headers: Record<string, string> = {}): string {
  pages.set(path, { html: `<!doctype html><html lang="en"><title>Page</title><body>${html}`, headers });
  return urlOf(site) + path;
}
async function openPage(options: BrowserContextOptions = {}, from = browser): Promise<Page> {
  const context = await from.newContext(options);
  contexts.push(context);
  context.setDefaultTimeout(STEP_LIMIT_MS);
  return context.newPage();
}
/** Waits until so many batches have arrived, and answers them. */
async function waitForBatches(count: number): Promise<Beacon[]> {
  await expect.poll(() => received.length, { timeout: STEP_LIMIT_MS }).toBeGreaterThanOrEqual(count);
  return received.map(({ beacon }) => beacon);
}
/** Reads the events of batches by the names of the contract. Fails if a field is missing or not an integer. */
function readEvents(beacons: Beacon[]): Named[] {
  return beacons.flatMap(({ ev }) => {
    const events: Named[] = [];
    let [at, tenths] = [0, 0];
    while (at < ev.length) {
      const code = ev[at] as EventCode;
      const fields: readonly string[] = EVENT_FIELDS[code];
      tenths += ev[at + 1]!;
      const values = ev.slice(at + 2, at + 2 + fields.length);
      if (values.length !== fields.length || !values.every(Number.isInteger))
        throw new Error(`malformed: ${ev.slice(at, at + 20)}`);
      const named = Object.fromEntries(fields.map((name, index) => [name, values[index]!]));
      events.push({ code: EventCode[code], timeMs: tenths / 10, ...named } as Named);
      at += 2 + fields.length;
    }
    return events;
  });
}
const allEvents = () => readEvents(received.map(({ beacon }) => beacon));
const eventsOf = (code: keyof typeof EventCode) => allEvents().filter((event) => event.code === code);
const waitForEvent = (code: keyof typeof EventCode, count = 1) =>
  expect.poll(() => eventsOf(code).length, { timeout: STEP_LIMIT_MS }).toBeGreaterThanOrEqual(count);
const pagesOf = (beacons: Beacon[]) =>
  beacons.flatMap((beacon) =>
    readEvents([beacon])
      .filter(({ code }) => code === 'Page')
      .map(({ page, cause }) => [beacon.p![page!]!.replace(urlOf(site), ''), PAGE_CAUSES[cause!]]),
  );
const trusted = EVENT_FLAGS.trusted;
const roleOf = (role: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(role);

const FIELDS = `<input id="name"><textarea id="essay"></textarea><div id="rich" contenteditable style="height:40px"></div>
  <input id="password" type="password"><label><input id="agree" type="checkbox">Yes</label>
  <button id="ok" style="width:100px;height:40px">OK</button><div style="height:4000px"></div>`;

describe('what happens on a page', () => {
  it(
    'arrives with its fields',
    async () => {
      const url = setPage('/courses/42/quiz', FIELDS + tag());
      const page = await openPage({ hasTouch: true });
      await page.goto(`${url}?id=7`);
      await page.mouse.move(10, 10);
      for (let step = 1; step <= 30; step++) await page.mouse.move(10 + step * 4.25, 10 + (step % 7) * 3);
      await page.locator('#name').click();
      await page.keyboard.type('aB1 ,');
      await page.keyboard.press('Shift+ArrowLeft');
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('ControlOrMeta+C');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ControlOrMeta+V');
      await page.keyboard.press('Enter');
      await page.locator('#rich').click();
      await page.keyboard.type('xy');
      await page.keyboard.press('Backspace');
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 });
      await cdp.send('Input.insertText', { text: '你' });
      await page.locator('#password').fill('pass');
      await page.locator('#agree').check();
      await page.locator('#ok').tap();
      await page.evaluate(() => document.querySelector<HTMLElement>('#ok')!.click());
      await page.mouse.wheel(0, 300);
      await waitForEvent('Scroll');
      await page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        Reflect.deleteProperty(document, 'hidden');
      });
      await waitForEvent('Visibility');
      await page.goto('about:blank');
      await waitForEvent('Leave');

      const [first] = received.map(({ beacon }) => beacon);
      expect(first).toMatchObject({
        v: 1,
        k: siteKey,
        s: expect.stringMatching(/^[\da-f]{32}$/),
        i: expect.stringMatching(/^[\da-f]{32}$/),
        d: expect.stringMatching(/^[\da-f]{16}$/),
        n: 0,
        c: [expect.any(Number), expect.any(Number)],
      });
      expect(first).not.toHaveProperty('t');
      expect(received.slice(1).every(({ beacon }) => beacon.t === 'token-1')).toBe(true);
      expect(received.map(({ beacon }) => beacon.n)).toEqual(received.map((_, index) => index));
      expect(
        received.every(({ path, headers }) => path === '/collect' && headers['content-type']?.startsWith('text/plain')),
      ).toBe(true);
      expect(pagesOf([first!])).toEqual([['/courses/42/quiz?id=7', 'load']]);

      const events = allEvents();
      const times = events.map(({ timeMs }) => timeMs);
      expect(Math.min(...times)).toBeGreaterThan(0);
      const summaries = eventsOf('MoveSummary');
      const sumOf = (name: string) => summaries.reduce((sum, event) => sum + event[name]!, 0);
      expect(sumOf('count')).toBeGreaterThanOrEqual(30);
      expect(sumOf('fractional')).toBeGreaterThan(15);
      expect(sumOf('mismatched')).toBe(0);
      expect(eventsOf('Move').length).toBeLessThanOrEqual(sumOf('count'));
      const [press] = eventsOf('Press');
      expect(press).toMatchObject({
        pointer: POINTERS.indexOf('mouse'),
        button: 0,
        role: roleOf('input'),
        pressurePercent: expect.any(Number),
      });
      expect(Math.abs(press!.offsetX10!) + Math.abs(press!.offsetY10!)).toBeLessThan(20);
      expect(press!.flags! & trusted).toBe(trusted);
      expect(eventsOf('Press').map(({ pointer }) => POINTERS[pointer!])).toContain('touch');
      expect(eventsOf('Release')[0]!.held10).toBeGreaterThanOrEqual(0);
      expect(eventsOf('Touch')[0]).toMatchObject({ touches: 1 });
      const clicks = eventsOf('Click');
      expect(clicks[0]).toMatchObject({ detail: 1, role: roleOf('input'), flags: trusted | EVENT_FLAGS.hasPointer });
      expect(clicks.at(-1)).toMatchObject({ role: roleOf('button'), flags: 0 });
      expect(clicks.map(({ role }) => role)).toContain(roleOf('checkbox'));

      const downs = eventsOf('KeyDown');
      const classes = downs.map((event) => KEY_CLASSES[event.class!]);
      expect(classes.slice(0, 5)).toEqual(['letter', 'capital', 'digit', 'space', 'punctuation']);
      for (const name of ['shift', 'arrow', 'modifier', 'tab', 'enter', 'backspace']) expect(classes).toContain(name);
      expect(downs[0]!.flags).toBe(trusted | EVENT_FLAGS.hasCode);
      expect(downs.find((event) => KEY_CLASSES[event.class!] === 'arrow')!.flags! & EVENT_FLAGS.shift).toBe(
        EVENT_FLAGS.shift,
      );
      expect(
        eventsOf('KeyUp')
          .map(({ slot }) => slot)
          .slice(0, 5),
      ).toEqual(downs.slice(0, 5).map(({ slot }) => slot));

      const inputs = eventsOf('Input');
      const kindOf = (event: Named) => INPUT_TYPES[event.type!];
      const typed = inputs.filter(({ field }) => field === 0);
      expect(typed.map(({ insertedLength, valueLength }) => [insertedLength, valueLength])).toEqual(
        [1, 2, 3, 4, 5].map((n) => [1, n]),
      );
      expect(inputs.find((event) => kindOf(event) === 'insertFromPaste')).toMatchObject({
        insertedLength: 5,
        valueLength: 5,
        flags: trusted | EVENT_FLAGS.multiline,
      });
      const kinds = inputs.map(kindOf);
      for (const kind of ['insertText', 'insertLineBreak', 'deleteContent', 'insertComposition'])
        expect(kinds).toContain(kind);
      const clipboard = eventsOf('Clipboard').map(({ kind, length }) => [CLIPBOARD_KINDS[kind!], length]);
      expect(clipboard).toEqual([
        ['copy', -1],
        ['paste', 5],
      ]);
      const focused = eventsOf('Focus').map(({ role }) => ELEMENT_ROLES[role!]);
      for (const role of ['input', 'textarea', 'editable'] as const) expect(focused).toContain(role);
      expect(
        eventsOf('Composition')
          .map(({ phase }) => phase)
          .slice(0, 2),
      ).toEqual([0, 1]);
      expect(eventsOf('Wheel')[0]).toMatchObject({ deltaY: 300, mode: 0, count: 1 });
      expect(eventsOf('Scroll').at(-1)!.y).toBeGreaterThan(200);
      expect(eventsOf('Visibility')[0]).toMatchObject({ state: 1 });
      expect(eventsOf('Leave')[0]).toMatchObject({ persisted: expect.any(Number) });
    },
    LIMIT_MS,
  );

  it(
    'comes with a description of the browser and with marks of automation',
    async () => {
      const url = setPage('/', `<div id="playwright-highlight-container"></div>${tag()}`);
      const page = await openPage({
        locale: 'de-DE',
        timezoneId: 'Europe/Berlin',
        viewport: { width: 900, height: 700 },
      });
      await page.addInitScript(() => Object.assign(window, { cdc_adoQpoasnfa76pfcZLmcfl_Array: [], callPhantom: 1 }));
      await page.goto(url);
      const [first] = await waitForBatches(1);
      const { w, v, b, q, l, z, g } = first!.e!;
      expect({ w, l, z }).toEqual({ w: 1, l: 'de-DE', z: 'Europe/Berlin' });
      expect(v.slice(2, 4)).toEqual([900, 700]);
      expect(v[9]).toBe(1_000);
      expect(b & ENVIRONMENT_BITS.changedWebdriver).toBe(0);
      expect(b & ENVIRONMENT_BITS.framed).toBe(0);
      expect(q[0]).toBeGreaterThan(0);
      expect(g).toEqual(expect.any(String));
      expect(first!.m!.map((mark) => AUTOMATION_MARKS[mark]![1])).toEqual([
        'cdc_*',
        'callPhantom',
        'playwright-highlight-container',
      ]);
      expect(await page.evaluate(() => 'prepareStackTrace' in Error)).toBe(false);
      await page.evaluate(() => document.documentElement.setAttribute('webdriver', 'true'));
      await page.mouse.click(5, 5);
      const [, second] = await waitForBatches(2);
      expect(second!.m!.map((mark) => AUTOMATION_MARKS[mark]![0])).toEqual(['root']);
    },
    LIMIT_MS,
  );

  it(
    'never contains what was typed, pasted or put into an address',
    async () => {
      const secrets = [
        'Zanzibar',
        'quokka77',
        'hunter2hunter2',
        'ada.secret@example.org',
        'tok_9f86d081884c7d65',
        'ButtonWords',
        'ChosenOption',
      ];
      const url = setPage(
        `/reset/${secrets[4]}`,
        `${FIELDS}<button id="words">${secrets[5]}</button><select id="choice"><option>a<option value="${secrets[6]}">${secrets[6]}</select>${tag()}`,
        { 'referrer-policy': 'unsafe-url' },
      );
      const page = await openPage();
      await page.goto(`${url}?token=${secrets[4]}&id=${encodeURIComponent(secrets[3]!)}#${secrets[1]}`);
      await page.locator('#name').click();
      await page.keyboard.type(secrets[0]!);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('ControlOrMeta+X');
      await page.locator('#essay').click();
      await page.keyboard.press('ControlOrMeta+V');
      await page.keyboard.insertText(secrets[1]!);
      await page.locator('#rich').fill(secrets[0]!);
      await page.locator('#password').click();
      await page.keyboard.type(secrets[2]!);
      await page.locator('#words').click();
      await page.locator('#choice').selectOption(secrets[6]!);
      await page.evaluate((secret) => history.pushState({}, '', `/mail/${secret}?q=${secret}`), secrets[3]!);
      await page.mouse.wheel(0, 100);
      await waitForEvent('Scroll');
      await page.goto('about:blank');
      await waitForEvent('Leave');
      const sent = received.map(({ bytes }) => decodeURIComponent(bytes.replaceAll('%', '%25'))).join('\n');
      for (const secret of secrets) {
        expect(sent).not.toContain(secret);
        expect(sent).not.toContain(encodeURIComponent(secret));
        expect(sent.toLowerCase()).not.toContain(secret.toLowerCase());
      }
      const inPassword = eventsOf('KeyDown').slice(-secrets[2]!.length);
      expect(new Set(inPassword.map((event) => KEY_CLASSES[event.class!]))).toEqual(new Set(['other']));
      const hidden = eventsOf('Input').filter(
        (event) => INPUT_TYPES[event.type!] === 'insertText' && !event.insertedLength,
      );
      expect(hidden.map(({ valueLength }) => valueLength)).toEqual(Array.from(secrets[2]!, () => 0));
      expect(
        received.every(({ headers }) => headers.cookie === undefined && headers.referer === `${urlOf(site)}/`),
      ).toBe(true);
    },
    LIMIT_MS,
  );
});

describe('consent and privacy', () => {
  const storedKeys = (page: Page) =>
    page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);

  it(
    'nothing is read, stored or sent before consent, and nothing after it is withdrawn',
    async () => {
      const url = setPage('/', FIELDS + tag('data-consent="wait"'));
      const page = await openPage();
      await page.goto(url);
      await page.locator('#name').fill('x');
      await sleep(SILENCE_MS);
      expect(received).toEqual([]);
      expect(await storedKeys(page)).toEqual([]);
      await page.evaluate(() => window.botPixel!.push(['consent', true]));
      const [first] = await waitForBatches(1);
      expect(readEvents([first!]).map(({ code }) => code)).toEqual(['Page']);
      expect(await storedKeys(page)).toEqual(['botPixel', 'botPixel']);
      await page.evaluate(() => window.botPixel!.push(['consent', false]));
      const count = received.length;
      await page.locator('#name').fill('xyz');
      await sleep(SILENCE_MS);
      await page.goto('about:blank');
      expect(received).toHaveLength(count);
      await page.goto(url);
      expect(await storedKeys(page)).toEqual([]);
      await page.evaluate(() => window.botPixel!.push(['consent', true], ['identify', { id: 'u1' }]));
      const again = (await waitForBatches(count + 1)).at(-1)!;
      expect(again).toMatchObject({ n: 0, u: { id: 'u1' } });
      expect([again.s, again.i]).not.toEqual([first!.s, first!.i]);
    },
    LIMIT_MS,
  );

  it(
    'Global Privacy Control is honoured, unless the page asks to ignore it, which is told',
    async () => {
      const page = await openPage();
      await page.addInitScript(() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }));
      await page.goto(setPage('/', tag()));
      await sleep(SILENCE_MS);
      expect(received).toEqual([]);
      expect(await storedKeys(page)).toEqual([]);
      await page.goto(setPage('/ignoring', tag('data-gpc="ignore"')));
      expect((await waitForBatches(1))[0]).toMatchObject({ g: 1 });
    },
    LIMIT_MS,
  );

  it(
    'no device id is kept if the page wants none, and an old one is removed',
    async () => {
      const page = await openPage();
      await page.goto(setPage('/with', tag()));
      const [first] = await waitForBatches(1);
      expect(await page.evaluate(() => localStorage.getItem('botPixel'))).toBe(first!.i);
      await page.goto(setPage('/without', tag('data-device="off"')));
      await expect.poll(() => received.filter(({ beacon }) => !('i' in beacon)).length).toBe(1);
      expect(await page.evaluate(() => localStorage.getItem('botPixel'))).toBeNull();
    },
    LIMIT_MS,
  );

  it(
    'works in memory where storage is refused',
    async () => {
      const page = await openPage();
      await page.addInitScript(() => {
        for (const name of ['localStorage', 'sessionStorage'])
          Object.defineProperty(window, name, {
            get: () => {
              throw new DOMException('denied', 'SecurityError');
            },
          });
      });
      await page.goto(setPage('/', tag()));
      await page.mouse.click(5, 5);
      const [first, second] = await waitForBatches(1)
        .then(() => page.mouse.click(6, 6))
        .then(() => waitForBatches(2));
      expect(first).not.toHaveProperty('i');
      expect(second).toMatchObject({ s: first!.s, d: first!.d, n: 1, t: 'token-1' });
    },
    LIMIT_MS,
  );
});

describe('pages and sessions', () => {
  it(
    'changes of the address in an application are pages, also without the Navigation API',
    async () => {
      const changeAddress = () => {
        history.pushState({}, '', '/app/two?token=x');
        history.replaceState({}, '', '/app/two?token=y#part');
        history.pushState({}, '', '/app/three');
      };
      const url = setPage('/app/one', tag());
      const page = await openPage();
      await page.goto(url);
      await waitForBatches(1);
      await page.evaluate(changeAddress);
      await page.goBack();
      const path = (beacons: Beacon[]) => pagesOf(beacons).map(([address, cause]) => `${address} ${cause}`);
      await waitForEvent('Page', 4);
      const expected = ['/app/one load', '/app/two history', '/app/three history', '/app/two history'];
      expect(path(received.map(({ beacon }) => beacon))).toEqual(expected);

      received = [];
      const old = await openPage();
      await old.addInitScript(() => Reflect.deleteProperty(window, 'navigation'));
      await old.goto(url);
      await waitForBatches(1);
      await old.evaluate(() => history.pushState({}, '', '/app/four'));
      await old.mouse.click(5, 5);
      await waitForEvent('Press');
      expect(path(received.map(({ beacon }) => beacon))).toEqual(['/app/one load', '/app/four history']);
      const codes = allEvents().map(({ code }) => code);
      expect(codes.lastIndexOf('Page')).toBeLessThan(codes.indexOf('Press'));
    },
    LIMIT_MS,
  );

  it(
    'pages of a tab and frames of one origin share a session, each with its own document',
    async () => {
      setPage('/inner', tag());
      const url = setPage('/outer', `<iframe src="/inner"></iframe>${tag()}`);
      const page = await openPage();
      await page.goto(url);
      const [one, two] = await waitForBatches(2);
      expect(one!.s).toBe(two!.s);
      expect(one!.i).toBe(two!.i);
      expect(one!.d).not.toBe(two!.d);
      const framed = received.map(({ beacon }) => beacon.e!.b & ENVIRONMENT_BITS.framed);
      expect(framed.sort()).toEqual([0, ENVIRONMENT_BITS.framed]);
      received = [];
      await page.goto(setPage('/next', tag()));
      await expect.poll(() => received.some(({ beacon }) => beacon.p?.[0]?.endsWith('/next'))).toBe(true);
      const next = received.map(({ beacon }) => beacon).find(({ p }) => p?.[0]?.endsWith('/next'))!;
      expect(next).toMatchObject({ s: one!.s, n: 0, t: 'token-1' });
      expect([one!.d, two!.d]).not.toContain(next.d);
    },
    LIMIT_MS,
  );

  it(
    'a page with two tags reports once',
    async () => {
      const page = await openPage();
      await page.goto(setPage('/', tag() + tag()));
      await sleep(SILENCE_MS);
      expect(await page.evaluate(() => Array.isArray(window.botPixel))).toBe(false);
      expect(new Set(received.map(({ beacon }) => beacon.d)).size).toBe(1);
      expect(eventsOf('Page')).toHaveLength(1);
    },
    LIMIT_MS,
  );

  it(
    'a restored page and one that was prepared say so',
    async () => {
      const page = await openPage();
      await page.addInitScript(() =>
        Object.defineProperty(document, 'prerendering', { value: true, configurable: true }),
      );
      await page.goto(setPage('/', tag()));
      await sleep(SILENCE_MS);
      expect(received).toEqual([]);
      await page.evaluate(() => {
        Reflect.deleteProperty(document, 'prerendering');
        document.dispatchEvent(new Event('prerenderingchange'));
      });
      const [first] = await waitForBatches(1);
      expect(pagesOf([first!])).toEqual([['/', 'activated']]);
      expect(first!.e!.b & ENVIRONMENT_BITS.prerendered).toBe(ENVIRONMENT_BITS.prerendered);
      await page.evaluate(() => {
        window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
        window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      });
      await waitForEvent('Page', 2);
      expect(eventsOf('Leave')).toMatchObject([{ persisted: 1 }]);
      expect(pagesOf(received.map(({ beacon }) => beacon)).at(-1)).toEqual(['/', 'restored']);
      expect(new Set(received.map(({ beacon }) => beacon.d)).size).toBe(1);
    },
    LIMIT_MS,
  );

  it(
    'commands work before and after the pixel is loaded',
    async () => {
      const queue = `<script>window.botPixel = window.botPixel || [];
      botPixel.push(['identify', { id: 7, name: 'Ada', hash: '${HASH}', context: 'c-1', other: 'x', email: 'e'.repeat(300) }], ['writing', {}], ['constructor', 1], 5);</script>`;
      const page = await openPage();
      await page.goto(setPage('/', `${queue}${tag('data-user-id="from-the-tag"')}`));
      const [first] = await waitForBatches(1);
      expect(first!.u).toEqual({ id: '7', name: 'Ada', hash: HASH, context: 'c-1' });
      await page.evaluate(() => window.botPixel!.push(['end']));
      const [, last] = await waitForBatches(2);
      expect(last).toMatchObject({ s: first!.s, x: 1 });
      await sleep(SILENCE_MS);
      expect(received).toHaveLength(2);
      await page.mouse.click(5, 5);
      const [, , fresh] = await waitForBatches(3);
      expect(fresh).toMatchObject({ n: 0, e: expect.anything() });
      expect(fresh).not.toHaveProperty('u');
      expect(fresh).not.toHaveProperty('t');
      expect(fresh!.s).not.toBe(first!.s);
      expect(readEvents([fresh!])[0]!.code).toBe('Page');

      received = [];
      await page.goto(
        setPage('/tag', tag('data-user-id="u2" data-user-name="Eve" data-context="c-2" data-user-hash="cd"')),
      );
      await expect.poll(() => received.some(({ beacon }) => beacon.u)).toBe(true);
      expect(received.find(({ beacon }) => beacon.u)!.beacon.u).toEqual({
        id: 'u2',
        name: 'Eve',
        context: 'c-2',
      });
    },
    LIMIT_MS,
  );

  it(
    'a page that is hidden for half an hour ends its session, and one that lives gives a sign each minute',
    async () => {
      const page = await openPage();
      await page.clock.install();
      await page.goto(setPage('/', tag()));
      await page.clock.runFor(1_500);
      await waitForBatches(1);
      await page.clock.runFor(61_000);
      await waitForEvent('Alive');
      await page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      });
      await waitForEvent('Visibility');
      await page.clock.fastForward(31 * 60_000);
      await page.clock.runFor(61_000);
      await expect.poll(() => received.at(-1)!.beacon.x).toBe(1);
      const count = received.length;
      await page.clock.runFor(180_000);
      expect(received).toHaveLength(count);
    },
    LIMIT_MS,
  );
});

describe('sending', () => {
  it(
    'tries again after a 503, when the host asks for it, and loses nothing',
    async () => {
      answer = () => (received.length === 1 ? { status: 503, headers: { 'retry-after': '2' } } : TOKEN);
      const page = await openPage();
      await page.goto(setPage('/', tag()));
      await waitForBatches(1);
      for (let click = 0; click < 5; click++) await page.mouse.click(10 + click, 10);
      const [first, second] = await waitForBatches(2);
      expect(received[1]!.atMs - received[0]!.atMs).toBeGreaterThanOrEqual(1_950);
      expect({ ...second, c: 0 }).toEqual({ ...first, c: 0 });
      expect(second!.c[0]).toBeGreaterThan(first!.c[0]);
      await waitForEvent('Press', 5);
      expect(received.map(({ beacon }) => beacon.n)).toEqual([0, 0, 1]);
    },
    LIMIT_MS,
  );

  it(
    'keeps later batches until the first answer has brought a token',
    async () => {
      const page = await openPage();
      let release: (() => void) | undefined;
      await page.route('**/collect', async (route) => {
        const { beacon } = { beacon: route.request().postDataJSON() as Beacon };
        if (beacon.n === 0) await new Promise<void>((resolve) => (release = resolve));
        await route.continue();
      });
      await page.goto(setPage('/', tag()));
      await expect.poll(() => release !== undefined, { timeout: STEP_LIMIT_MS }).toBe(true);
      await page.mouse.click(5, 5);
      await sleep(2_500);
      expect(received).toEqual([]);
      release!();
      const [first, second] = await waitForBatches(2);
      expect([first!.n, second!.n, second!.t]).toEqual([0, 1, 'token-1']);
    },
    LIMIT_MS,
  );

  it(
    'sends the rest when a page is left, also with no-referrer, and by sendBeacon in old browsers',
    async () => {
      const page = await openPage();
      const leave = async (path: string) => {
        received = [];
        await page.goto(setPage(path, FIELDS + tag(), { 'referrer-policy': 'no-referrer' }));
        await waitForBatches(1);
        await page.locator('#name').fill('abc');
        await page.goto('about:blank');
        await waitForEvent('Leave');
        expect(allEvents().map(({ code }) => code)).toEqual(['Page', 'Focus', 'Input', 'Leave']);
        expect(received.every(({ headers }) => headers.origin === urlOf(site))).toBe(true);
      };
      await leave('/new');
      await page.addInitScript(() => {
        Reflect.deleteProperty(Request.prototype, 'keepalive');
        const { sendBeacon } = navigator;
        navigator.sendBeacon = (...args) => {
          sessionStorage.setItem('beacons', 'sent');
          return sendBeacon.apply(navigator, args);
        };
      });
      await leave('/old');
      await page.goto(setPage('/after', ''));
      expect(await page.evaluate(() => sessionStorage.getItem('beacons'))).toBe('sent');
      const short = await openPage();
      received = [];
      await short.goto(setPage('/short', tag()));
      await short.waitForFunction(() => window.botPixel);
      await short.close();
      await waitForEvent('Leave');
      expect(received[0]!.beacon).toMatchObject({ n: 0, e: expect.anything() });
    },
    LIMIT_MS,
  );

  it(
    'begins another session when its own is closed',
    async () => {
      answer = ({ n }) => (n === 1 ? { status: 200, body: { ended: true } } : TOKEN);
      const page = await openPage();
      await page.goto(setPage('/', tag('data-user-id="u1"')));
      const [first] = await waitForBatches(1);
      await page.mouse.click(5, 5);
      await waitForBatches(2);
      answer = () => TOKEN;
      await page.mouse.click(6, 6);
      const [, , fresh] = await waitForBatches(3);
      expect(fresh).toMatchObject({ n: 0, u: { id: 'u1' }, e: expect.anything() });
      expect([fresh!.s, fresh!.d]).not.toEqual([first!.s, first!.d]);
      expect(fresh!.i).toBe(first!.i);
      expect(readEvents([fresh!])[0]!.code).toBe('Page');
      expect(await page.evaluate(() => JSON.parse(sessionStorage.getItem('botPixel')!).nonce)).toBe(fresh!.s);
    },
    LIMIT_MS,
  );

  it(
    'stops on this page after nothing of three batches was kept',
    async () => {
      answer = () => ({ status: 204 });
      const page = await openPage();
      await page.goto(setPage('/', tag()));
      for (let count = 1; count <= 3; count++) {
        await waitForBatches(count);
        await page.mouse.click(5, 5);
      }
      await sleep(2_500);
      expect(received.map(({ beacon }) => beacon.n)).toEqual([0, 0, 0]);
      expect(new Set(received.map(({ beacon }) => beacon.d)).size).toBe(3);
      expect(received.every(({ beacon }) => beacon.e && beacon.p && beacon.t === undefined)).toBe(true);
    },
    LIMIT_MS,
  );

  it(
    'keeps a bounded buffer while the host is away, and counts what it drops',
    async () => {
      let isAway = true;
      answer = () => (isAway ? { status: 503, headers: { 'retry-after': '1' } } : TOKEN);
      const page = await openPage();
      await page.goto(setPage('/', tag()));
      await waitForBatches(1);
      await page.evaluate(() => {
        for (let count = 0; count < 4_000; count++)
          document.body.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      });
      isAway = false;
      await expect.poll(() => received.some(({ beacon }) => beacon.l), { timeout: STEP_LIMIT_MS }).toBe(true);
      const dropped = received.flatMap(({ beacon }) => (beacon.l ? [beacon.l] : []));
      await waitForEvent('Click', 4_000 - dropped[0]![1]);
      expect(dropped).toEqual([[0, 1_501]]);
      expect(eventsOf('Click')).toHaveLength(4_000 - 1_501);
      expect(eventsOf('Click').every(({ flags }) => flags === 0)).toBe(true);
      expect(Math.max(...received.map(({ bytes }) => bytes.length))).toBeLessThan(60_000);
    },
    LIMIT_MS,
  );

  it(
    'goes through a host of the customer',
    async () => {
      const page = await openPage();
      await page.goto(setPage('/', tag(`data-host="${urlOf(host)}/first-party/"`)));
      await waitForBatches(1);
      expect(received[0]!.path).toBe('/first-party/collect');
    },
    LIMIT_MS,
  );
});

describe('the page', () => {
  const watch = async (page: Page) => {
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
  };

  it(
    'does not suffer from a host that is down',
    async () => {
      const page = await openPage();
      const listFaults = await watch(page);
      const gone = createServer();
      await listen(gone);
      const down = urlOf(gone);
      await new Promise((resolve) => gone.close(resolve));
      await page.goto(setPage('/', FIELDS + tag(`data-host="${down}"`)));
      await page.locator('#name').fill('works');
      await page.locator('#ok').click();
      await sleep(3_500);
      expect(await page.locator('#name').inputValue()).toBe('works');
      expect(await listFaults()).toEqual([]);
      await page.goto(setPage('/without', FIELDS + tag('', down).replace(/integrity="[^"]*"/, '')));
      await page.locator('#name').fill('works');
      expect(await page.locator('#name').inputValue()).toBe('works');
    },
    LIMIT_MS,
  );

  it(
    'needs nothing but script-src and connect-src, also with Trusted Types',
    async () => {
      const policy = `default-src 'none'; script-src ${urlOf(host)}; connect-src ${urlOf(host)}; require-trusted-types-for 'script'; trusted-types 'none'`;
      const page = await openPage();
      const listFaults = await watch(page);
      await page.goto(setPage('/', `<input id="name">${tag()}`, { 'content-security-policy': policy }));
      await page.locator('#name').fill('x');
      await waitForEvent('Input');
      expect(await listFaults()).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'keeps its prototypes, and is not harmed by ones that are broken',
    async () => {
      const page = await openPage();
      const listFaults = await watch(page);
      await page.addInitScript(() => {
        Object.assign(window, { fetchBefore: fetch, pushBefore: history.pushState });
        Element.prototype.getBoundingClientRect = () => {
          throw new Error('broken by the page');
        };
      });
      await page.goto(setPage('/', FIELDS + tag()));
      await page.locator('#ok').click();
      await page.keyboard.press('Tab');
      await waitForEvent('KeyDown');
      const isSame = await page.evaluate(() => {
        const before = window as unknown as { fetchBefore: unknown; pushBefore: unknown };
        return before.fetchBefore === fetch && before.pushBefore === history.pushState;
      });
      expect(isSame).toBe(true);
      expect(await listFaults()).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'sees nothing in the console, unless the tag asks for it',
    async () => {
      const page = await openPage();
      const lines: string[] = [];
      page.on('console', (message) => lines.push(message.text()));
      await page.goto(setPage('/', tag('data-debug')));
      await waitForBatches(1);
      await expect.poll(() => lines.some((line) => line.startsWith('[pixel]'))).toBe(true);
    },
    LIMIT_MS,
  );
});

describe('Firefox', () => {
  it.skipIf(!existsSync(firefox.executablePath()))(
    'sends the same',
    async () => {
      const other = await firefox.launch();
      try {
        const page = await openPage({}, other);
        await page.goto(setPage('/', FIELDS + tag()));
        await page.locator('#name').click();
        await page.keyboard.type('ab');
        await waitForEvent('Input', 2);
        expect(eventsOf('Press')).toHaveLength(1);
        expect(eventsOf('KeyDown')).toHaveLength(2);
      } finally {
        await other.close();
      }
    },
    LIMIT_MS,
  );
});
