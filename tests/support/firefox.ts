import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, firefox } from 'playwright-core';
import { WAIT_LIMIT_MS } from './limits.mjs';
import { tolerateMissingCommands } from './playwright-internals';

const NAMES = ['firefox-esr', 'firefox'];

/** Finds a stock Firefox that runs. Returns its path, or null. */
export function findFirefox(): string | null {
  if (process.env.FIREFOX_PATH) return process.env.FIREFOX_PATH;
  const directories = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)];
  const paths = directories.flatMap((directory) => NAMES.map((name) => join(directory, name)));
  return paths.find((path) => existsSync(path) && runs(path)) ?? null;
}

/** Some systems have a stub instead that only says how to install Firefox. */
const runs = (path: string) =>
  /Mozilla Firefox \d/.test(spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 60_000 }).stdout);

/** Starts a stock Firefox, which Playwright drives over WebDriver BiDi, with a fresh profile. */
export async function launchFirefox(executablePath: string): Promise<Browser> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath, timeout: WAIT_LIMIT_MS });
  tolerateMissingCommands(browser);
  return browser;
}
