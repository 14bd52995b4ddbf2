import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CLIPBOARD_KINDS, ELEMENT_ROLES, EVENT_FLAGS, KEY_CLASSES } from '../../../contract/beacon';
import type { NamedEvent, PixelHost } from '../../support/pixel-host';

const SHOWN = `<button id="show" onclick="for (const root of [document, this.getRootNode()])
  for (const field of root.querySelectorAll('[type=password]')) field.type = 'text'">Show</button>`;
const putInto = (mode: 'open' | 'closed', html: string) =>
  `<script>document.currentScript.previousElementSibling.attachShadow({ mode: '${mode}' }).innerHTML = \`${html}\`</script>`;

const FIELDS: [what: string, html: string][] = [
  ['for a password', '<input type="password">'],
  ['that scrolls, because the password is longer,', '<input type="password" style="width: 20px">'],
  ['that was one for a password until the first key', `<input type="password" oninput="this.type = 'text'">`],
  ['that shows a password before it is entered', `<input type="password">${SHOWN}`],
  [
    'that takes the place of one for a password and shows it',
    `<p id="place"><input type="password"></p>
     <button id="show" onclick="place.innerHTML = '<input name=userPassword>'">Show</button>`,
  ],
  [
    'that shows a password next to a post that hides what finds fields',
    `<img name="querySelectorAll" alt=""><input type="password">${SHOWN.replace('[document, this.getRootNode()]', '[document.body]')}`,
  ],
  ['that a page calls one for a password', '<input type="text" autocomplete="section-a current-password">'],
  ['for a new password', '<input type="text" autocomplete="new-password">'],
  ['for a one-time code', '<input inputmode="numeric" autocomplete="one-time-code">'],
  ['for a password in an open shadow tree', `<div></div>${putInto('open', '<input type="password">')}`],
  [
    'that an icon shows, which is in a shadow tree',
    `<input type="password"><div id="show" onclick="document.querySelector('[type=password]').type = 'text'"></div>
     ${putInto('open', '<svg style="width: 100%; height: 20px"></svg>')}`,
  ],
  ['that shows a password in an open shadow tree', `<div></div>${putInto('open', `<input type="password">${SHOWN}`)}`],
];

