import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Creates a signing secret: `whsec_` and 32 random bytes in base64. Both signatures are made with it. */
export const createWebhookSecret = () => PREFIX + randomBytes(32).toString('base64');

/**
 * Signs a delivery (specification: Delivery request): lowercase hex of HMAC-SHA256 over `<timestamp>.<raw body>`.
 * The HMAC key is the UTF-8 of the whole secret. `timestamp` is in Unix seconds, as sent in X-Webhook-Timestamp.
 */
export function signPayload(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/**
 * Signs a delivery as Standard Webhooks 1.0 does: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<raw body>`. The
 * HMAC key is the bytes that the secret encodes: 32, or what the operator chose, whose secret may have no prefix.
 */
export function signMessage(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
