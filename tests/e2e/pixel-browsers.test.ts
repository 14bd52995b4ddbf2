import { createServer } from 'node:http';
import { chromium, type Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  type Beacon,
  ELEMENT_ROLES,
  ENVIRONMENT_BITS,
  EVENT_FLAGS,
  INPUT_TYPES,
  KEY_CLASSES,
} from '../../contract/beacon';
import { launchOptions } from '../support/browser.mjs';
import { findFirefox, launchFirefox } from '../support/firefox';
import {
  FIELDS,
  listen,
  prepareBrowser,
  preparePixelHost,
  readEvents,
  TOKEN,
  urlOf,
  watchFaults,
} from '../support/pixel-host';

// What the pixel does in every browser: in Chromium and, where it is installed, in a stock Firefox.

const HASH = 'a1'.repeat(32);
const firefox = findFirefox();

const storedKeys = (page: Page) => page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);

/** Playwright keeps its Chromium from restoring pages, unless it is told not to. */
const launchChromium = () =>
  chromium.launch({ ...launchOptions(), ignoreDefaultArgs: ['--disable-back-forward-cache'] });

const BROWSERS = [
  { name: 'Chromium', isMissing: false, launch: launchChromium },
  {
    name: firefox ? 'Firefox' : 'Firefox (skipped: it is not installed)',
    isMissing: !firefox,
    launch: () => launchFirefox(firefox!),
  },
];
describe.each(BROWSERS.map((each) => [each.name, each] as const))('in %s', (name, { isMissing, launch }) => {
  if (isMissing) return it.skip('the rules of this file', () => {});
  const host = preparePixelHost({ keepsPages: true });
  const browser = prepareBrowser(launch);

  it('keys are classes, and presses, inputs, scrolling and the end of a page are told', async () => {
    const page = await host.openPage(browser());
    const listFaults = await watchFaults(page);
    await page.goto(host.setPage('/courses/42/quiz', FIELDS + host.tag()));
    await page.mouse.move(30, 300);
    await page.mouse.move(40, 20, { steps: 5 });
    await page.locator('#name').click();
    await page.keyboard.type('aB1 ,');
    await page.locator('#password').click();
    await page.keyboard.type('xy');
    await page.locator('#agree').click();
    await page.mouse.wheel(0, 300);
    await host.waitForEvent('Scroll');
    expect(await listFaults()).toEqual([]);
    await host.leave(page);

    const keys = host.eventsOf('KeyDown').map((event) => KEY_CLASSES[event.class!]);
    expect(keys.filter((key) => key !== 'shift')).toEqual([...['letter', 'capital', 'digit', 'space', 'punctuation']]);
    expect(host.eventsOf('KeyUp')).toHaveLength(keys.length);
    const inputs = host.eventsOf('Input').map((event) => [INPUT_TYPES[event.type!], event.field, event.valueLength]);
    expect(inputs.slice(0, 5)).toEqual([1, 2, 3, 4, 5].map((length) => ['insertText', 0, length]));
    expect(inputs.filter(([kind]) => kind === 'insertText')).toHaveLength(5);
    expect(host.eventsOf('Focus')[1]).toMatchObject({ field: -1, role: ELEMENT_ROLES.indexOf('input') });
    expect(host.eventsOf('Press').map(({ flags }) => flags! & EVENT_FLAGS.trusted)).toEqual([1, 1, 1]);
    expect(host.eventsOf('Release').every(({ held10 }) => held10! >= 0)).toBe(true);
    expect(host.eventsOf('Click')).toHaveLength(3);
    expect(host.eventsOf('MoveSummary').length).toBeGreaterThan(0);
    expect(host.eventsOf('Scroll').at(-1)!.y).toBeGreaterThan(200);
    expect(host.pagesOf()).toEqual(['/courses/42/quiz load']);
    const { w, v, q } = host.beacons[0]!.e!;
    expect(w).toBe(1);
    expect(v.every((size) => Math.abs(size) < 10_000)).toBe(true);
    expect(v[9]).toBe(1_000);
    // Only Chromium tells whether its inspector is in use.
    expect(q[0] > 0).toBe(name === 'Chromium');
    const types = host.received.map(({ headers }) => headers['content-type']?.split(';')[0]);
    expect(new Set(types)).toEqual(new Set(['text/plain']));
  });

  it('nothing is read, stored or sent before consent, and nothing after it is withdrawn', async () => {
    const url = host.setPage('/', FIELDS + host.tag('data-consent="wait"'));
    const page = await host.openTimedPage(browser());
    await page.goto(url);
    await page.locator('#name').fill('x');
    await host.runClock(page, 50_000);
    expect(host.received).toEqual([]);
    expect(await storedKeys(page)).toEqual([]);
    await page.evaluate(() => window.botPixel!.push(['consent', true]));
    await host.runClock(page);
    const [first] = await host.waitForBatches(1);
    expect(readEvents([first!]).map(({ code }) => code)).toEqual(['Page']);
    expect(await storedKeys(page)).toEqual(['botPixel', 'botPixel']);
    await page.evaluate(() => window.botPixel!.push(['consent', false]));
    const count = host.received.length;
    await page.locator('#name').fill('xyz');
    await host.runClock(page, 90_000);
    await page.goto('about:blank');
    expect(host.received).toHaveLength(count);
    await page.goto(url);
    expect(await storedKeys(page)).toEqual([]);
    await page.evaluate(() => window.botPixel!.push(['consent', true], ['identify', { id: 'u1' }]));
    await host.runClock(page);
    const again = (await host.waitForBatches(count + 1)).at(-1)!;
    expect(again).toMatchObject({ n: 0, u: { id: 'u1' } });
    expect([again.s, again.i]).not.toEqual([first!.s, first!.i]);
  });

  it('no device id is kept if the page wants none, and an old one is removed', async () => {
    const page = await host.openTimedPage(browser());
    await page.goto(host.setPage('/with', host.tag()));
    await host.runClock(page);
    const [first] = await host.waitForBatches(1);
    expect(await page.evaluate(() => localStorage.getItem('botPixel'))).toBe(first!.i);
    await page.goto(host.setPage('/without', host.tag('data-device="off"')));
    await host.runClock(page);
    await expect.poll(() => host.beacons.filter((beacon) => !('i' in beacon)).length).toBe(1);
    expect(await page.evaluate(() => localStorage.getItem('botPixel'))).toBeNull();
  });

  it('changes of the address in an application are pages', async () => {
    const page = await host.openTimedPage(browser());
    await page.goto(host.setPage('/app/one', host.tag()));
    await host.runClock(page);
    await page.evaluate(() => {
      history.pushState({}, '', '/app/two?token=x');
      history.replaceState({}, '', '/app/two?token=y#part');
      history.pushState({}, '', '/app/three');
    });
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener('popstate', resolve, { once: true });
          history.back();
        }),
    );
    await host.runClock(page);
    await host.waitForEvent('Page', 4);
    const changes = ['/app/two history', '/app/three history', '/app/two history'];
    expect(host.pagesOf()).toEqual(['/app/one load', ...changes]);
  });

  it('pages of a tab and frames of one origin share a session, each with its own document', async () => {
    host.setPage('/inner', host.tag());
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/outer', `<iframe src="/inner"></iframe>${host.tag()}`));
    const [one, two] = await host.waitForBatches(2);
    expect([one!.s, one!.i]).toEqual([two!.s, two!.i]);
    expect(one!.d).not.toBe(two!.d);
    const framed = host.beacons.map(({ e }) => e!.b & ENVIRONMENT_BITS.framed);
    expect(framed.sort()).toEqual([0, ENVIRONMENT_BITS.framed]);
    await host.waitForToken(page);
    host.received = [];
    await page.goto(host.setPage('/next', host.tag()));
    const isNext = ({ p }: Beacon) => p?.[0]?.endsWith('/next');
    await expect.poll(() => host.beacons.some(isNext)).toBe(true);
    const next = host.beacons.find(isNext)!;
    expect(next).toMatchObject({ s: one!.s, n: 0, t: 'token-1' });
    expect([one!.d, two!.d]).not.toContain(next.d);
  });

  it('commands work before and after the pixel is loaded', async () => {
    const queue = `<script>window.botPixel = window.botPixel || [];
      botPixel.push(['identify', { id: 7, name: 'Ada', hash: '${HASH}', context: 'c-1', other: 'x', email: 'e'.repeat(300) }], ['writing', {}], ['constructor', 1], 5);</script>`;
    const page = await host.openTimedPage(browser());
    await page.goto(host.setPage('/', `${queue}${host.tag('data-user-id="from-the-tag"')}`));
    await host.runClock(page);
    const [first] = await host.waitForBatches(1);
    expect(first!.u).toEqual({ id: '7', name: 'Ada', hash: HASH, context: 'c-1' });
    await page.evaluate(() => window.botPixel!.push(['end']));
    const [, last] = await host.waitForBatches(2);
    expect(last).toMatchObject({ s: first!.s, x: 1 });
    await host.runClock(page, 90_000);
    expect(host.beacons.slice(2)).toEqual([]);
    await page.mouse.click(5, 5);
    await host.runClock(page);
    const [, , fresh] = await host.waitForBatches(3);
    expect(fresh).toMatchObject({ n: 0, e: expect.anything() });
    expect(fresh).not.toHaveProperty('u');
    expect(fresh).not.toHaveProperty('t');
    expect(fresh!.s).not.toBe(first!.s);
    expect(readEvents([fresh!])[0]!.code).toBe('Page');

    host.received = [];
    await page.goto(host.setPage('/tag', host.tag('data-user-id="u2" data-user-name="Eve" data-context="c-2"')));
    await host.runClock(page);
    await expect.poll(() => host.beacons.find(({ u }) => u)?.u).toEqual({ id: 'u2', name: 'Eve', context: 'c-2' });
  });

  it('the rest is sent when a page is left, also with no-referrer', async () => {
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/', FIELDS + host.tag(), { 'referrer-policy': 'no-referrer' }));
    await host.waitForBatches(1);
    await page.locator('#name').fill('abc');
    await host.leave(page);
    expect(host.events.map(({ code }) => code)).toEqual(['Page', 'Focus', 'Input', 'Leave']);
    expect(host.received.every(({ headers }) => headers.origin === host.siteUrl)).toBe(true);
  });

  it('a page that the browser kept and restores goes on, and what happened since is sent', async () => {
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/kept', host.tag()));
    await host.waitForToken(page);
    await page.goto(host.setPage('/other', ''));
    await host.waitForEvent('Leave');
    expect(host.eventsOf('Leave')).toMatchObject([{ persisted: 1 }]);
    // Playwright waits for a load, which a restored page does not have.
    await page.evaluate(() => history.back()).catch(() => {});
    await host.waitForEvent('Page', 2);
    expect(host.pagesOf([host.beacons[0]!])).toEqual(['/kept load']);
    const restored = host.beacons.find((beacon) => host.pagesOf([beacon]).includes('/kept restored'))!;
    expect(restored.e!.b & ENVIRONMENT_BITS.prerendered).toBe(ENVIRONMENT_BITS.prerendered);
    expect(new Set(host.beacons.map(({ d }) => d)).size).toBe(1);
  });

  it.each([
    ['', [false], [], 1],
    [' and given again', [false, true], ['/refused load'], 2],
  ])('a restored page stays silent if consent was withdrawn%s since', async (_, consents, others, leaves) => {
    // The page leaves by itself: Playwright hears of a return late or never, and would take it for one that interrupts its next navigation.
    const leaveAgain =
      '<script>onpageshow = ({ persisted }) => persisted && setTimeout(() => location.assign("/last"));</script>';
    host.setPage('/last', host.tag());
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/kept', leaveAgain + host.tag()));
    await host.waitForToken(page);
    await page.goto(host.setPage('/refused', host.tag('data-consent="wait"')));
    await host.waitForEvent('Leave');
    await page.waitForFunction(() => window.botPixel);
    await page.evaluate((values) => {
      for (const value of values) window.botPixel!.push(['consent', value]);
    }, consents);
    await page.evaluate(() => history.back()).catch(() => {});
    // A page that is left sends everything at once.
    await expect.poll(() => host.pagesOf()).toContain('/last load');
    expect(host.pagesOf()).toEqual(['/kept load', ...others, '/last load']);
    expect(host.eventsOf('Leave')).toHaveLength(leaves);
  });

  it('a restored page does not name its user in the session that the next person has begun in the tab', async () => {
    let over: string | undefined;
    const bodyOf = ({ s, t }: Beacon) => (s === over ? { ended: true } : t ? {} : TOKEN.body);
    host.answer = (beacon) => ({ status: 200, body: bodyOf(beacon) });
    const press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', code: 'KeyA' }))";
    const pressOnReturn = `<script>onpageshow = ({ persisted }) => persisted && setInterval(() => ${press}, 100);</script>`;
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/first', pressOnReturn + host.tag('data-user-id="u1"')));
    await host.waitForToken(page);
    await page.goto(host.setPage('/sign-in', host.tag('data-user-id="u1"')));
    const ofPage = (path: string) => host.beacons.filter((beacon) => host.pagesOf([beacon]).includes(path));
    await expect.poll(() => ofPage('/sign-in load').length).toBe(1);
    await host.waitForToken(page);
    over = host.beacons[0]!.s;
    await page.evaluate(() => window.botPixel!.push(['end'], ['identify', { id: 'u2' }]));
    await page.mouse.click(5, 5);
    await expect.poll(() => ofPage('/sign-in load').length).toBe(2);
    const next = ofPage('/sign-in load')[1]!.s;
    expect(next).not.toBe(over);
    await page.evaluate(() => history.back()).catch(() => {});
    await expect.poll(() => ofPage('/first load').length).toBe(2);
    const named = host.beacons.filter(({ s, u }) => s === next && u).map(({ u }) => u!.id);
    expect(named).toEqual(['u2']);
  });

  it('the pixel needs nothing but script-src and connect-src, also with Trusted Types', async () => {
    // Firefox asks the site for an icon.
    const policy = `default-src 'none'; img-src ${host.siteUrl}; script-src ${host.hostUrl}; connect-src ${host.hostUrl}; require-trusted-types-for 'script'; trusted-types 'none'`;
    const page = await host.openPage(browser());
    const listFaults = await watchFaults(page);
    await page.goto(host.setPage('/', `<input id="name">${host.tag()}`, { 'content-security-policy': policy }));
    await page.locator('#name').fill('x');
    await host.waitForEvent('Input');
    expect(await listFaults()).toEqual([]);
    expect(await page.evaluate(() => 'trustedTypes' in window)).toBe(true);
  });

  it('posts that hide what the pixel reads change nothing', async () => {
    const names = ['hidden', 'prerendering', 'currentScript', 'querySelector', 'querySelectorAll', 'addEventListener'];
    const hiding = [...names, 'documentElement', '__stagehand'].map((post) => `<img name="${post}" alt="">`).join('');
    const variables = '<a id="ENV"></a><a id="ENV" name="current_user_id" href="x:7"></a><a id="__playwright_"></a>';
    const frames = '<iframe name="botPixel"></iframe><iframe name="domAutomation"></iframe>';
    const page = await host.openPage(browser());
    const listFaults = await watchFaults(page);
    await page.goto(host.setPage('/', hiding + variables + frames + FIELDS + host.tag()));
    await page.locator('#name').fill('x');
    await host.waitForEvent('Input');
    const [first] = host.beacons;
    expect(first).not.toHaveProperty('u');
    expect(first).not.toHaveProperty('m');
    expect(first!.e!.b & ENVIRONMENT_BITS.hidden).toBe(0);
    expect(await listFaults()).toEqual([]);
  });

  it('the page does not suffer from a host that is down', async () => {
    const gone = createServer();
    await listen(gone);
    const down = urlOf(gone);
    await new Promise((resolve) => gone.close(resolve));
    const page = await host.openTimedPage(browser());
    const listFaults = await watchFaults(page);
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(request.url()));
    await page.goto(host.setPage('/', FIELDS + host.tag(`data-host="${down}"`)));
    await page.locator('#name').fill('works');
    await page.locator('#ok').click();
    for (const count of [1, 2, 3]) {
      await host.runClock(page, 8_000);
      await expect.poll(() => failed.length).toBeGreaterThanOrEqual(count);
    }
    expect(await page.locator('#name').inputValue()).toBe('works');
    // Firefox notes failed requests of other origins in its own words.
    expect((await listFaults()).filter((fault) => !/Cross-Origin Request Blocked/.test(fault))).toEqual([]);
    await page.goto(host.setPage('/without', FIELDS + host.tag('', down).replace(/integrity="[^"]*"/, '')));
    await page.locator('#name').fill('works');
    expect(await page.locator('#name').inputValue()).toBe('works');
  });

  it('a buffer that waits for the host is bounded, and so are its batches; what it drops is counted', async () => {
    let isAway = true;
    host.answer = () => (isAway ? { status: 503, headers: { 'retry-after': '1' } } : TOKEN);
    const page = await host.openPage(browser());
    await page.goto(host.setPage('/', host.tag()));
    await host.waitForBatches(1);
    await page.evaluate(() => {
      for (let count = 0; count < 4_000; count++)
        document.body.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });
    isAway = false;
    await expect.poll(() => host.beacons.some(({ l }) => l)).toBe(true);
    const dropped = host.beacons.flatMap(({ l }) => (l ? [l] : []));
    await host.waitForEvent('Click', 4_000 - dropped[0]![1]);
    expect(dropped).toEqual([[0, 1_501]]);
    expect(host.eventsOf('Click')).toHaveLength(4_000 - 1_501);
    expect(host.eventsOf('Click').every(({ flags }) => flags === 0)).toBe(true);
    expect(Math.max(...host.received.map(({ bytes }) => bytes.length))).toBeLessThan(60_000);
  });
});
