import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shareResult } from '../platform/shared-result';
import type { RestResponse } from './responses';

const DIRECTORY = join(process.cwd(), 'pixel/released');
const FILE = /^[\da-f]{16}\.js$/;

/** Pages of any site load the pixel. With `integrity` they need CORS. */
const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
};
const CURRENT_HEADERS = { ...HEADERS, 'cache-control': 'public, max-age=3600' };
const RELEASED_HEADERS = { ...HEADERS, 'cache-control': 'public, max-age=31536000, immutable' };

/** The current release of the pixel: its file, and the hash with which a page can insist on exactly this file. */
export interface PixelRelease {
  file: string;
  integrity: string;
}

interface PixelFiles {
  current: PixelRelease;
  bodies: Map<string, Uint8Array>;
}

/** Reads the released files once. They change only with the product. */
const openFiles = shareResult(async (): Promise<PixelFiles> => {
  const names = (await readdir(DIRECTORY)).filter((name) => FILE.test(name));
  const bodies = await Promise.all(
    names.map(async (name) => [name, await readFile(join(DIRECTORY, name))] satisfies [string, Uint8Array]),
  );
  const current = JSON.parse(await readFile(join(DIRECTORY, 'current.json'), 'utf8')) as PixelRelease;
  return { current, bodies: new Map(bodies) };
});

/** Reads the current release of the pixel, for the tag that customers copy. */
export const readPixelRelease = async (): Promise<PixelRelease> => (await openFiles()).current;

/** Answers `/pixel.js` and `/pixel/{hash}.js`. Returns null for any other path, and for a file that was never released. */
export async function readPixelFile(path: string, ifNoneMatch: string | null): Promise<RestResponse | null> {
  const isCurrent = path === '/pixel.js';
  if (!isCurrent && !path.startsWith('/pixel/')) return null;
  const { current, bodies } = await openFiles();
  const name = isCurrent ? current.file : path.slice('/pixel/'.length);
  const body = bodies.get(name);
  if (!body) return null;
  const etag = `"${name.slice(0, -'.js'.length)}"`;
  const headers = { ...(isCurrent ? CURRENT_HEADERS : RELEASED_HEADERS), etag };
  return isSame(ifNoneMatch, etag) ? { status: 304, headers, body: null } : { status: 200, headers, body };
}

/** Proxies that compress an answer make its tag a weak one. */
function isSame(ifNoneMatch: string | null, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
