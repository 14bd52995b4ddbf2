import { createHmac, timingSafeEqual } from 'node:crypto';
import { MAX_SESSION_MS } from '../../contract/beacon';

// Everything that is derived from what a page sends, under the process's collector key. Each use names itself in the text
// that is hashed, so that a value of one use never passes for one of another.

const SESSION_ID_LENGTH = 24;
const FINGERPRINT_DIGITS = 32;

const derive = (key: Buffer, ...parts: string[]) => createHmac('sha256', key).update(parts.join('\n')).digest();

/** What a token is bound to. */
export interface TokenScope {
  integrationId: string;
  sessionId: string;
}

/** Derives the id of a session. A first batch that is sent twice names the same session. */
export const deriveSessionId = (key: Buffer, siteId: string, nonce: string) =>
  `ses_${derive(key, 'session', siteId, nonce).toString('base64url').slice(0, SESSION_ID_LENGTH)}`;

/** Derives the fingerprint of a device. It differs between integrations, so nobody can follow a device across them. */
export const deriveFingerprint = (key: Buffer, integrationId: string, deviceId: string) =>
  derive(key, 'device', integrationId, deviceId).toString('hex').slice(0, FINGERPRINT_DIGITS);

const signToken = (key: Buffer, { integrationId, sessionId }: TokenScope, issued: string) =>
  derive(key, 'token', integrationId, sessionId, issued).toString('base64url').slice(0, SESSION_ID_LENGTH);

/** Issues the token that later batches of a session need. */
export function issueToken(key: Buffer, scope: TokenScope, nowMs: number): string {
  const issued = Math.floor(nowMs / 1000).toString(36);
  return `${issued}.${signToken(key, scope, issued)}`;
}

const TOKEN = /^([0-9a-z]{1,10})\.([\w-]{24})$/;

/**
 * Checks a token: `expired` if it was issued for the session, but longer ago than a session may take. One of a later time is of a clock
 * that was ahead: of another process, or of this one before it was set.
 */
export function checkToken(
  key: Buffer,
  scope: TokenScope,
  token: string | undefined,
  nowMs: number,
): 'valid' | 'expired' | 'invalid' {
  const match = token === undefined ? null : TOKEN.exec(token);
  if (!match) return 'invalid';
  const [, issued, signature] = match as unknown as [string, string, string];
  if (!isSameText(signature, signToken(key, scope, issued))) return 'invalid';
  const ageMs = nowMs - Number.parseInt(issued, 36) * 1000;
  return ageMs <= MAX_SESSION_MS ? 'valid' : 'expired';
}

/** Whether the customer's server signed the id of a user: lowercase hex of HMAC-SHA256(identity secret, id). */
export const isSignedId = (identitySecret: Buffer, id: string, hash: string | undefined) =>
  hash !== undefined && isSameText(hash, createHmac('sha256', identitySecret).update(id).digest('hex'));

function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
