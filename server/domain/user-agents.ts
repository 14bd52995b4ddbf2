import Bowser from 'bowser';
import { isbot } from 'isbot';
import type { DeviceType } from '../../contract/sessions';

export interface UserAgent {
  summary: string;
  browser: string;
  deviceType: DeviceType;
}

const CACHE_SIZE = 2_000;
const cache = new Map<string, UserAgent>();

/**
 * Reads a User-Agent header, for example to `Chrome 131 on Windows`, `Chrome`, `desktop`. Results are cached, because parsing
 * costs far more than a look-up, and few user agents make most sessions.
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
  return { summary: `${product}${os.name ? ` on ${os.name}` : ''}${bot}`, browser: name, deviceType };
}
