import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium, HIDDEN_PAGES_OFF } from '../../support/browser.mjs';

// Ordinary browser windows: a fresh profile, no remote control. What the switches turn off are first-run pages, traffic
// to the outside, and hidden pages of the address bar.

export type BrowserName = 'chromium' | 'firefox';

export interface BrowserCommand {
  program: string;
  args: string[];
}

const CHROMIUM_ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--password-store=basic', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
  ...['--window-size=1300,1180', '--window-position=40,20', HIDDEN_PAGES_OFF],
];
const FIREFOX = ['firefox', 'firefox-esr'];
const FIREFOX_SETTINGS: Record<string, boolean | number | string> = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.preonboarding.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9',
  'termsofuse.acceptedDate': '1750000000000',
  'termsofuse.acceptedVersion': 999,
};

const findProgram = (names: readonly string[]) => names.find((name) => spawnSync('which', [name]).status === 0) ?? null;

export const findBrowser = (name: BrowserName): string | null =>
  name === 'chromium' ? findChromium() : findProgram(FIREFOX);

/** Writes the profile and says how to open an address. `switches` are added to those of the browser. */
export function prepareBrowser(
  name: BrowserName,
  profile: string,
  url: string,
  switches: readonly string[] = [],
  settings: typeof FIREFOX_SETTINGS = {},
): BrowserCommand {
  const program = findBrowser(name);
  if (program === null) throw new Error(`no ${name} on this machine`);
  if (name === 'chromium') return { program, args: [...CHROMIUM_ARGS, `--user-data-dir=${profile}`, ...switches, url] };
  const lines = Object.entries({ ...FIREFOX_SETTINGS, ...settings }).map(
    ([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), `${lines.join('\n')}\n`);
  const args = ['--no-remote', '-profile', profile, '--width', '1300', '--height', '1120', ...switches, url];
  return { program, args };
}