const roleOf = (name: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(name);
const isOfPassword = ({ code, field, role }: NamedEvent) =>
  code === 'Focus' && field === -1 && role === roleOf('input');

export function registerPasswordRules(host: PixelHost, browser: () => Browser) {
  const listClasses = () => host.eventsOf('KeyDown').map((event) => KEY_CLASSES[event.class!]);

  describe('a field', () => {
    it.each(FIELDS)('%s tells that it has the focus, and nothing of what happens in it', async (_what, html) => {
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/', `<input id="name">${html}<textarea id="next"></textarea>${host.tag()}`));
      await host.waitForToken(page);
      const show = page.locator('#show');
      if (await show.count()) await show.click();
      await page.locator('#name').click();
      await page.keyboard.type('ab');
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('ControlOrMeta+c');
      await page.keyboard.press('Tab');
      await page.keyboard.type('aB1 ,x');
      await page.keyboard.press('Backspace');
      await page.keyboard.press('ControlOrMeta+v');
      await page.evaluate(() => {
        let field = document.activeElement!;
        field = field.shadowRoot?.activeElement ?? field;
        for (const name of ['compositionstart', 'compositionend'])
          field.dispatchEvent(new CompositionEvent(name, { data: 'ni', bubbles: true, composed: true }));
      });
      while (await page.evaluate(() => document.activeElement!.id !== 'next')) await page.keyboard.press('Tab');
      await page.keyboard.type('z');
      await host.leave(page);

      const typed = ['letter', 'letter', 'modifier', 'letter', 'modifier', 'letter', 'tab'];
      // A button that shows the password stands between the two fields.
      const left = html.includes('<button');
      expect(listClasses()).toEqual([...typed, ...(left ? ['tab'] : []), 'letter']);
      const [downs, ups] = [host.eventsOf('KeyDown'), host.eventsOf('KeyUp')];
      expect(ups.map(({ slot }) => slot).sort()).toEqual(downs.map(({ slot }) => slot).sort());
      expect(host.eventsOf('Input').map(({ field, valueLength }) => [field, valueLength])).toEqual([
        [0, 1],
        [0, 2],
        [1, 1],
      ]);
      expect(host.eventsOf('Clipboard').map(({ kind }) => CLIPBOARD_KINDS[kind!])).toEqual(['copy']);
      expect(host.eventsOf('Composition')).toEqual([]);
      // Until the focus was elsewhere nothing happened but the release of the key that led into the field.
      const told = host.events.slice(host.events.findIndex(isOfPassword) + 1);
      const end = told.findIndex(({ code }) => code === 'Focus' || code === 'KeyDown');
      expect(told.slice(0, end).map(({ code }) => code)).toEqual(['KeyUp']);
    });

    it('for a password next to another one in a shadow tree tells that it has the focus with its first key, and no more of that key', async () => {
      const tree = putInto('open', '<input id="name"><input id="password" type="password">');
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/', `<div></div>${tree}${host.tag()}`));
      await host.waitForToken(page);
      await page.locator('#name').click();
      for (const text of ['ab', 'Xy7']) {
        await page.locator('#name').focus();
        await page.keyboard.type(text);
        await page.keyboard.press('Tab');
        await page.keyboard.type('Secret');
      }
      await host.leave(page);
      const told = host.events.filter(({ code }) => code === 'Focus' || code === 'KeyDown');
      const words = told.map((event) => (event.code === 'Focus' ? event.field : KEY_CLASSES[event.class!]));
      expect(words).toEqual([0, 'letter', 'letter', 'tab', -1, 'capital', 'letter', 'digit', 'tab', -1]);
      const entries = told.filter(isOfPassword);
      expect(entries.map(({ flags }) => flags)).toEqual([EVENT_FLAGS.trusted, EVENT_FLAGS.trusted]);
    });

    it.each([
      ['an element of the page', '<section></section>'],
      ['a custom element', '<my-password></my-password>'],
    ])(
      'in a closed shadow tree of %s tells the first key without what it is, and then nothing',
      async (_what, html) => {
        const field = putInto('closed', '<input type="password" style="width:100%">');
        const page = await host.openPage(browser());
        await page.goto(host.setPage('/', `<div id="around">${html}${field}</div><input id="next">${host.tag()}`));
        await host.waitForToken(page);
        await page.locator('#around').click();
        await page.keyboard.type('aB1 ,x');
        await page.keyboard.press('Backspace');
        await page.keyboard.press('Tab');
        await page.keyboard.type('z');
        await host.leave(page);
        expect(listClasses()).toEqual(['other', 'letter']);
        expect(host.eventsOf('KeyUp')).toHaveLength(2);
        expect(host.eventsOf('Input').map(({ field, valueLength }) => [field, valueLength])).toEqual([[0, 1]]);
        const focuses = host.eventsOf('Focus').map(({ field, role }) => [field, ELEMENT_ROLES[role!]]);
        expect(focuses).toEqual([
          [-1, 'other'],
          [-1, 'input'],
          [0, 'input'],
        ]);
      },
    );

    it('is looked for once while a script of the page presses a thousand boxes', async () => {
      const page = await host.openPage(browser());
      const boxes = '<input type="checkbox">'.repeat(1_000);
      await page.goto(host.setPage('/', `<input type="password">${boxes}${host.tag()}`));
      await page.waitForFunction(() => window.botPixel);
      const searches = await page.evaluate(() => {
        let count = 0;
        performance.now = () => 60_000;
        const { querySelectorAll } = document;
        document.querySelectorAll = (selector: string) => {
          if (selector.includes('password')) count++;
          return querySelectorAll.call(document, selector);
        };
        for (const box of document.querySelectorAll<HTMLElement>('[type=checkbox]')) box.click();
        return count;
      });
      expect(searches).toBe(1);
    });

    it('is not what a script makes events of: its keys are told', async () => {
      const slider = `<my-slider tabindex="0" onkeydown="this.dispatchEvent(new Event('input', { bubbles: true }))">5</my-slider>`;
      const page = await host.openPage(browser());
      await page.goto(host.setPage('/', `${slider}<input id="password" type="password">${host.tag()}`));
      await host.waitForToken(page);
      await page.locator('my-slider').focus();
      for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowRight');
      // A password manager presses keys where the focus is not.
      await page.locator('#password').evaluate((field) => {
        field.dispatchEvent(new KeyboardEvent('keydown', { key: 'x', bubbles: true, composed: true }));
      });
      await host.leave(page);
      expect(listClasses()).toEqual(['arrow', 'arrow', 'arrow']);
      expect(host.eventsOf('Focus').map(({ role }) => ELEMENT_ROLES[role!])).toEqual(['other']);
    });
  });
}
