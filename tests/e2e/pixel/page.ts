import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_BITS } from '../../../contract/beacon';
import { readBeacon } from '../../../server/detection/batch';
import { FIELDS, type PixelHost, watchFaults } from '../../support/pixel-host';

// Pages that do odd things, by mistake or on purpose. Nothing of the pixel may throw into them, and the collector must
// take every batch: the host's `afterEach` reads them all as the collector does.

export function registerPageRules(host: PixelHost, browser: () => Browser) {
  describe('a page', () => {
    it('keeps its prototypes, and ones that are broken do no harm', async () => {
      const page = await host.openPage(browser());
      const listFaults = await watchFaults(page);
      await page.addInitScript(() => {
        Object.assign(window, { fetchBefore: fetch, pushBefore: history.pushState });
        Element.prototype.getBoundingClientRect = () => {
          throw new Error('broken by the page');
        };
      });
      await page.goto(host.setPage('/', FIELDS + host.tag()));
      await page.locator('#ok').click();
      await page.keyboard.press('Tab');
      await host.waitForEvent('KeyDown');
      const isSame = await page.evaluate(() => {
        const before = window as unknown as { fetchBefore: unknown; pushBefore: unknown };
        return before.fetchBefore === fetch && before.pushBefore === history.pushState;
      });
      expect(isSame).toBe(true);
      expect(await listFaults()).toEqual([]);
    });

    // Elements that people can write into posts, which learning platforms keep.
    const HIDING = ['hidden', 'prerendering', 'currentScript', 'querySelector', 'addEventListener', 'documentElement'];
    it.each([
      ...HIDING.map((name) => `<img name="${name}" alt="">`),
      '<iframe name="currentScript"></iframe>',
      '<a id="botPixel"></a>',
      '<iframe name="botPixel"></iframe>',
      '<form id="botPixel"><input name="map"></form>',
      '<a id="__stagehand"></a><iframe name="__playwright_"></iframe>',
      // Not by a visitor, but by the page itself.
      '<script>class Document {}</script>',
      '<script>class Element {}</script>',
    ])('can have %s, and its visitors are seen as without', async (post) => {
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', post + FIELDS + host.tag()));
      await page.waitForFunction(() => typeof window.botPixel?.push === 'function');
      await page.mouse.click(5, 300);
      await page.locator('#essay').press('a');
      await page.locator('#password').press('b');
      await host.runClock(page);
      await host.waitForEvent('Press');
      expect(host.beacons[0]!.e!.b & ENVIRONMENT_BITS.hidden).toBe(0);
      expect(host.beacons[0]).not.toHaveProperty('m');
      expect(host.eventsOf('Input')).toMatchObject([{ valueLength: 1 }]);
      expect(host.eventsOf('KeyDown')).toHaveLength(1);
      expect(host.pagesOf()).toEqual(['/ load']);
    });

    it('tells how far it was scrolled also if a post hides where documents say so', async () => {
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/', `<img name="scrollTop" alt="">${FIELDS}${host.tag()}`));
      await host.waitForToken(page);
      await page.evaluate(() => scrollTo(0, 300));
      await host.waitForEvent('Scroll');
      expect(host.eventsOf('Scroll').at(-1)!.y).toBe(300);
    });

    it('sees nothing in the console, unless the tag asks for it', async () => {
      const page = await host.openTimedPage(browser());
      const lines: string[] = [];
      page.on('console', (message) => lines.push(message.text()));
      await page.goto(host.setPage('/', host.tag('data-debug')));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page);
      await host.waitForBatches(1);
      await expect.poll(() => lines.some((line) => line.startsWith('[pixel]'))).toBe(true);
    });

    it('can make events with any values', async () => {
      const page = await host.openTimedPage(browser());
      const listFaults = await watchFaults(page);
      await page.goto(host.setPage('/', FIELDS + host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await page.evaluate(() => {
        const field = document.querySelector('textarea')!;
        const fire = (event: Event, own: Record<string, unknown> = {}) => {
          for (const [name, value] of Object.entries(own)) Object.defineProperty(event, name, { value });
          field.dispatchEvent(event);
        };
        const options = { bubbles: true, composed: true };
        const names = ['pointerdown', 'pointerup', 'pointermove', 'click', 'touchstart', 'wheel', 'scroll', 'keydown'];
        names.push('keyup', 'compositionstart', 'compositionend', 'input', 'focusin', 'paste', 'copy', 'cut', 'drop');
        for (const name of names) {
          fire(new Event(name, options));
          fire(new CustomEvent(name, { ...options, detail: { deep: [1n] } }));
          for (const timeStamp of [Number.NaN, -1e9, 1e15, Infinity, 'soon', null])
            fire(new Event(name, options), { timeStamp });
          for (const value of [
            Number.NaN,
            -5,
            1e300,
            Infinity,
            'x',
            null,
            {},
            [],
            Symbol('x'),
            1n,
            '\ud800'.repeat(600),
          ]) {
            const own = [
              'clientX',
              'screenY',
              'button',
              'pressure',
              'detail',
              'deltaY',
              'deltaMode',
              'key',
              'code',
              'data',
            ];
            own.push(
              'inputType',
              'touches',
              'pointerId',
              'pointerType',
              'clipboardData',
              'dataTransfer',
              'isComposing',
            );
            fire(new Event(name, options), Object.fromEntries(own.map((each) => [each, value])));
            for (const each of own) fire(new Event(name, options), { [each]: value });
          }
        }
        fire(new PointerEvent('pointerdown', { ...options, button: 3_000, pressure: 7, clientX: 1e12, width: -3 }));
        fire(new PointerEvent('pointerdown', { ...options, button: -9, pressure: -2, clientX: -1e12 }));
        fire(new UIEvent('click', { ...options, detail: -7 }));
        fire(new WheelEvent('wheel', { ...options, deltaMode: 77, deltaY: -1e300 }));
        fire(new InputEvent('input', { ...options, inputType: '__proto__', data: '\0'.repeat(9_000) }));
        const hostile = new Event('pointerdown', options);
        Object.defineProperty(hostile, 'clientX', {
          get: () => {
            throw new Error('a getter of the page');
          },
        });
        fire(hostile);
      });
      await page.mouse.click(9, 9);
      await host.runClock(page, 20_000);
      await expect.poll(() => host.eventsOf('Click').some(({ flags }) => flags! & 1)).toBe(true);
      expect(host.eventsOf('Press').length).toBeGreaterThan(20);
      const times = host.events.map(({ timeMs }) => timeMs);
      expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...times)).toBeLessThan(60_000);
      expect(await listFaults()).toEqual([]);
    });

    it('can say anything of its visitor', async () => {
      const odd = `data-user-id="ada&#1;" data-user-name="${'n'.repeat(300)}" data-user-url="javascript:alert(1)" data-user-hash="zz"`;
      const page = await host.openTimedPage(browser());
      const listFaults = await watchFaults(page);
      await page.goto(host.setPage('/', FIELDS + host.tag(odd)));
      await page.waitForFunction(() => window.botPixel);
      await page.evaluate(() => {
        const { botPixel } = window;
        const thrower = {
          get id() {
            throw new Error('a getter of the page');
          },
        };
        botPixel!.push(['identify', thrower], ['identify', null], ['identify', { id: Symbol('x') }], null as never);
        botPixel!.push(['identify', { id: 'ada', url: 'not an address', email: '\u0000', name: '\ud800', hash: 'x' }]);
      });
      await host.runClock(page);
      expect((await host.waitForBatches(1))[0]!.u).toMatchObject({ id: 'ada' });
      expect(await listFaults()).toEqual([]);
    });

    it('can have old libraries that change the language, and replace its clock and its JSON', async () => {
      const page = await host.openPage(browser());
      const listFaults = await watchFaults(page);
      await page.addInitScript(() => {
        // As Prototype.js 1.6 and MooTools do.
        const arrays = Array.prototype as unknown as Record<string, unknown>;
        arrays.toJSON = function (this: unknown[]) {
          return `[${this.join(', ')}]`;
        };
        arrays.reduce = function (this: unknown[]) {
          return this.length > 1 ? this : this[0];
        };
        Array.from = ((items: ArrayLike<unknown>) => Array.prototype.slice.call(items)) as never;
      });
      await page.goto(host.setPage('/', FIELDS + host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await page.evaluate(() => {
        const broken = () => {
          throw new Error('replaced by the page');
        };
        // The globals alone: the driver has kept its own.
        Object.assign(window, { Date: broken, performance: 0.5, screen: 'home', outerWidth: '100px', screenX: {} });
        JSON.stringify = () => 'nonsense';
        Object.freeze(Array.prototype);
        Object.freeze(Error);
      });
      await page.mouse.click(9, 9);
      await host.waitForEvent('Press');
      await host.leave(page);
      expect(host.beacons[0]!.e!.v).toHaveLength(10);
      expect(host.beacons[0]!.s).toMatch(/^[\da-f]{32}$/);
      expect((await listFaults()).filter((fault) => !/replaced by the page/.test(fault))).toEqual([]);
    });

    it.each<[string, string, boolean]>([
      ['a date, as libraries do', 'const Real = Date; Date.now = () => new Real();', true],
      ['a number that JSON lacks', 'Date.now = () => 10n;', false],
      ['no time', 'Date.now = () => 1e300;', false],
    ])('can replace its clock by one that answers %s', async (_, script, isTime) => {
      const page = await host.openPage(browser());
      const listFaults = await watchFaults(page);
      await page.addInitScript(script);
      await page.goto(host.setPage('/', FIELDS + host.tag()));
      await host.waitForBatches(1);
      const { c, ...rest } = host.beacons[0]!;
      expect(readBeacon({ c, ...rest })!.c[1] > 0).toBe(isTime);
      expect(await listFaults()).toEqual([]);
    });

    it('can set its pixel ratio, and its visitors stand between no pixels of the screen', async () => {
      const page = await host.openPage(browser(), { deviceScaleFactor: 1.25 });
      await page.goto(host.setPage('/plain', host.tag()));
      const [plain] = await host.waitForBatches(1);
      expect(plain!.e!.v[9]).toBe(1_250);
      await page.goto(host.setPage('/', `<script>devicePixelRatio = 1;</script>${host.tag()}`));
      const findOther = () => host.beacons.find(({ d, e }) => e && d !== plain!.d);
      await expect.poll(findOther).toBeDefined();
      expect(findOther()!.e!.v[9]).toBe(-1);
      expect(await page.evaluate(() => devicePixelRatio)).toBe(1);
    });

    it('can replace the console and errors, as monitoring tools do, without looking like a driven browser', async () => {
      const page = await host.openTimedPage(browser());
      await page.addInitScript(() => {
        const methods = console as unknown as Record<string, (...what: unknown[]) => void>;
        for (const name of Object.keys(console)) {
          const original = methods[name]!;
          const wrapped = (...what: unknown[]) => {
            for (const error of what)
              if (error instanceof Error) Object.assign(window, { seen: [error.stack, error.name] });
            original.apply(console, what);
          };
          methods[name] = name === 'groupEnd' ? wrapped.bind(null) : wrapped;
        }
        const Plain = Error;
        // As tools do that follow calls across promises.
        window.Error = class extends Plain {
          readonly text = `${this.stack} ${this.name}`;
        } as never;
      });
      await page.goto(host.setPage('/', host.tag()));
      await page.waitForFunction(() => window.botPixel);
      await host.runClock(page);
      expect((await host.waitForBatches(1))[0]!.e!.q).toEqual([-1, -1]);
      expect(await page.evaluate(() => 'seen' in window)).toBe(false);
    });
  });
}
