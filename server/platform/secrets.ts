import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT_VERSION = 1;

/** The uses of APP_SECRET. Each has its own derived key. */
export interface Secrets {
  /** Encrypts a text with AES-256-GCM. Decryption needs the same `context`, which names what the text belongs to. */
  seal(plain: string, context: string): Buffer;
  /** Returns null if the sealed bytes were changed, belong to another context, or were sealed under another APP_SECRET. */
  open(sealed: Uint8Array, context: string): string | null;
  /** Signs pagination cursors. */
  cursorKey: Buffer;
  /** Hashes the tokens of staff sessions. */
  staffSessionKey: Buffer;
  /** Hashes the tokens of invitations and password links. */
  invitationKey: Buffer;
  /** Hashes the idempotency keys of requests, and their contents. */
  idempotencyKey: Buffer;
  /** Derives session ids, device fingerprints, hashes of addresses and the tokens of pages. */
  collectorKey: Buffer;
  /** Hashes the ids of users who were erased. */
  erasureKey: Buffer;
}

/** Derives the process's keys from APP_SECRET (32 bytes). */
export function createSecrets(appSecret: Buffer): Secrets {
  if (appSecret.length !== 32) throw new Error('APP_SECRET must be 32 bytes');
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', appSecret, '', purpose, 32));
  const sealingKey = derive('secrets-at-rest');
  return {
    cursorKey: derive('pagination-cursors'),
    staffSessionKey: derive('staff-sessions'),
    invitationKey: derive('staff-invitations'),
    idempotencyKey: derive('idempotency-keys'),
    collectorKey: derive('collector'),
    erasureKey: derive('erased-users'),
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORMAT_VERSION), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      if (bytes[0] !== FORMAT_VERSION) return null;
      const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
      const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
      const body = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', sealingKey, nonce, { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(context))
          .setAuthTag(tag);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}
