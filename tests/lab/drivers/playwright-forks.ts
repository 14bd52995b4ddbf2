import type { BrowserType, Page } from 'playwright-core';
import { loadPackage } from '../driving/packages';
import { drivePlaywright } from '../driving/playwright';

// Forks of Playwright that hide what its protocol shows to pages.

const load = (name: string) => () => loadPackage<{ chromium: BrowserType }>(name);
const hands = (page: Page) => ({
  async type(target: string, text: string) {
    await page.click(target, { delay: 50 });
    await page.locator(target).pressSequentially(text, { delay: 70 });
  },
});

export const subjects = ['rebrowser-playwright-core', 'patchright-core'].map((name) =>
  drivePlaywright({
    name: name.replace('-core', ''),
    isHeadful: true,
    packages: [name],
    args: ['--disable-blink-features=AutomationControlled'],
    load: load(name),
    hands,
  }),
);
