import type { BrowserContextOptions, BrowserType, Page } from 'playwright-core';
import { bareOptions, launchOptions } from '../../support/browser.mjs';
import type { Subject, Visit } from '../subject';
import { type Hands, takeSteps } from './hands';
import { findMissingNeeds } from './packages';

export interface PlaywrightDriver {
  name: string;
  family?: string;
  isHeadful: boolean;
  packages?: readonly string[];
  /** More arguments of Chromium. */
  args?: string[];
  /** The options of its pages, such as the phone that it imitates. */
  context?: BrowserContextOptions;
  load(): Promise<{ chromium: BrowserType }>;
  hands(page: Page): Partial<Hands>;
}

/** Defines a driver with Playwright or one of its forks. What it does not say is done with locators. */
export function drivePlaywright(driver: PlaywrightDriver): Subject {
  const { name, family, isHeadful, packages, args, load, hands } = driver;
  return {
    ...{ name, family: family ?? 'playwright', kind: 'driver', input: 'real', isHeadful },
    findMissing: () => findMissingNeeds({ packages, isHeadful }),
    async act({ url, steps, env }: Visit) {
      const { chromium } = await load();
      const browser = await chromium.launch({
        // Forks turn off other features than Playwright does.
        ...(packages ? bareOptions(args) : launchOptions(args)),
        headless: !isHeadful,
        env: env as Record<string, string>,
      });
      try {
        const context = await browser.newContext(driver.context ?? (isHeadful ? { viewport: null } : {}));
        const page = await context.newPage();
        await page.goto(url);
        const usual: Hands = {
          click: (target) => page.click(target),
          type: (target, text) => page.fill(target, text),
          scroll: (byPx) => page.mouse.wheel(0, byPx),
          arrive: (target) => page.waitForSelector(target),
        };
        await takeSteps(steps, { ...usual, ...hands(page) });
        await page.close({ runBeforeUnload: true });
      } finally {
        await browser.close();
      }
    },
  };
}
