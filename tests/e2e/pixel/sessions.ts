import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_BITS } from '../../../contract/beacon';
import { bareOptions, HIDDEN_PAGES_OFF, requireChromium } from '../../support/browser.mjs';
import { LIMIT_MS, type PixelHost } from '../../support/pixel-host';

export function registerSessionRules(host: PixelHost, browser: () => Browser) {
  describe('a session', () => {
    it(
      'has the pages of an application also without the Navigation API',
      async () => {
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
      },
      LIMIT_MS,
    );

    it(
      'is kept in memory where storage is refused',
      async () => {
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
      },
      LIMIT_MS,
    );

    it(
      'is reported once by a page with two tags',
      async () => {
        const page = await host.openTimedPage(browser());
        await page.goto(host.setPage('/', host.tag() + host.tag()));
        await page.waitForLoadState();
        await host.runClock(page, 10_000);
        await host.waitForBatches(1);
        expect(await page.evaluate(() => Array.isArray(window.botPixel))).toBe(false);
        expect(new Set(host.beacons.map(({ d }) => d)).size).toBe(1);
        expect(host.eventsOf('Page')).toHaveLength(1);
      },
      LIMIT_MS,
    );

    it(
      'ends while its page is hidden for half an hour, and one that lives gives a sign each minute',
      async () => {
        const page = await host.openTimedPage(browser());
        await page.goto(host.setPage('/', host.tag()));
        await host.runClock(page);
        await host.waitForBatches(1);
        await host.runClock(page, 61_000);
        await host.waitForEvent('Alive');
        await page.evaluate(() => {
          Object.defineProperty(document, 'hidden', { value: true, configurable: true });
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        });
        await host.waitForEvent('Visibility');
        await host.runClock(page);
        await page.clock.fastForward(31 * 60_000);
        await host.runClock(page, 61_000);
        await expect.poll(() => host.beacons.at(-1)!.x).toBe(1);
        const count = host.received.length;
        await host.runClock(page, 180_000);
        expect(host.received).toHaveLength(count);
      },
      LIMIT_MS,
    );

    it(
      'does not see a page that the browser only prepares, until a visitor comes to it',
      async () => {
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
      },
      LIMIT_MS,
    );

    it(
      'is another one after the collector has closed it',
      async () => {
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
      },
      LIMIT_MS,
    );

    it(
      'does not begin with Global Privacy Control, unless the page asks to ignore it, which is told',
      async () => {
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
      },
      LIMIT_MS,
    );
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
