import type { Browser, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Beacon } from '../../../contract/beacon';
import { type PixelHost, readEvents, watchFaults } from '../../support/pixel-host';

const MARKED = `<textarea id="essay" data-writing="essay-1"></textarea>
  <div data-writing><div id="rich" contenteditable style="height:40px"></div></div>
  <input id="title"><textarea id="notes"></textarea>
  <form data-writing="form"><input hidden autocomplete="username"><input id="password" type="password" autocomplete="new-password"><input id="agree" type="checkbox"></form>`;

/** The writing events by the id of what is written, each with where the caret was. */
const readWriting = (beacons: Beacon[]) =>
  beacons.flatMap((beacon) =>
    readEvents([beacon])
      .filter(({ code }) => code === 'Writing')
      .map(({ document, fromEnd }) => [beacon.w![document!], fromEnd]),
  );

export function registerWritingRules(host: PixelHost, browser: () => Browser) {
  const openPage = async (html = MARKED) => {
    const page = await host.openTimedPage(browser());
    const listFaults = await watchFaults(page);
    await page.goto(host.setPage('/', html + host.tag()));
    await page.waitForFunction(() => window.botPixel);
    return { page, listFaults };
  };
  const type = async (page: Page, selector: string, text = 'a') => {
    await page.locator(selector).click();
    await page.keyboard.type(text);
  };

  describe('a field in which a person writes', () => {
    it('is told before each of its inputs, with what follows the caret and never with what is written', async () => {
      const { page } = await openPage();
      await type(page, '#essay', 'qzx');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.type('k');
      await page.keyboard.press('Delete');
      await type(page, '#rich', 'v');
      await type(page, '#notes', 'wqzx');
      await host.runClock(page);
      await host.waitForEvent('Input', 10);
      expect(readWriting(host.beacons)).toEqual([...[0, 0, 0, 2, 1].map((fromEnd) => ['essay-1', fromEnd]), ['', -1]]);
      const codes = host.events.map(({ code, field }) => `${code} ${field}`);
      for (const [place, code] of codes.entries())
        if (code.startsWith('Writing')) expect(codes[place + 1]).toBe(code.replace('Writing', 'Input'));
      for (const { bytes } of host.received) expect(bytes.replaceAll(host.siteKey, '')).not.toMatch(/qzx|qkx/);
    });

    it('is named in each batch', async () => {
      const { page } = await openPage();
      await type(page, '#essay');
      await host.runClock(page);
      await host.waitForBatches(1);
      await type(page, '#essay');
      await host.runClock(page);
      const batches = await host.waitForBatches(2);
      expect(batches.map(({ w }) => w)).toEqual([['essay-1'], ['essay-1']]);
    });

    it('is told of what is dropped into an editor that inserts it by itself and never had the focus', async () => {
      const { page } = await openPage();
      await page.evaluate(() => {
        const editor = document.querySelector('#rich')!;
        editor.addEventListener('drop', (event) => {
          event.preventDefault();
          editor.append((event as DragEvent).dataTransfer!.getData('text/plain'));
        });
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('text/plain', 'wqzx');
        const options = { bubbles: true, composed: true, cancelable: true, dataTransfer };
        editor.dispatchEvent(new DragEvent('drop', options));
        // As the browser does when a drop is over.
        dataTransfer.clearData();
      });
      await host.runClock(page, 5_000);
      await host.waitForEvent('Input');
      expect(host.eventsOf('Input')).toMatchObject([{ insertedLength: 4, valueLength: 4 }]);
    });

    it('is told once of each paste, also if an editor inserts it by itself', async () => {
      const { page } = await openPage();
      await page.evaluate(() => {
        document.querySelector('#rich')!.addEventListener('paste', (event) => {
          event.preventDefault();
          const { clipboardData, currentTarget } = event as ClipboardEvent;
          (currentTarget as Element).append(clipboardData!.getData('text/plain'));
        });
      });
      await type(page, '#notes', 'wqzx');
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+C');
      await host.runClock(page);
      for (const selector of ['#rich', '#essay']) {
        await page.locator(selector).click();
        await page.keyboard.press('Control+V');
        await host.runClock(page);
      }
      await host.runClock(page, 5_000);
      await host.waitForEvent('Input', 6);
      expect(readWriting(host.beacons)).toEqual([
        ['', -1],
        ['essay-1', 0],
      ]);
      const pasted = host.eventsOf('Input').slice(-2);
      expect(pasted.map(({ insertedLength, valueLength, type }) => [insertedLength, valueLength, type])).toEqual([
        [4, 4, 9],
        [4, 4, 2],
      ]);
      for (const { bytes } of host.received) expect(bytes.replaceAll(host.siteKey, '')).not.toMatch(/wqzx/);
    });

    it('is told nothing of a paste from before consent was withdrawn, also after another consent', async () => {
      const { page } = await openPage();
      await page.locator('#rich').click();
      await host.runClock(page);
      const [first] = await host.waitForBatches(1);
      await page.evaluate(() => {
        const rich = document.querySelector('#rich')!;
        rich.dispatchEvent(new ClipboardEvent('paste', { bubbles: true }));
        rich.append('wqzx');
        window.botPixel!.push(['consent', false], ['consent', true]);
      });
      await host.runClock(page);
      await expect.poll(() => host.beacons.filter(({ s }) => s !== first!.s).length).toBe(1);
      expect(host.eventsOf('Input')).toEqual([]);
    });

    it('is one that the page has marked, by a selector or an element, the latest mark first', async () => {
      const queue = `<script>botPixel = [['writing', '#title', 'title'], ['writing', '::', 'broken'], ['writing', null]];</script>`;
      const { page, listFaults } = await openPage(queue + MARKED);
      await type(page, '#title');
      await page.evaluate(() => {
        const { botPixel } = window;
        botPixel!.push(['writing', document.querySelector('#notes')!, 7], ['writing', document.body]);
        botPixel!.push(['writing', 'form, #essay', 'x'.repeat(300)]);
      });
      for (const selector of ['#notes', '#essay', '#title']) await type(page, selector);
      await host.runClock(page);
      await host.waitForEvent('Input', 4);
      expect(readWriting(host.beacons)).toEqual([
        ['title', 0],
        ['', 0],
        ['x'.repeat(256), 0],
        ['', 0],
      ]);
      expect(await listFaults()).toEqual([]);
    });

    it('says nothing of a password', async () => {
      const { page } = await openPage();
      await type(page, '#password', 'secret');
      await page.locator('#agree').click();
      await host.runClock(page);
      await host.waitForEvent('Input');
      // Of the box alone.
      expect(readWriting(host.beacons)).toEqual([['form', -1]]);
    });

    it('is remembered in a bounded number of marks', async () => {
      const { page } = await openPage();
      await page.evaluate(() => {
        window.botPixel!.push(['writing', '#title', 'first']);
        for (let n = 0; n < 100; n++) window.botPixel!.push(['writing', `#other-${n}`, 'other']);
      });
      await type(page, '#title');
      await type(page, '#essay');
      await host.runClock(page);
      await host.waitForEvent('Input', 2);
      expect(readWriting(host.beacons)).toEqual([['essay-1', 0]]);
    });
  });
}
