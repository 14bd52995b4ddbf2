import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecrets } from '../../server/platform/secrets';

const secrets = createSecrets(randomBytes(32));
const PLAIN = 'whsec_0123456789';

describe('a sealed secret', () => {
  it('can be opened in its own context', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (plain, context) => {
        expect(secrets.open(secrets.seal(plain, context), context)).toBe(plain);
      }),
    );
  });

  it('can be opened from bytes that a database returned, in another process with the same APP_SECRET', () => {
    const appSecret = randomBytes(32);
    const sealed = createSecrets(appSecret).seal(PLAIN, 'a');
    expect(createSecrets(Buffer.from(appSecret)).open(new Uint8Array(sealed), 'a')).toBe(PLAIN);
  });

  it('cannot be opened in another context', () => {
    const sealed = secrets.seal(PLAIN, 'integration-1:webhook-1');
    for (const context of ['integration-1:webhook-2', 'integration-2:webhook-1', '', 'integration-1:webhook-1 '])
      expect(secrets.open(sealed, context)).toBeNull();
  });

  it('cannot be opened with another APP_SECRET', () => {
    expect(createSecrets(randomBytes(32)).open(secrets.seal(PLAIN, 'a'), 'a')).toBeNull();
  });

  it('cannot be opened after any bit of it was changed', () => {
    const sealed = secrets.seal(PLAIN, 'a');
    for (let byte = 0; byte < sealed.length; byte++)
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(sealed);
        changed[byte]! ^= 1 << bit;
        expect(secrets.open(changed, 'a'), `byte ${byte} bit ${bit}`).toBeNull();
      }
  });

  it('cannot be opened if it was shortened or extended', () => {
    const sealed = secrets.seal(PLAIN, 'a');
    for (let length = 0; length < sealed.length; length++)
      expect(secrets.open(sealed.subarray(0, length), 'a'), `${length} bytes`).toBeNull();
    expect(secrets.open(Buffer.concat([sealed, Buffer.of(0)]), 'a')).toBeNull();
  });

  it('is different each time and never contains its text', () => {
    const all = Array.from({ length: 100 }, () => secrets.seal(PLAIN, 'a'));
    expect(new Set(all.map((sealed) => sealed.toString('hex'))).size).toBe(100);
    for (const sealed of all) expect(sealed.includes(PLAIN)).toBe(false);
  });
});

describe('the key that signs cursors', () => {
  it('depends only on the APP_SECRET, and is not the APP_SECRET itself', () => {
    const appSecret = randomBytes(32);
    const { cursorKey } = createSecrets(appSecret);
    expect(cursorKey.equals(createSecrets(appSecret).cursorKey)).toBe(true);
    expect(cursorKey.equals(createSecrets(randomBytes(32)).cursorKey)).toBe(false);
    expect(cursorKey.equals(appSecret)).toBe(false);
    expect(cursorKey).toHaveLength(32);
  });
});
