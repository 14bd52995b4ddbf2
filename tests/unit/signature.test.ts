import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, signMessage, signPayload } from '../../server/webhooks/signature';
import vectors from '../vectors/signature.json';

describe('signPayload', () => {
  it.each(vectors.vectors)('signs $body as the vectors say', ({ body, signature }) => {
    expect(signPayload(vectors.secret, vectors.timestamp, body)).toBe(signature);
  });

  it('is lowercase hex of HMAC-SHA256 over <timestamp>.<body>, keyed with the UTF-8 of the whole secret', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 2 ** 33 }), text, (secret, timestamp, body) => {
        const bytes = Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(body, 'utf8')]);
        const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(bytes).digest('hex');
        expect(signPayload(secret, String(timestamp), body)).toBe(`sha256=${expected}`);
      }),
    );
  });

  it('changes with the secret, the timestamp and the body', () => {
    const signatures = [
      signPayload('a', '1', 'x'),
      signPayload('b', '1', 'x'),
      signPayload('a', '2', 'x'),
      signPayload('a', '1', 'y'),
      signPayload('a', '1', 'x '),
    ];
    expect(new Set(signatures).size).toBe(signatures.length);
  });
});

describe('signMessage', () => {
  it.each(['', 'whsec_'])('signs as a library of Standard Webhooks does, with base64 after "%s"', (prefix) => {
    const secret = `${prefix}dGhlIDMyIGJ5dGVzIG9mIHRoZSBvcGVyYXRvci4uLi4=`;
    const signature = new Webhook(secret).sign('id', new Date(5_000), '{}');
    expect(signMessage(secret, 'id', '5', '{}')).toBe(signature);
  });
});

describe('createWebhookSecret', () => {
  it('is whsec_ and 32 random bytes in standard base64', () => {
    const secrets = Array.from({ length: 200 }, createWebhookSecret);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(secrets.length);
  });
});
