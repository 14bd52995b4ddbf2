import { bareOptions } from '../../support/browser.mjs';
import type { Subject, Visit } from '../subject';
import { type Hands, takeSteps } from './hands';
import { findMissingNeeds } from './packages';

/** What the drivers use of a page of Puppeteer. */
export interface PuppeteerPage {
  goto(url: string): Promise<unknown>;
  $(selector: string): Promise<{ isVisible(): Promise<boolean> } | null>;
  click(selector: string, options?: { delay?: number }): Promise<unknown>;
  type(selector: string, text: string, options?: { delay?: number }): Promise<unknown>;
  waitForSelector(selector: string, options?: { visible?: boolean }): Promise<unknown>;
  mouse: { wheel(options: { deltaY: number }): Promise<unknown> };
  keyboard: { type(text: string, options?: { delay?: number }): Promise<unknown> };
  close(): Promise<unknown>;
}

export interface Puppeteer {
  launch(options: Record<string, unknown>): Promise<{ newPage(): Promise<PuppeteerPage>; close(): Promise<void> }>;
}

export interface PuppeteerDriver {
  name: string;
  family?: string;
  isHeadful: boolean;
  packages: readonly string[];
  files?: readonly string[];
  load(): Promise<Puppeteer>;
  /** More options of `launch`. */
  launch?: (visit: Visit) => Record<string, unknown>;
  hands?(page: PuppeteerPage): Partial<Hands> | Promise<Partial<Hands>>;
}

/** The options of Chromium with which scripts hide that they control it (navigator.webdriver). */
export const hideAutomation = () => ({
  ignoreDefaultArgs: ['--enable-automation'],
  args: [...bareOptions().args, '--window-size=1280,900', '--disable-blink-features=AutomationControlled'],
});

/** Defines a driver with Puppeteer or one of its forks. What it does not say is done with the page's methods. */
export function drivePuppeteer(driver: PuppeteerDriver): Subject {
  const { name, family, isHeadful, packages, files } = driver;
  return {
    ...{ name, family: family ?? 'puppeteer', kind: 'driver', input: 'real', isHeadful },
    findMissing: () => findMissingNeeds({ packages, isHeadful, files }),
    async act(visit) {
      const puppeteer = await driver.load();
      const { executablePath, args } = bareOptions(['--window-size=1280,900']);
      const usual = { executablePath, args, headless: !isHeadful, env: visit.env, userDataDir: visit.profile };
      const browser = await puppeteer.launch({
        ...usual,
        ...(isHeadful ? { defaultViewport: null } : {}),
        ...driver.launch?.(visit),
      });
      try {
        const page = await browser.newPage();
        await page.goto(visit.url);
        const hands: Hands = {
          click: (target) => page.click(target),
          type: (target, text) => page.type(target, text),
          scroll: (byPx) => page.mouse.wheel({ deltaY: byPx }),
          arrive: (target) => page.waitForSelector(target, { visible: true }),
        };
        await takeSteps(visit.steps, { ...hands, ...(await driver.hands?.(page)) });
        await page.close();
      } finally {
        await browser.close();
      }
    },
  };
}
