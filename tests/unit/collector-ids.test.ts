import { expect, it } from 'vitest';
import { checkToken, deriveFingerprint, deriveSessionId, issueToken } from '../../server/collector/tokens';

const key = Buffer.alloc(32, 7);
const DEVICE = 'ab'.repeat(16);
const NONCE = 'cd'.repeat(16);

it('a device has another fingerprint in each integration, and none tells its id', () => {
  const fingerprints = ['int_1', 'int_2'].map((integrationId) => deriveFingerprint(key, integrationId, DEVICE));
  expect(new Set(fingerprints).size).toBe(2);
  expect(deriveFingerprint(key, 'int_1', DEVICE)).toBe(fingerprints[0]);
  expect(deriveFingerprint(Buffer.alloc(32, 8), 'int_1', DEVICE)).not.toBe(fingerprints[0]);
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^(?!.*(ab){4})[\da-f]{32}$/);
});

it('a nonce begins another session on each site', () => {
  const ids = ['ste_1', 'ste_2'].map((siteId) => deriveSessionId(key, siteId, NONCE));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^ses_[\w-]{24}$/);
});

const HOUR_MS = 3_600_000;
const ISSUED_MS = 1_800_000_000_000;

it.each([
  ['at once', 0, 'valid'],
  ['after eight hours', 8 * HOUR_MS, 'valid'],
  ['a second later', 8 * HOUR_MS + 1_000, 'expired'],
  ['by a clock that is hours behind', -2 * HOUR_MS, 'valid'],
])('a token is checked %s', (_, afterMs, expected) => {
  const scope = { integrationId: 'int_1', sessionId: 'ses_1' };
  const token = issueToken(key, scope, ISSUED_MS);
  const check = (...[ofScope, text]: [typeof scope, string | undefined]) =>
    checkToken(key, ofScope, text, ISSUED_MS + afterMs);
  expect(check(scope, token)).toBe(expected);
  expect(check({ ...scope, sessionId: 'ses_2' }, token)).toBe('invalid');
  expect(check({ ...scope, integrationId: 'int_2' }, token)).toBe('invalid');
  expect(check(scope, `1${token}`)).toBe('invalid');
  expect(check(scope, undefined)).toBe('invalid');
});
