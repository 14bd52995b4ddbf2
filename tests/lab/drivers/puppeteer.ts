import { lookAgain } from '../driving/hands';
import { loadPackage } from '../driving/packages';
import { drivePuppeteer, hideAutomation, type Puppeteer } from '../driving/puppeteer';

// Puppeteer as scripts use it, its plugin that hides it, and its fork that hides its protocol.

const CORE = 'puppeteer-core';
const REBROWSER = 'rebrowser-puppeteer-core';
const STEALTH = 'puppeteer-extra-plugin-stealth';
const load = () => loadPackage<Puppeteer>(CORE);

async function loadStealth(): Promise<Puppeteer> {
  type Extra = { addExtra(core: Puppeteer): Puppeteer & { use(plugin: unknown): void } };
  const { addExtra } = await loadPackage<Extra>('puppeteer-extra');
  const puppeteer = addExtra(await load());
  puppeteer.use((await loadPackage<() => unknown>(STEALTH))());
  return puppeteer;
}

export const subjects = [
  drivePuppeteer({ name: 'puppeteer', isHeadful: false, packages: [CORE], load }),
  drivePuppeteer({
    ...{ name: 'puppeteer-stealth', isHeadful: false, packages: [CORE, 'puppeteer-extra', STEALTH], load: loadStealth },
    hands: (page) => ({ type: (target, text) => page.type(target, text, { delay: 50 }) }),
  }),
  drivePuppeteer({
    ...{ name: 'rebrowser-puppeteer', isHeadful: true, packages: [REBROWSER] },
    load: () => loadPackage<Puppeteer>(REBROWSER),
    launch: hideAutomation,
    // It is not told of new pages, so a wait that began on the page before never ends.
    hands: (page) => ({ arrive: (target) => lookAgain(async () => (await page.$(target))?.isVisible()) }),
  }),
];
