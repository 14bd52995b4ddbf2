import { takeSteps } from '../driving/hands';
import { findMissingNeeds, loadPackage } from '../driving/packages';
import { openSelenium, type SeleniumModule } from '../driving/selenium';
import type { Subject } from '../subject';

// Selenium with chromedriver, as test suites use it.

const driveSelenium = (name: string, isHeadful: boolean): Subject => ({
  ...{ name, family: 'webdriver', kind: 'driver', input: 'real', isHeadful },
  findMissing: () =>
    findMissingNeeds({ packages: ['selenium-webdriver'], files: ['/usr/bin/chromedriver'], isHeadful }),
  async act(visit) {
    const { By } = await loadPackage<SeleniumModule>('selenium-webdriver');
    const driver = await openSelenium(visit, '/usr/bin/chromedriver');
    const find = (target: string) => driver.findElement(By.css(target));
    try {
      await driver.get(visit.url);
      await takeSteps(visit.steps, {
        click: async (target) => (await find(target)).click(),
        type: async (target, text) => (await find(target)).sendKeys(text),
        scroll: (byPx) => driver.executeScript('window.scrollBy(0, arguments[0])', byPx),
        arrive: (target) => driver.wait(async () => (await driver.findElements(By.css(target))).length > 0, 20_000),
      });
      await driver.get('about:blank');
    } finally {
      await driver.quit();
    }
  },
});

export const subjects = [driveSelenium('selenium', false), driveSelenium('selenium-headful', true)];
