const START = '/dashboard';
/** Stands for this host, which the path does not depend on. */
const BASE = 'http://host.invalid';

/**
 * Reads the page to open after sign-in: a dashboard path on this host, in the form that a `Location` header can have.
 * Anything else becomes the start page.
 */
export function readNextPath(next: string | string[] | undefined): string {
  if (typeof next !== 'string' || !URL.canParse(next, BASE)) return START;
  const { origin, pathname, search, hash } = new URL(next, BASE);
  const isDashboard = origin === BASE && (pathname === START || pathname.startsWith(`${START}/`));
  return isDashboard ? pathname + search + hash : START;
}
