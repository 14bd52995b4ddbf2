// Finds the Chromium that the end-to-end tests drive, or installs one. It is plain JavaScript because the test command
// uses it too.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { WAIT_LIMIT_MS } from './limits.mjs';

const PLAYWRIGHT_LIMIT_MS = 120_000;
const APT_LIMIT_MS = 240_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const MAC_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const MISSING =
  'No Chromium to test with: run `npx playwright-core install --with-deps chromium`, or install the package `chromium`, or set CHROMIUM_PATH.';

/**
 * Finds a Chromium that runs. Returns its path, or null.
 * @returns {string | null}
 */
export function findChromium() {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const directories = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)];
  const installed = directories.flatMap((directory) => NAMES.map((name) => join(directory, name)));
  const candidates = [chromium.executablePath(), ...installed, ...(process.platform === 'darwin' ? MAC_PATHS : [])];
  return candidates.find((path) => existsSync(path) && runs(path)) ?? null;
}

/** Some systems have a stub instead that only says how to install Chromium, or lack libraries that it needs. */
function runs(path) {
  if (process.platform === 'win32') return true;
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 60_000 });
  return status === 0 && /chrom/i.test(stdout);
}

/**
 * Finds a Chromium that runs. Throws one clear line if there is none.
 * @returns {string}
 */
export function requireChromium() {
  const path = findChromium();
  if (path === null) throw new Error(MISSING);
  return path;
}

/**
 * Finds the headless shell of the same installation, which is Chromium without windows: pages take it a seventh less CPU time. Answers
 * the Chromium itself if there is none.
 * @returns {string}
 */
export function requireHeadlessShell() {
  const path = requireChromium();
  const shell = join(dirname(path), 'chromium-headless-shell');
  return existsSync(shell) && runs(shell) ? shell : path;
}

/**
 * Finds a Chromium or installs one: Playwright's, or, if that cannot be reached, the system's package (as root, with
 * apt-get). If neither works, it says so and answers null.
 * @param {(line: string) => void} say
 * @returns {Promise<string | null>}
 */
export async function obtainChromium(say) {
  const found = findChromium();
  if (found) return found;
  say('Installing Chromium for the end-to-end tests …');
  const playwright = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js');
  const attempts = [[process.execPath, [playwright, 'install', 'chromium'], PLAYWRIGHT_LIMIT_MS]];
  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const apt = ['-y', '-qq', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=200'];
    attempts.push(
      ['apt-get', ['update', ...apt], APT_LIMIT_MS],
      ['apt-get', ['install', ...apt, '--no-install-recommends', 'chromium'], APT_LIMIT_MS],
    );
  }
  for (const [file, args, limitMs] of attempts) {
    const fault = await run(file, args, limitMs);
    if (fault)
      say(
        `  ${[file === process.execPath ? 'playwright' : file, args.at(file === 'apt-get' ? 0 : 1)].join(' ')}: ${fault}`,
      );
    const path = findChromium();
    if (path) return path;
  }
  say(MISSING);
  return null;
}

/** Runs a program to its end, for at most `limitMs`. Answers what went wrong in one line, or null. */
function run(file, args, limitMs) {
  return new Promise((resolve) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // A separate process group: a download that hangs is ended together with its helpers.
    const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve(error.message);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      if (isLate) return resolve(`took more than ${limitMs / 1000} s`);
      const lines = output.split('\n').filter((line) => line.trim() !== '');
      resolve(
        code === 0 ? null : (lines.find((line) => /error|E:/i.test(line)) ?? lines.at(-1) ?? `exit ${code}`).trim(),
      );
    });
  });
}

/** Chromium heeds the last switch alone, so ours repeats what Playwright turns off. */
const FEATURES_OFF_BY_PLAYWRIGHT = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...[
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'TcpPortRandomizationWin', 'OptimizationHints', 'AimEnabled'],
  ...['NetworkTimeServiceQuerying', 'PreconnectToSearch', 'msForceBrowserSignIn'],
  'msEdgeUpdateLaunchServicesPreferredVersion',
];
/** For the address bar of each window Chromium loads two hidden pages, which take more CPU time than most tests. */
const HIDDEN_PAGES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];
const switchOff = (features) => `--disable-features=${features.join()}`;
/** For a Chromium that nothing drives, or a driver without a list. */
export const HIDDEN_PAGES_OFF = switchOff(HIDDEN_PAGES);

/**
 * The options with which every test launches its browser. Playwright gives each launch a fresh profile.
 * @param {string[]} [extra]
 */
export const launchOptions = (extra = []) =>
  bareOptions([switchOff([...FEATURES_OFF_BY_PLAYWRIGHT, ...HIDDEN_PAGES]), ...extra]);

/** A host of this machine that browsers do not trust without https, as they trust 127.0.0.1. */
export const PLAIN_HOST = 'plain.example';

/**
 * The same for other drivers, which may turn off features of their own. Only names of the loopback resolve, because no page
 * under test may need anything from outside.
 * @param {string[]} [extra]
 */
export function bareOptions(extra = []) {
  return {
    executablePath: requireChromium(),
    headless: true,
    timeout: WAIT_LIMIT_MS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
      ...extra,
    ],
  };
}
