import type { Staff } from '../../contract/staff';
import { findStaff } from '../auth/sessions';
import type { Service } from '../service';

// The cookie of a staff session.

const COOKIE = 'staff_session';

/** Under a public address without TLS, browsers would not keep a Secure cookie. */
const isSecure = ({ env }: Service) => env.isDeployed && !env.publicUrl?.startsWith('http:');

/** A deployed service uses the prefix `__Host-`: browsers accept it only on Secure cookies, set by exactly this host. */
const cookieName = (service: Service) => (isSecure(service) ? `__Host-${COOKIE}` : COOKIE);

/** Writes a Set-Cookie header with a session token. */
export function makeCookie(service: Service, token: string, maxAgeSeconds: number): string {
  const secure = isSecure(service) ? '; Secure' : '';
  return `${cookieName(service)}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Reads the session token from a Cookie header. */
export function readToken(service: Service, cookies: string | null): string | null {
  const prefix = `${cookieName(service)}=`;
  const found = cookies?.split(';').find((cookie) => cookie.trim().startsWith(prefix));
  return found?.trim().slice(prefix.length) || null;
}

/** Finds the staff member that a Cookie header signs in, or null. Prolongs the session if somebody caused the request (`isUse`). */
export async function findSignedIn(service: Service, cookies: string | null, isUse = true): Promise<Staff | null> {
  const token = readToken(service, cookies);
  return token === null ? null : findStaff(service, token, isUse);
}
