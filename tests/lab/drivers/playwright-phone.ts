import { chromium, devices } from 'playwright-core';
import { drivePlaywright } from '../driving/playwright';

// Playwright with touches, in a browser that emulates a phone.

const load = async () => ({ chromium });

export const subjects = [
  drivePlaywright({
    ...{ name: 'playwright-phone', isHeadful: true, context: devices['Pixel 7'], load },
    args: ['--disable-blink-features=AutomationControlled'],
    hands: (page) => ({
      click: (target) => page.tap(target),
      type: (target, text) => page.tap(target).then(() => page.fill(target, text)),
      scroll: (byPx) => page.evaluate((px) => scrollBy(0, px), byPx),
    }),
  }),
];
