import type { webhooks } from './schema.js';

// Verifies deliveries. It needs WebCrypto alone, so it works in Node, Deno, Bun and on edge runtimes.

const TOLERANCE_SECONDS = 300;

/** The kinds of deliveries: the event types, and `TestDelivery`. */
export type DeliveryType = keyof webhooks;

/** The body of a delivery of a type. */
export type DeliveryPayload<Type extends DeliveryType> =
  webhooks[Type]['post']['requestBody']['content']['application/json'];

interface Delivery<Type extends DeliveryType> {
  type: Type;
  payload: DeliveryPayload<Type>;
  /** The same on every attempt: dedupe on it. */
  deliveryId: string;
  /** The subscription. */
  webhookId: string;
  /** When this attempt was signed. */
  sentAt: Date;
}

/** A genuine delivery. `type` decides what `payload` is; a test has the type of its subscription in `payload.eventType`. */
export type ReceivedDelivery = { [Type in DeliveryType]: Delivery<Type> }[DeliveryType];

/** Headers of any server: those of a fetch Request, or of node:http, each as a text or as a list of texts. */
export type ReceivedHeaders = Pick<Headers, 'get'> | Record<string, string | string[] | undefined>;

export interface ReceivedRequest {
  /** The raw bytes as they arrived, or their text; never parsed JSON that was serialised again. */
  body: string | Uint8Array;
  headers: ReceivedHeaders;
  /** The secrets of the subscription: one, or several while one is exchanged for another. */
  secrets: readonly string[];
  /** The current time in Unix milliseconds. */
  nowMs?: number;
}

/** Why a delivery is refused, and the status to answer. */
const REFUSALS = {
  'missing-header': { status: 400, message: 'a webhook header is missing or malformed' },
  'bad-body': { status: 400, message: 'the body is no JSON object, or too large' },
  stale: { status: 401, message: `the timestamp is more than ${TOLERANCE_SECONDS} seconds from the current time` },
  'bad-signature': { status: 401, message: 'no signature matches' },
} as const;

/** The request is no genuine delivery. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly reason: keyof typeof REFUSALS;
  /** The HTTP status to answer: 400 or 401. Neither is retried. */
  readonly status: 400 | 401;

  constructor(reason: keyof typeof REFUSALS) {
    super(REFUSALS[reason].message);
    this.reason = reason;
    this.status = REFUSALS[reason].status;
  }
}

/**
 * Verifies a delivery and returns it. `X-Webhook-Signature` or, in the grace period of a rotation, `X-Webhook-Signature-Previous`
 * must match one of the secrets. Throws WebhookVerificationError for what is not genuine, and TypeError for wrong arguments.
 */
export async function verifyWebhook({
  body,
  headers,
  secrets,
  nowMs = Date.now(),
}: ReceivedRequest): Promise<ReceivedDelivery> {
  if (secrets.length === 0 || secrets.some((secret) => typeof secret !== 'string' || secret === ''))
    throw new TypeError('secrets must have a secret, and no empty one');
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the raw bytes or their text, not parsed JSON');
  const [type, webhookId, deliveryId, timestamp] = [
    ...['x-webhook-event', 'x-webhook-id', 'x-webhook-delivery-id', 'x-webhook-timestamp'],
  ].map((name) => readHeader(headers, name) ?? refuse('missing-header')) as [string, string, string, string];
  if (!/^[0-9]{1,12}$/.test(timestamp)) refuse('missing-header');
  const signatures = [readHeader(headers, 'x-webhook-signature') ?? refuse('missing-header')];
  const previous = readHeader(headers, 'x-webhook-signature-previous');
  if (previous !== null) signatures.push(previous);
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) refuse('stale');

  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = joinBytes(new TextEncoder().encode(`${timestamp}.`), bytes);
  const digests = await Promise.all(secrets.map((secret) => computeDigest(secret, signed)));
  if (!signatures.some((signature) => digests.some((digest) => equalsDigest(signature, digest))))
    refuse('bad-signature');

  const payload = parseObject(bytes);
  const sentAt = new Date(Number(timestamp) * 1000);
  // No header except the timestamp is signed, so the body decides whether it is a test.
  const delivery = { type: isTest(payload) ? 'TestDelivery' : type, payload, deliveryId, webhookId, sentAt };
  return delivery as unknown as ReceivedDelivery;
}

function refuse(reason: keyof typeof REFUSALS): never {
  throw new WebhookVerificationError(reason);
}

function readHeader(headers: ReceivedHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string') return value;
  return value?.length === 1 ? value[0]! : null;
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** HMAC-SHA256, keyed with the UTF-8 of the whole secret. */
async function computeDigest(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
}

/** Compares without telling by its time where the first difference is. */
function equalsDigest(signature: string, digest: Uint8Array): boolean {
  const expected = `sha256=${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  let difference = signature.length ^ expected.length;
  for (let at = 0; at < expected.length; at++) difference |= signature.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

type JsonObject = Record<string, unknown>;

function parseObject(bytes: Uint8Array): JsonObject {
  try {
    const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload as JsonObject;
  } catch {} // it is no JSON
  return refuse('bad-body');
}

const isTest = ({ eventType, data }: JsonObject) =>
  typeof eventType === 'string' && (data as JsonObject | undefined | null)?.test === true;

/** What the receivers for Express, Fastify and Next take. */
export interface ReceiverOptions {
  /** The secrets of the subscription: one, or several while one is exchanged for another. */
  secrets: readonly string[];
  /** Stores a genuine delivery. If it throws, the delivery is sent again later. A delivery can arrive more than once. */
  onDelivery(delivery: ReceivedDelivery): void | Promise<void>;
}

/**
 * Verifies a delivery, hands it over and returns the status and text to send: 204, or 400 or 401 for what is not genuine. A body
 * that is too large is null. Throws what `onDelivery` throws.
 */
export async function receiveDelivery(
  { secrets, onDelivery }: ReceiverOptions,
  { body, headers }: { body: string | Uint8Array | null; headers: ReceivedHeaders },
): Promise<{ status: 204 | 400 | 401; text: string }> {
  let delivery: ReceivedDelivery;
  try {
    delivery = await verifyWebhook({ body: body ?? refuse('bad-body'), headers, secrets });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { status: error.status, text: error.message };
    throw error;
  }
  await onDelivery(delivery);
  return { status: 204, text: '' };
}

const MAX_BODY_BYTES = 1024 * 1024;
const FIRST_BYTES = 16_384;

/** Reads a raw body. Returns null if it is over 1 MiB: many times what a delivery has. */
export async function readBody(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  let body = new Uint8Array(FIRST_BYTES);
  let size = 0;
  for await (const chunk of chunks) {
    const at = size;
    size += chunk.length;
    // The rest of what is too large is read and dropped, so that the answer arrives.
    if (size > MAX_BODY_BYTES) continue;
    if (size > body.length) {
      // Twice as long, so that a body in small chunks, as anybody can send it, is not copied for each of them.
      const longer = new Uint8Array(2 * size);
      longer.set(body);
      body = longer;
    }
    body.set(chunk, at);
  }
  return size <= MAX_BODY_BYTES ? body.subarray(0, size) : null;
}
