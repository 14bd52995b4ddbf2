import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type Beacon, ENVIRONMENT_BITS } from '../../../contract/beacon';
import { bareOptions, HIDDEN_PAGES_OFF, requireChromium } from '../../support/browser.mjs';
import { FIELDS, type PixelHost, readEvents, setHidden, TOKEN, TOKEN_TEXT } from '../../support/pixel-host';

type Command = [name: string, value?: unknown];

export function registerSessionRules(host: PixelHost, browser: () => Browser) {
  /** Hides a page until its session has ended. */
  async function hideForHalfAnHour(page: Page): Promise<void> {
    await setHidden(page, true);
    await host.runClock(page);
    await page.clock.fastForward(31 * 60_000);
    await host.runClock(page, 61_000);
  }
  /** Shows a page again, and waits for the first batch since. */
  async function comeBack(page: Page): Promise<void> {
    const { length } = host.received;
    await setHidden(page, false);
    await page.mouse.click(5, 5);
    await host.runClock(page);
    await host.waitForBatches(length + 1);
  }
  /** Keeps the answer to a page's first batch until what is answered here is called. */
  async function holdFirstAnswer(page: Page): Promise<() => void> {
    let isHeld = false;
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/collect', async (route) => {
      if (isHeld) return route.continue();
      isHeld = true;
      const response = await route.fetch();
      await released;
      return route.fulfill({ response });
    });
    return release;
  }

  describe('a session', () => {
    it('has the pages of an application also without the Navigation API', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => Reflect.deleteProperty(window, 'navigation'));
      await page.goto(host.setPage('/app/one', host.tag()));
      await host.runClock(page);
      await page.evaluate(() => history.pushState({}, '', '/app/four'));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press');
      expect(host.pagesOf()).toEqual(['/app/one load', '/app/four history']);
      const codes = host.events.map(({ code }) => code);
      expect(codes.lastIndexOf('Page')).toBeLessThan(codes.indexOf('Press'));
    });

    it('is kept in memory where storage is refused', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => {
        for (const name of ['localStorage', 'sessionStorage'])
          Object.defineProperty(window, name, {
            get: () => {
              throw new DOMException('denied', 'SecurityError');
            },
          });
      });
      await page.goto(host.setPage('/', host.tag()));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      const [first] = await host.waitForBatches(1);
      await page.mouse.click(6, 6);
      await host.runClock(page);
      const [, second] = await host.waitForBatches(2);
      expect(first).not.toHaveProperty('i');
      expect(second).toMatchObject({ s: first!.s, d: first!.d, n: 1, t: 'token-1' });
    });

    it('is reported once by a page with two tags', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag() + host.tag()));
      await page.waitForLoadState();
      await host.runClock(page, 10_000);
      await host.waitForBatches(1);
      expect(await page.evaluate(() => Array.isArray(window.botPixel))).toBe(false);
      expect(new Set(host.beacons.map(({ d }) => d)).size).toBe(1);
      expect(host.eventsOf('Page')).toHaveLength(1);
    });

    it('ends while its page is hidden for half an hour, and one that lives gives a sign each minute', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag()));
      await host.runClock(page);
      await host.waitForBatches(1);
      await host.runClock(page, 61_000);
      await host.waitForEvent('Alive');
      await hideForHalfAnHour(page);
      expect(host.beacons.at(-1)!.x).toBe(1);
      const count = host.received.length;
      await host.runClock(page, 180_000);
      expect(host.received).toHaveLength(count);
    });

    it('ends after half an hour also if its page was never shown, and so does one that the hidden page begins', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => Object.defineProperty(Document.prototype, 'hidden', { get: () => true }));
      await page.goto(host.setPage('/', host.tag()));
      await host.runClock(page);
      await host.waitForBatches(1);
      const waitForEnd = async () => {
        await page.clock.fastForward(31 * 60_000);
        await host.runClock(page, 61_000);
        return host.beacons.at(-1)!;
      };
      const last = await waitForEnd();
      expect(last.x).toBe(1);
      // As applications do that sign out people who are away.
      await page.evaluate(() => history.pushState({}, '', '/signed-out'));
      await host.runClock(page);
      await host.waitForEvent('Page', 2);
      const next = await waitForEnd();
      expect(next.x).toBe(1);
      expect(next.s).not.toBe(last.s);
      const { length } = host.received;
      await host.runClock(page, 180_000);
      expect(host.received).toHaveLength(length);
    });

    it.each([
      ['the tag', 'data-user-id="u1"', { id: 'u1' }],
      ['a learning platform', '', { id: 'u1', lms: 1 }],
    ])(
      'that begins after half an hour hidden has the user of %s, and none after the command',
      async (_, attributes, user) => {
        const page = await host.openTimedPage(browser());
        const lms = "<script>ENV = { current_user_id: 'u1' };</script>";
        await page.goto(host.setPage('/', host.tag(attributes) + lms));
        await host.runClock(page);
        const [first] = await host.waitForBatches(1);
        expect(first!.u).toEqual(user);
        await hideForHalfAnHour(page);
        expect(host.beacons.at(-1)).toMatchObject({ s: first!.s, x: 1 });
        await comeBack(page);
        const second = host.beacons.at(-1)!;
        expect(second).toMatchObject({ n: 0, u: user });
        expect(second.s).not.toBe(first!.s);

        // Signed out while no session is open.
        await hideForHalfAnHour(page);
        expect(host.beacons.at(-1)).toMatchObject({ s: second.s, x: 1 });
        await page.evaluate(() => window.botPixel!.push(['end']));
        await comeBack(page);
        const third = host.beacons.at(-1)!;
        expect(third.n).toBe(0);
        expect(third.s).not.toBe(second.s);
        expect(third.u).toBeUndefined();
      },
    );

    it.each<[string, Command[], object | undefined]>([
      ['nobody', [], undefined],
      ['whom the page names then', [['identify', { id: 'u3' }]], { id: 'u3' }],
    ])('whose end waits for the first answer keeps its user, and the next one has %s', async (_, commands, user) => {
      const page = await host.openTimedPage(browser());
      const answer = await holdFirstAnswer(page);
      await page.goto(host.setPage('/', FIELDS + host.tag('data-user-id="u1"')));
      await host.runClock(page);
      await host.waitForBatches(1);
      await page.locator('#name').press('a');
      await page.mouse.move(30, 30);
      // The user of the session that ends is still to be told.
      const given: Command[] = [['identify', { id: 'u2' }], ['end'], ...commands];
      await page.evaluate((all) => window.botPixel!.push(...all), given);
      // The next person, who is not the user of that session.
      await page.locator('#essay').pressSequentially('bc');
      await page.mouse.move(60, 60);
      await page.evaluate(() => history.pushState({}, '', '/signed-out'));
      answer();
      const [first, last] = await host.waitForBatches(2);
      expect(first!.u).toEqual({ id: 'u1' });
      expect(last).toMatchObject({ s: first!.s, x: 1, u: { id: 'u2' } });
      const ofLast = readEvents([last!]);
      expect(ofLast.filter(({ code }) => code === 'KeyDown')).toHaveLength(1);
      expect(ofLast.filter(({ code }) => code === 'MoveSummary').map(({ count }) => count)).toEqual([1]);
      expect(host.pagesOf([last!])).toEqual([]);
      await page.mouse.click(5, 5);
      await host.runClock(page);
      const [, , next] = await host.waitForBatches(3);
      expect(next!.s).not.toBe(first!.s);
      expect(next!.u).toEqual(user);
      expect(host.pagesOf([next!])).toEqual(['/signed-out load']);
      expect(readEvents([next!]).map(({ code }) => code)).not.toContain('KeyDown');
    });

    it('whose end waited when consent was withdrawn is over, and so is its user; the next one goes on', async () => {
      const page = await host.openTimedPage(browser());
      const answer = await holdFirstAnswer(page);
      await page.goto(host.setPage('/', host.tag('data-user-id="u1"')));
      await host.runClock(page);
      await host.waitForBatches(1);
      await page.evaluate(() => window.botPixel!.push(['end'], ['consent', false]));
      const answered = page.waitForResponse('**/collect');
      answer();
      await answered;
      await host.runClock(page);
      await page.evaluate(() => window.botPixel!.push(['consent', true]));
      await host.runClock(page);
      const [first, next] = await host.waitForBatches(2);
      expect(next!.s).not.toBe(first!.s);
      expect(next).not.toHaveProperty('u');
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press');
      expect(host.beacons.map(({ s, x }) => [s, x])).toEqual([
        [first!.s, undefined],
        ...host.beacons.slice(1).map(() => [next!.s, undefined]),
      ]);
    });

    it('that its tab has begun meanwhile stays, when the first answer of a frame to the one before comes late', async () => {
      host.setPage('/frame', host.tag());
      const page = await host.openPage(browser());
      let answer!: () => void;
      const released = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/collect', async (route) => {
        const response = await route.fetch();
        const { n, p } = route.request().postDataJSON() as Beacon;
        if (n === 0 && p![0]!.endsWith('/frame')) await released;
        return route.fulfill({ response });
      });
      await page.goto(host.setPage('/', `<iframe src="/frame"></iframe>${host.tag()}`));
      const [one, two] = await host.waitForBatches(2);
      expect([one!.s, one!.t]).toEqual([two!.s, two!.t]);
      await host.waitForToken(page);
      await page.evaluate(() => window.botPixel!.push(['end']));
      await page.mouse.click(5, 300);
      await host.waitForEvent('Press');
      const { s } = host.beacons.at(-1)!;
      expect(s).not.toBe(one!.s);
      await host.waitForToken(page);
      const answered = page.waitForResponse((response) => response.request().frame() !== page.mainFrame());
      answer();
      await (await answered).finished();
      await page.goto(host.setPage('/next', host.tag()));
      await expect.poll(() => host.pagesOf()).toContain('/next load');
      expect(host.beacons.find((beacon) => host.pagesOf([beacon]).includes('/next load'))!.s).toBe(s);
    });

    it('does not see a page that the browser only prepares, until a visitor comes to it', async () => {
      // Playwright stops prepared pages, so this Chromium is not driven: the first page goes on when the next one is ready.
      const rules = { prerender: [{ source: 'list', urls: ['/prepared'], eagerness: 'immediate' }] };
      const tellReady = 'onload = () => { localStorage.ready = document.prerendering; };';
      host.setPage('/prepared', `${host.tag()}<script>${tellReady}</script>`);
      const goOn = `const go = () => (window.botPixel ? location.assign('/prepared') : setTimeout(go, 20));
        onstorage = ({ key, newValue }) => key === 'ready' && fetch('/ready?' + newValue).then(go);`;
      const first = host.setPage(
        '/first',
        `${host.tag()}<script>${goOn}</script><script type="speculationrules">${JSON.stringify(rules)}</script>`,
      );
      const chromium = openUndriven(first);
      try {
        await host.waitForEvent('Page', 2);
      } finally {
        await chromium.close();
      }
      expect(host.requested).toContain('/ready?true');
      expect(host.pagesOf()).toEqual(['/first load', '/prepared activated']);
      const prepared = host.beacons.at(-1)!;
      expect(prepared.e!.b & ENVIRONMENT_BITS.prerendered).toBe(ENVIRONMENT_BITS.prerendered);
      expect(prepared.s).toBe(host.beacons[0]!.s);
    });

    it('is another one after the collector has closed it', async () => {
      host.answer = ({ n }) =>
        n === 1 ? { status: 200, body: { ended: true } } : { status: 200, body: { token: 't' } };
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag('data-user-id="u1"')));
      await host.runClock(page);
      const [first] = await host.waitForBatches(1);
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForBatches(2);
      await page.mouse.click(6, 6);
      await host.runClock(page);
      const [, , fresh] = await host.waitForBatches(3);
      expect(fresh).toMatchObject({ n: 0, u: { id: 'u1' }, e: expect.anything() });
      expect([fresh!.s, fresh!.d]).not.toEqual([first!.s, first!.d]);
      expect(fresh!.i).toBe(first!.i);
      expect(host.pagesOf([fresh!])).toEqual(['/ load']);
      expect(await page.evaluate(() => JSON.parse(sessionStorage.getItem('botPixel')!).nonce)).toBe(fresh!.s);
    });

    it('has what the first page did before it knew that the session of its tab is over', async () => {
      host.answer = ({ t }) =>
        t === TOKEN_TEXT
          ? { status: 200, body: { ended: true } }
          : { status: 200, body: { token: host.beacons.length === 1 ? TOKEN_TEXT : 'new' } };
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/before', host.tag()));
      await host.runClock(page);
      const [before] = await host.waitForBatches(1);
      await host.waitForToken(page);
      await page.goto(host.setPage('/back', host.tag('data-user-id="u1"')));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press', 2);
      const [refused, sent] = host.beacons.slice(-2);
      expect(refused).toMatchObject({ s: before!.s, t: TOKEN_TEXT, n: 0, u: { id: 'u1' } });
      const { s, t: _, c: __, ...content } = refused!;
      expect(sent).toMatchObject(content);
      expect(sent!.s).not.toBe(s);
      expect(sent).not.toHaveProperty('t');
      await page.mouse.click(6, 6);
      await host.runClock(page);
      await host.waitForEvent('Press', 3);
      expect(host.beacons.at(-1)).toMatchObject({ s: sent!.s, d: sent!.d, n: 1, t: 'new' });
      expect(host.pagesOf(host.beacons.slice(-2))).toEqual(['/back load']);
    });

    it('has the first batch also if the session that is over never got a token, as after a page that was left at once', async () => {
      const nonce = 'ab'.repeat(16);
      host.answer = ({ s }) => (s === nonce ? { status: 200, body: { ended: true } } : TOKEN);
      const page = await host.openTimedPage(browser());
      await page.addInitScript((text) => sessionStorage.setItem('botPixel', text), JSON.stringify({ nonce }));
      await page.goto(host.setPage('/back', host.tag('data-user-id="u1"')));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      const [refused, sent] = await host.waitForBatches(2);
      expect(refused).toMatchObject({ s: nonce, n: 0, u: { id: 'u1' } });
      const { s, c: _, ...content } = refused!;
      expect(sent).toMatchObject(content);
      expect(sent!.s).not.toBe(s);
    });

    it('is told who the visitor is also if the page said it while the first batch was sent again', async () => {
      host.answer = ({ t }) => {
        if (t !== TOKEN_TEXT) return { status: 200, body: { token: host.received.length === 1 ? TOKEN_TEXT : 'new' } };
        // The first two are of the page before.
        return host.received.length <= 3 ? { status: 503 } : { status: 200, body: { ended: true } };
      };
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/before', host.tag()));
      await host.runClock(page);
      await host.waitForToken(page);
      await page.goto(host.setPage('/back', host.tag()));
      await host.runClock(page);
      await host.waitForBatches(3);
      await page.evaluate(() => window.botPixel!.push(['identify', { id: 'u1' }]));
      await page.mouse.click(5, 5);
      // A page that is hidden makes a batch of what it has.
      await setHidden(page, true, false);
      await host.runClock(page, 5_000);
      await page.mouse.click(6, 6);
      await host.runClock(page);
      const { length } = host.received;
      await page.mouse.click(7, 7);
      await host.runClock(page);
      await host.waitForBatches(length + 1);
      const ofNew = host.beacons.filter(({ s }) => s === host.beacons.at(-1)!.s);
      expect(ofNew[0]!.s).not.toBe(host.beacons[0]!.s);
      expect(ofNew.filter(({ u }) => u)).toMatchObject([{ u: { id: 'u1' } }]);
    });

    it('begins on a page that has a variable by the name of what the browser offers', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', `<script>navigation = { length: 1 }</script>${host.tag()}`));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press');
    });

    it('is another one after an end that the page queued before the script was there', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/before', host.tag()));
      await host.runClock(page);
      await host.waitForToken(page);
      await page.goto(host.setPage('/signed-out', `<script>botPixel = [['end']]</script>${host.tag()}`));
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press');
      expect(host.beacons.at(-1)!.s).not.toBe(host.beacons[0]!.s);
    });

    it('has all that was done before its end, or nobody has it, if the host was not there', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag('data-user-id="u1"')));
      await host.runClock(page);
      await host.waitForToken(page);
      host.answer = () => ({ status: 503 });
      await page.evaluate(() => {
        for (let n = 0; n < 1_200; n++)
          document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', code: 'KeyA' }));
        window.botPixel!.push(['end'], ['identify', { id: 'u2' }]);
      });
      const { length } = await host.waitForBatches(2);
      host.answer = () => ({ status: 200, body: { token: TOKEN_TEXT } });
      await host.runClock(page, 10_000);
      await host.waitForBatches(length + 1);
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForEvent('Press');
      const ofKeys = host.beacons.filter((beacon) => readEvents([beacon]).some(({ code }) => code === 'KeyDown'));
      expect(new Set(ofKeys.map(({ s }) => s))).toEqual(new Set([host.beacons[0]!.s]));
      expect(host.beacons.at(-1)!.s).not.toBe(host.beacons[0]!.s);
    });

    it('does not begin with Global Privacy Control, unless the page asks to ignore it, which is told', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }));
      await page.goto(host.setPage('/', host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page, 90_000);
      expect(host.received).toEqual([]);
      const stored = () => page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
      expect(await stored()).toEqual([]);
      await page.goto(host.setPage('/ignoring', host.tag('data-gpc="ignore"')));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page);
      expect((await host.waitForBatches(1))[0]).toMatchObject({ g: 1 });
    });
  });
}

/** Opens a page in a Chromium without a window, which no protocol drives. */
function openUndriven(url: string): { close(): Promise<void> } {
  const profile = mkdtempSync(join(tmpdir(), 'undriven-'));
  const args = [...bareOptions([HIDDEN_PAGES_OFF]).args, '--headless=new', `--user-data-dir=${profile}`, url];
  const child: ChildProcess = spawn(requireChromium(), args, { stdio: 'ignore', detached: true });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    async close() {
      // With its helpers, which would go on to write into the profile.
      process.kill(-child.pid!, 'SIGKILL');
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
