import { setTimeout as sleep } from 'node:timers/promises';
import { loadPackage } from '../driving/packages';
import { drivePuppeteer, hideAutomation, type Puppeteer, type PuppeteerPage } from '../driving/puppeteer';

// Puppeteer with a mouse that moves on curves, and typing with random pauses.

interface GhostCursor {
  click(selector: string, options?: { waitForClick?: number }): Promise<void>;
}
type CreateCursor = (page: PuppeteerPage, start?: { x: number; y: number }) => GhostCursor;

const waitMs = (from: number, to: number) => from + Math.random() * (to - from);

export const subjects = [
  drivePuppeteer({
    ...{ name: 'ghost-cursor', isHeadful: true, packages: ['puppeteer-core', 'ghost-cursor'] },
    load: () => loadPackage<Puppeteer>('puppeteer-core'),
    launch: hideAutomation,
    async hands(page) {
      const { createCursor } = await loadPackage<{ createCursor: CreateCursor }>('ghost-cursor');
      const cursor = createCursor(page, { x: 50, y: 50 });
      const click = (target: string) => cursor.click(target, { waitForClick: 80 });
      return {
        click,
        async type(target, text) {
          await click(target);
          for (const character of text) {
            await page.keyboard.type(character, { delay: waitMs(30, 100) });
            await sleep(waitMs(40, 170));
          }
        },
      };
    },
  }),
];
