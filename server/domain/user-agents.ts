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
/** What stands before the system in a summary, and after it. */
const SYSTEM = ' on ';
const BOT = ' (bot)';

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
  const bot = isbot(header) && name !== 'Bot' ? BOT : '';
  const summary = cutText(`${product}${os.name ? SYSTEM + os.name : ''}${bot}`, MAX_SUMMARY_LENGTH);
  return { summary, browser: BROWSERS.has(name) ? name : OTHER_BROWSER, deviceType };
}

interface DescribedDevice {
  userAgentSummary: string;
  browser: string;
  deviceType: DeviceType;
}

const UNKNOWN_SYSTEM = 'Unknown';

/**
 * Describes a device by what stays the same when its browser is updated or its storage is cleared: for example
 * `Chrome on Windows (desktop)`.
 */
export function describeDevice(device: DescribedDevice): string {
  return `${device.browser} on ${readSystem(device)} (${device.deviceType})`;
}

function readSystem({ userAgentSummary: summary }: DescribedDevice): string {
  const place = summary.lastIndexOf(SYSTEM);
  return place < 0 ? UNKNOWN_SYSTEM : summary.slice(place + SYSTEM.length).replace(BOT, '');
}

/**
 * Whether two devices are described differently. Not if the user agent of one names no system, as those of applications and
 * of pipelines that know none: then it can be the other one.
 */
export const isOtherKind = (one: DescribedDevice, other: DescribedDevice): boolean =>
  describeDevice(one) !== describeDevice(other) &&
  [one, other].every((device) => readSystem(device) !== UNKNOWN_SYSTEM);
