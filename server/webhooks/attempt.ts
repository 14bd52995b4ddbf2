import type { Secrets } from '../platform/secrets';
import type { AttemptRecord, ClaimedDelivery } from './deliveries';
import type { PostResult, WebhookClient } from './http-client';
import { judgeAttempt, judgeTest, type Outcome } from './retry-schedule';
import { signMessage, signPayload } from './signature';

/** Names the subscription that a sealed signing secret belongs to. The secret cannot be opened for any other. */
export const nameSecretContext = (integrationId: string, subscriptionId: string) =>
  `webhook-secret:${integrationId}:${subscriptionId}`;

export interface AttemptDependencies {
  secrets: Secrets;
  client: WebhookClient;
  retryDelaysMs: number[];
  timeoutMs: number;
}

/**
 * Signs and posts one attempt (specification: Delivery request) and decides its outcome. A failure of the receiver is a
 * value, not an error. Returns null if `signal` (our own shutdown) aborted the attempt; it does not count then.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptRecord | null> {
  const { deliveryId, integrationId, subscriptionId, lease, attempt, isTest } = delivery;
  const record = { deliveryId, integrationId, subscriptionId, lease, attempt, isTest };
  const startedAt = new Date();
  const started = performance.now();
  const signingSecrets = openSecrets(dependencies.secrets, delivery);
  if (signingSecrets === null) {
    // Our side can never send this delivery.
    const outcome: Outcome = { status: 'PoisonAborted', failureClass: null, retryDelayMs: null };
    return {
      startedAt: null,
      durationMs: 0,
      httpStatus: null,
      address: null,
      retryAfter: null,
      errorCode: null,
      answer: null,
      ...record,
      ...outcome,
    };
  }
  const result = await dependencies.client.post({
    url: delivery.url,
    body: delivery.payload,
    headers: makeSignedHeaders(signingSecrets, delivery, startedAt),
    timeoutMs: dependencies.timeoutMs,
    signal,
  });
  if (result.kind === 'aborted') return null;
  return {
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - started),
    httpStatus: result.kind === 'response' ? result.status : null,
    address: result.address,
    retryAfter: result.kind === 'response' ? result.retryAfter : null,
    errorCode: toErrorCode(result),
    answer: 'answer' in result ? (result.answer ?? null) : null,
    ...record,
    ...(isTest ? judgeTest(result) : judgeAttempt(result, attempt, dependencies.retryDelaysMs)),
  };
}

/**
 * Names what went wrong in an attempt, for people: the code of Node's error, or one of ours for what has none. After a space comes
 * the date that makes a certificate invalid. Null if it was delivered.
 */
export function toErrorCode(result: Exclude<PostResult, { kind: 'aborted' }>): string | null {
  switch (result.kind) {
    case 'response':
      return result.status >= 200 && result.status < 300 ? null : `HTTP_${result.status}`;
    case 'refused-address':
      return result.address === null ? 'ERR_FORBIDDEN_URL' : 'ERR_FORBIDDEN_ADDRESS';
    case 'timeout':
      return `ERR_TIMEOUT_${result.awaited.toUpperCase()}`;
    case 'network':
      return [result.reason, result.certificateDate].filter(Boolean).join(' ').slice(0, MAX_ERROR_CODE_LENGTH);
  }
}

const MAX_ERROR_CODE_LENGTH = 128;

/** The current secret and, in the grace period of a rotation, the one before. */
export type SigningSecrets = [current: string, ...previous: string[]];

/**
 * Makes the headers of an attempt that begins at `startedAt` (specification: Delivery request), and those of Standard Webhooks, whose
 * message is our delivery.
 */
export function makeSignedHeaders(
  signingSecrets: SigningSecrets,
  delivery: Pick<ClaimedDelivery, 'deliveryId' | 'subscriptionId' | 'payload' | 'isTest'> & { eventType: string },
  startedAt: Date,
): Record<string, string> {
  const { deliveryId, payload } = delivery;
  const timestamp = String(Math.floor(startedAt.getTime() / 1000));
  const [current, previous] = signingSecrets.map((secret) => signPayload(secret, timestamp, payload));
  return {
    'content-type': 'application/json',
    'user-agent': 'bot-detection-webhooks/1',
    'x-webhook-event': delivery.eventType,
    'x-webhook-id': delivery.subscriptionId,
    'x-webhook-delivery-id': deliveryId,
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': current!,
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': previous }),
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signingSecrets.map((secret) => signMessage(secret, deliveryId, timestamp, payload)).join(' '),
    ...(delivery.isTest ? { 'x-webhook-test': 'true' } : {}),
  };
}

/**
 * Decrypts a subscription's signing secrets. Returns null if that fails for the current one. A previous one from before a change of
 * APP_SECRET is left out, so that a rotation always repairs a subscription.
 */
export function openSecrets(
  secrets: Secrets,
  {
    integrationId,
    subscriptionId,
    secretSealed,
    previousSecretSealed,
  }: Pick<ClaimedDelivery, 'integrationId' | 'subscriptionId' | 'secretSealed' | 'previousSecretSealed'>,
): SigningSecrets | null {
  const open = (bytes: Buffer | null) => bytes && secrets.open(bytes, nameSecretContext(integrationId, subscriptionId));
  const current = open(secretSealed);
  const previous = open(previousSecretSealed);
  if (current === null) return null;
  return previous === null ? [current] : [current, previous];
}
