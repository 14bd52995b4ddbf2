import { parseUrl } from '../../contract/urls';

const START = '/dashboard';
/** Where pages are that need a sign-in. */
const ROOMS = ['/dashboard/', '/docs/'];
/** Stands for this host, which the path does not depend on. */
const BASE = 'http://host.invalid';

/**
 * Reads the page to open after sign-in: a path of the dashboard or of its documents on this host, in the form that a `Location` header can have.
 * Anything else becomes the start page.
 */
export function readNextPath(next: string | string[] | undefined): string {
  const url = typeof next === 'string' ? parseUrl(next, BASE) : null;
  if (url === null) return START;
  const { origin, pathname, search, hash } = url;
  const isOurs = origin === BASE && (pathname === START || ROOMS.some((room) => pathname.startsWith(room)));
  return isOurs ? pathname + search + hash : START;
}
