import { expect, it } from 'vitest';
import { deriveFingerprint, deriveSessionId } from '../../server/collector/tokens';

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
