import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  AUTOMATION_MARKS,
  CLIPBOARD_KINDS,
  ELEMENT_ROLES,
  ENVIRONMENT_BITS,
  EVENT_FLAGS,
  INPUT_TYPES,
  KEY_CLASSES,
  POINTERS,
} from '../../../contract/beacon';
import { FIELDS, type NamedEvent, type PixelHost, setHidden } from '../../support/pixel-host';

const { trusted } = EVENT_FLAGS;
const roleOf = (role: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(role);

export function registerEventRules(host: PixelHost, browser: () => Browser) {
  describe('what happens on a page', () => {
    it('arrives with its fields', async () => {
      const url = host.setPage('/courses/42/quiz', FIELDS + host.tag());
      const page = await host.openPage(browser(), { hasTouch: true });
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
      await host.waitForEvent('Scroll');
      await setHidden(page, true);
      await page.evaluate(() => Object.defineProperty(Document.prototype, 'hidden', { get: () => false }));
      await host.waitForEvent('Visibility');
      await host.leave(page);

      const [first] = host.beacons;
      expect(first).toMatchObject({
        v: 1,
        k: host.siteKey,
        s: expect.stringMatching(/^[\da-f]{32}$/),
        i: expect.stringMatching(/^[\da-f]{32}$/),
        d: expect.stringMatching(/^[\da-f]{16}$/),
        n: 0,
        c: [expect.any(Number), expect.any(Number)],
      });
      expect(first).not.toHaveProperty('t');
      expect(host.beacons.slice(1).every(({ t }) => t === 'token-1')).toBe(true);
      expect(host.beacons.map(({ n }) => n)).toEqual(host.beacons.map((_, index) => index));
      expect(
        host.received.every(
          ({ path, headers }) => path === '/collect' && headers['content-type']?.startsWith('text/plain'),
        ),
      ).toBe(true);
      expect(host.pagesOf([first!])).toEqual(['/courses/42/quiz?id=7 load']);

      expect(Math.min(...host.events.map(({ timeMs }) => timeMs))).toBeGreaterThan(0);
      const summaries = host.eventsOf('MoveSummary');
      const sumOf = (name: string) => summaries.reduce((sum, event) => sum + event[name]!, 0);
      expect(sumOf('count')).toBeGreaterThanOrEqual(30);
      expect(sumOf('fractional')).toBeGreaterThan(15);
      expect(sumOf('mismatched')).toBe(0);
      expect(host.eventsOf('Move').length).toBeLessThanOrEqual(sumOf('count'));
      const [press] = host.eventsOf('Press');
      expect(press).toMatchObject({
        pointer: POINTERS.indexOf('mouse'),
        button: 0,
        role: roleOf('input'),
        pressurePercent: expect.any(Number),
      });
      expect(Math.abs(press!.offsetX10!) + Math.abs(press!.offsetY10!)).toBeLessThan(20);
      expect(press!.flags! & trusted).toBe(trusted);
      expect(host.eventsOf('Press').map(({ pointer }) => POINTERS[pointer!])).toContain('touch');
      expect(host.eventsOf('Release')[0]!.held10).toBeGreaterThanOrEqual(0);
      expect(host.eventsOf('Touch')[0]).toMatchObject({ touches: 1 });
      const clicks = host.eventsOf('Click');
      expect(clicks[0]).toMatchObject({ detail: 1, role: roleOf('input'), flags: trusted | EVENT_FLAGS.hasPointer });
      expect(clicks.at(-1)).toMatchObject({ role: roleOf('button'), flags: 0 });
      expect(clicks.map(({ role }) => role)).toContain(roleOf('checkbox'));

      const downs = host.eventsOf('KeyDown');
      const classes = downs.map((event) => KEY_CLASSES[event.class!]);
      expect(classes.slice(0, 5)).toEqual(['letter', 'capital', 'digit', 'space', 'punctuation']);
      for (const name of ['shift', 'arrow', 'modifier', 'tab', 'enter', 'backspace']) expect(classes).toContain(name);
      expect(downs[0]!.flags).toBe(trusted | EVENT_FLAGS.hasCode);
      expect(downs.find((event) => KEY_CLASSES[event.class!] === 'arrow')!.flags! & EVENT_FLAGS.shift).toBe(
        EVENT_FLAGS.shift,
      );
      const slots = host.eventsOf('KeyUp').map(({ slot }) => slot);
      expect(slots.slice(0, 5)).toEqual(downs.slice(0, 5).map(({ slot }) => slot));

      const inputs = host.eventsOf('Input');
      const kindOf = (event: NamedEvent) => INPUT_TYPES[event.type!];
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
      expect(host.eventsOf('Clipboard').map(({ kind, length }) => [CLIPBOARD_KINDS[kind!], length])).toEqual([
        ['copy', -1],
        ['paste', 5],
      ]);
      const focused = host.eventsOf('Focus').map(({ role }) => ELEMENT_ROLES[role!]);
      for (const role of ['input', 'textarea', 'editable'] as const) expect(focused).toContain(role);
      const phases = host.eventsOf('Composition').map(({ phase }) => phase);
      expect(phases.slice(0, 2)).toEqual([0, 1]);
      expect(host.eventsOf('Wheel')[0]).toMatchObject({ deltaY: 300, mode: 0, count: 1 });
      expect(host.eventsOf('Scroll').at(-1)!.y).toBeGreaterThan(200);
      expect(host.eventsOf('Visibility')[0]).toMatchObject({ state: 1 });
      expect(host.eventsOf('Leave')[0]).toMatchObject({ persisted: expect.any(Number) });
    });

    it('comes with a description of the browser and with marks of automation, but not with names that pages choose', async () => {
      const url = host.setPage('/', `<div id="playwright-highlight-container"></div>${host.tag()}`);
      const page = await host.openPage(browser(), { viewport: { width: 900, height: 700 } });
      await page.addInitScript(() => {
        Object.assign(window, { cdc_adoQpoasnfa76pfcZLmcfl_Array: [], __playwright__binding__: 1 });
        const ofPages = [
          '__pwXyz',
          'cdc_metrics',
          '_phantom',
          '_Selenium_IDE_Recorder',
          '__driver_id',
          '__nightmare_mode',
        ];
        for (const name of ofPages) Object.assign(window, { [name]: 1 });
      });
      await page.goto(url);
      await page.evaluate(() => document.documentElement.setAttribute('driver', 'ada'));
      const [first] = await host.waitForBatches(1);
      const { w, v, b, q } = first!.e!;
      expect(w).toBe(1);
      expect(v.slice(2, 4)).toEqual([900, 700]);
      expect(v[9]).toBe(1_000);
      const { chromeObject, changedWebdriver, focused } = ENVIRONMENT_BITS;
      expect(b & (chromeObject | changedWebdriver | focused)).toBe(0);
      expect(b & ENVIRONMENT_BITS.framed).toBe(0);
      expect(q[0]).toBeGreaterThan(0);
      // Nothing of languages, time zone, platform and GPU.
      expect(Object.keys(first!.e!)).toEqual(['w', 'v', 'h', 'b', 'q', 'r']);
      expect(first!.m!.map((mark) => AUTOMATION_MARKS[mark]![1])).toEqual([
        'cdc_adoQpoasnfa*',
        '__playwright_*',
        'playwright-highlight-container',
      ]);
      expect(await page.evaluate(() => 'prepareStackTrace' in Error)).toBe(false);
      await page.evaluate(() => document.documentElement.setAttribute('webdriver', 'true'));
      await page.mouse.click(5, 5);
      const [, second] = await host.waitForBatches(2);
      expect(second!.m!.map((mark) => AUTOMATION_MARKS[mark]![0])).toEqual(['root']);
    });

    it('has the mark of an element only where tools put it, because people can write its id into a post', async () => {
      const elements = AUTOMATION_MARKS.filter(([where]) => where === 'body');
      const post = elements.map(([, id]) => `<p id="${id}">Hello</p>`).join('');
      const page = await host.openTimedPage(browser());
      await page.goto(host.setPage('/', `<main><article>${post}</article></main>${host.tag()}`));
      await host.runClock(page);
      const [first] = await host.waitForBatches(1);
      const listNames = (marks: number[] = []) => marks.map((mark) => AUTOMATION_MARKS[mark]![1]);
      const names = elements.map(([, name]) => name as string);
      expect(listNames(first!.m).filter((name) => names.includes(name))).toEqual([]);
      await page.evaluate((all) => {
        for (const [, id] of all) document.body.append(Object.assign(document.createElement('div'), { id }));
      }, elements);
      await page.mouse.click(5, 5);
      await host.runClock(page);
      const [, second] = await host.waitForBatches(2);
      expect(listNames(second!.m)).toEqual(names);
    });

    it('never contains what was typed, pasted or put into an address', async () => {
      const secrets = [
        'Zanzibar',
        'quokka77',
        'hunter2hunter2',
        'ada.secret@example.org',
        'tok_9f86d081884c7d65',
        'ButtonWords',
        'ChosenOption',
      ];
      const url = host.setPage(
        `/reset/${secrets[4]}`,
        `${FIELDS}<button id="words">${secrets[5]}</button><select id="choice"><option>a<option value="${secrets[6]}">${secrets[6]}</select>${host.tag()}`,
        { 'referrer-policy': 'unsafe-url' },
      );
      const page = await host.openPage(browser());
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
      await host.waitForEvent('Scroll');
      await host.leave(page);
      const sent = host.received.map(({ bytes }) => decodeURIComponent(bytes.replaceAll('%', '%25'))).join('\n');
      for (const secret of secrets) {
        expect(sent).not.toContain(secret);
        expect(sent).not.toContain(encodeURIComponent(secret));
        expect(sent.toLowerCase()).not.toContain(secret.toLowerCase());
      }
      expect(
        host.received.every(({ headers }) => headers.cookie === undefined && headers.referer === `${host.siteUrl}/`),
      ).toBe(true);
    });
  });
}
