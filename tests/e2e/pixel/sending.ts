import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Beacon } from '../../../contract/beacon';
import { FIELDS, type PixelHost, readEvents, setHidden, TOKEN } from '../../support/pixel-host';

export function registerSendingRules(host: PixelHost, browser: () => Browser) {
  describe('sending', () => {
    it('tries again after a 503, when the host asks for it, and loses nothing', async () => {
      host.answer = () => (host.received.length === 1 ? { status: 503, headers: { 'retry-after': '2' } } : TOKEN);
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/', host.tag()));
      await host.waitForBatches(1);
      for (let click = 0; click < 5; click++) await page.mouse.click(10 + click, 10);
      const [first, second] = await host.waitForBatches(2);
      expect(host.received[1]!.atMs - host.received[0]!.atMs).toBeGreaterThanOrEqual(1_950);
      expect({ ...second, c: 0 }).toEqual({ ...first, c: 0 });
      expect(second!.c[0]).toBeGreaterThan(first!.c[0]);
      await host.waitForEvent('Press', 5);
      expect(host.beacons.map(({ n }) => n)).toEqual([0, 0, 1]);
    });

    it.each([null, {}])(
      'tries again after the answer %j to its first batch, which somebody else gave',
      async (body) => {
        host.answer = () => (host.received.length === 1 ? { status: 200, body } : TOKEN);
        const page = await host.openTimedPage(browser());
        await page.goto(host.setPage('/', host.tag()));
        await host.runClock(page);
        await host.waitForBatches(1);
        await host.runClock(page, 20_000);
        await host.waitForBatches(2);
        expect(host.beacons.map(({ n }) => n)).toEqual([0, 0]);
      },
    );

    it('waits as long as the host asks for also when the page is hidden, but not when it is left', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag()));
      await host.runClock(page);
      await host.waitForToken(page);
      host.answer = () => ({ status: 503, headers: { 'retry-after': '60' } });
      await page.mouse.click(5, 5);
      await host.runClock(page);
      await host.waitForBatches(2);
      await page.mouse.click(5, 6);
      await setHidden(page, true);
      await host.runClock(page, 20_000);
      expect(host.beacons.map(({ n }) => n)).toEqual([0, 1]);
      host.answer = () => TOKEN;
      await host.leave(page);
      await host.waitForEvent('Press', 3);
      expect(host.beacons.map(({ n }) => n).sort()).toEqual([0, 1, 1, 2, 3]);
    });

    it('keeps later batches until the first answer has brought a token', async () => {
      const page = await host.openTimedPage(browser());
      let release: (() => void) | undefined;
      await page.route('**/collect', async (route) => {
        const { n } = route.request().postDataJSON() as Beacon;
        if (n === 0) await new Promise<void>((resolve) => (release = resolve));
        await route.continue();
      });
      await page.goto(host.setPage('/', host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page);
      await expect.poll(() => release !== undefined).toBe(true);
      await page.mouse.click(5, 5);
      await host.runClock(page, 20_000);
      expect(host.received).toEqual([]);
      release!();
      const [first, second] = await host.waitForBatches(2);
      expect([first!.n, second!.n, second!.t]).toEqual([0, 1, 'token-1']);
    });

    it('goes on with a page that was hidden at once, also in a browser that lets no request outlive its page', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => Reflect.deleteProperty(Request.prototype, 'keepalive'));
      await page.goto(host.setPage('/old', FIELDS + host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await setHidden(page, true, false);
      await host.waitForToken(page);
      await page.locator('#name').fill('abc');
      await host.runClock(page, 9_000);
      await host.waitForEvent('Input');
      expect(host.beacons.map(({ n }) => n)).toEqual([0, 1]);
    });

    it('sends what a page has that is closed at once', async () => {
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/short', host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await page.close();
      await host.waitForEvent('Leave');
      expect(host.beacons[0]).toMatchObject({ n: 0, e: expect.anything() });
    });

    it('lets ten batches wait at most, however often a page is hidden meanwhile', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag()));
      await host.runClock(page);
      await host.waitForToken(page);
      host.answer = () => ({ status: 503 });
      for (let count = 0; count < 15; count++) {
        await page.mouse.click(5, 5 + count);
        await setHidden(page, true, false);
      }
      host.answer = () => ({ status: 200, body: {} });
      await host.runClock(page, 400_000);
      await host.waitForEvent('Press', 15);
      // Each of the ten has a press, and what happened after them is in the next one.
      const countPresses = (beacon: Beacon) => readEvents([beacon]).filter(({ code }) => code === 'Press').length;
      const last = new Map(host.beacons.map((beacon) => [beacon.n, countPresses(beacon)]));
      expect([...last].filter(([, presses]) => presses > 0)).toEqual([
        ...Array.from({ length: 10 }, (_, index) => [index + 1, 1]),
        [11, 5],
      ]);
    });

    it('stops on this page after nothing of three batches was kept', async () => {
      host.answer = () => ({ status: 204 });
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag()));
      await page.waitForFunction(() => window.botPixel);
      for (let count = 1; count <= 3; count++) {
        await host.runClock(page);
        await host.waitForBatches(count);
        await page.mouse.click(5, 5);
      }
      await host.runClock(page, 90_000);
      expect(host.beacons.map(({ n }) => n)).toEqual([0, 0, 0]);
      expect(new Set(host.beacons.map(({ d }) => d)).size).toBe(3);
      expect(host.beacons.every(({ e, p, t }) => e && p && t === undefined)).toBe(true);
    });

    it('goes through a host of the customer', async () => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', host.tag(`data-host="${host.hostUrl}/first-party/"`)));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page);
      await host.waitForBatches(1);
      expect(host.received[0]!.path).toBe('/first-party/collect');
    });
  });
}
