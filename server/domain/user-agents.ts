import Bowser from 'bowser';
import { isbot } from 'isbot';
import { cutText } from '../../contract/fields';
import type { DeviceType } from '../../contract/sessions';

export interface UserAgent {
  summary: string;
  browser: string;
  deviceType: DeviceType;
}

/** Counts every browser that is not in the list, whatever name a visitor gives it. */
export const OTHER_BROWSER = 'Other';

/** The names that a browser can have. Bowser's list lacks some that it gives; `Generic` is a name that a visitor invented. */
export const BROWSERS: ReadonlySet<string> = new Set([
  ...Object.values(Bowser.BROWSER_MAP).filter((name) => name !== Bowser.BROWSER_MAP.generic),
  ...['Miui', 'Opera Touch', 'PlayStation 4', 'SlimerJS', 'Bot', 'Unknown', OTHER_BROWSER],
]);

const MAX_SUMMARY_LENGTH = 128;

const CACHE_SIZE = 2_000;
const cache = new Map<string, UserAgent>();

/**
 * Reads a User-Agent header, for example to `Chrome 131 on Windows`, `Chrome`, `desktop`. A visitor can invent the header: the
 * browser is one of BROWSERS, and the summary is cut. Results are cached, because parsing costs far more than a look-up, and
 * few user agents make most sessions.
 */
export function readUserAgent(header: string): UserAgent {
  const known = cache.get(header);
  if (known) return known;
  const read = parseUserAgent(header);
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value as string);
  cache.set(header, read);
  return read;
}

function parseUserAgent(header: string): UserAgent {
  if (header.trim() === '') return { summary: 'Unknown', browser: 'Unknown', deviceType: 'desktop' };
  const { browser, os, platform } = Bowser.parse(header);
  const name = browser.name || (isbot(header) ? 'Bot' : 'Unknown');
  const major = browser.version?.split('.')[0];
  const product = major ? `${name} ${major}` : name;
  const deviceType = platform.type === 'mobile' || platform.type === 'tablet' ? platform.type : 'desktop';
  const bot = isbot(header) && name !== 'Bot' ? ' (bot)' : '';
  const summary = cutText(`${product}${os.name ? ` on ${os.name}` : ''}${bot}`, MAX_SUMMARY_LENGTH);
  return { summary, browser: BROWSERS.has(name) ? name : OTHER_BROWSER, deviceType };
}
