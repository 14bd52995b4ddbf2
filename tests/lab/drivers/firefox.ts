import { loadPackage } from '../driving/packages';
import { drivePuppeteer, type Puppeteer } from '../driving/puppeteer';

// Firefox through WebDriver BiDi.

const FIREFOX = '/usr/bin/firefox-esr';

export const subjects = [
  drivePuppeteer({
    ...{ name: 'puppeteer-firefox', family: 'webdriver-bidi', isHeadful: true },
    ...{ packages: ['puppeteer-core'], files: [FIREFOX] },
    load: () => loadPackage<Puppeteer>('puppeteer-core'),
    launch: () => ({ browser: 'firefox', executablePath: FIREFOX, args: [] }),
  }),
];
