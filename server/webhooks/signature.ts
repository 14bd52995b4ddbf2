import { createHmac, randomBytes } from 'node:crypto';

/** Creates a signing secret: `whsec_` and 32 random bytes in base64. The HMAC key is the UTF-8 of the whole string. */
export const createWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Signs a delivery (specification: Delivery request): lowercase hex of HMAC-SHA256 over `<timestamp>.<raw body>`.
 * `timestamp` is in Unix seconds, as sent in X-Webhook-Timestamp.
 */
export function signPayload(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
