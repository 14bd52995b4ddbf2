import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { drivePlaywright } from '../driving/playwright';

// Playwright as scripts use it, and with every option that makes it slower.

const load = async () => ({ chromium });

export const subjects = [
  drivePlaywright({ name: 'playwright-fill', isHeadful: false, load, hands: () => ({}) }),
  drivePlaywright({
    name: 'playwright-paced',
    isHeadful: true,
    load,
    hands: (page) => {
      const click = async (target: string) => {
        await page.locator(target).scrollIntoViewIfNeeded();
        const box = (await page.locator(target).boundingBox())!;
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 25 });
        await page.mouse.down();
        await sleep(60);
        await page.mouse.up();
      };
      return {
        click,
        async type(target, text) {
          await click(target);
          await page.keyboard.type(text, { delay: 80 });
        },
      };
    },
  }),
];
