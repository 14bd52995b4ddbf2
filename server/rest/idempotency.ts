import { configure } from 'safe-stable-stringify';
import { ApiError } from '../../contract/errors';
import type { Database } from '../../db/client';
import { runUnitOfWork } from '../../db/unit-of-work';
import {
  claimIdempotencyKey,
  IDEMPOTENCY_KEY,
  releaseIdempotencyKey,
  storeIdempotentAnswer,
} from '../domain/idempotency-keys';
import type { VerifiedKey } from '../domain/key-verifier';
import type { Service } from '../service';
import type { RestRequest } from './request';
import type { Route } from './routes';

/** No valid input is nested so deeply. What is deeper is not looked at, and refused later. */
const MAX_DEPTH = 16;
const writeValue = configure({ maximumDepth: MAX_DEPTH });

const PRINTABLE_ASCII = /^[ -~]{1,255}$/;

/** Reads the idempotency key of a POST. Returns null if it has none. Other methods need none, so there it means nothing. */
export function readIdempotencyKey(route: Route, request: RestRequest): string | null {
  const key = route.method === 'POST' ? request.header('idempotency-key') : null;
  if (key === null || PRINTABLE_ASCII.test(key)) return key;
  const message = `${IDEMPOTENCY_KEY} must have 1 to 255 printable ASCII characters`;
  throw new ApiError('INVALID_REQUEST', message, { field: IDEMPOTENCY_KEY });
}

/**
 * Runs a request that has an idempotency key, once: a repeat gets the result of the first one, without the secret that was shown once.
 * Effect and result are committed together, so neither exists without the other. A request that fails leaves nothing. One that is long
 * commits on its way: its result follows.
 */
export async function runOnce(
  service: Service,
  { integration, keyId }: VerifiedKey,
  { route, input, key }: { route: Route; input: object; key: string },
  run: (service: Service) => Promise<unknown>,
): Promise<{ result: unknown; isReplayed: boolean }> {
  const content = `${route.method} ${route.template} ${writeInput(input)}`;
  const request = { integrationId: integration.id, apiKeyId: keyId, key, content };
  const claim = await claimIdempotencyKey(service, request);
  if (claim.kind === 'answered') return { result: JSON.parse(claim.answer).result, isReplayed: true };
  const runAndStore = async (bound: Service) => {
    const result = await run(bound);
    await storeIdempotentAnswer(bound, request, claim.token, JSON.stringify({ result: hideSecret(result) }));
    return result;
  };
  try {
    const result = await (route.meta.isLong ? runAndStore(service) : runInUnit(service, runAndStore));
    return { result, isReplayed: false };
  } catch (error) {
    // If this fails too, the claim expires.
    await releaseIdempotencyKey(service, request, claim.token).catch(() => {});
    throw error;
  }
}

/** Writes an input, whose fields are in the order of the contract, so that equal ones are equal texts: within fields, order means nothing. */
const writeInput = (input: object) =>
  `{${Object.entries(input).map(([name, value]) => `${JSON.stringify(name)}:${writeValue(value)}`)}}`;

/** Empties the secret, if there is one. It stays a text, as the document says; an empty one signs nothing. */
const hideSecret = (result: unknown) =>
  typeof result === 'object' && result !== null && 'secret' in result ? { ...result, secret: '' } : result;

/** Runs work with a service whose database is one transaction. What wakes others waits for the commit. */
async function runInUnit<Result>(service: Service, work: (bound: Service) => Promise<Result>): Promise<Result> {
  const afterCommit: (() => void)[] = [];
  const { dispatcher, alertRules } = service;
  const bind = (db: Database): Service => ({
    ...service,
    db,
    dispatcher: {
      ...dispatcher,
      publisher: {
        ...dispatcher.publisher,
        publish: (subscriptions) => void afterCommit.push(() => dispatcher.publisher.publish(subscriptions)),
      },
    },
    alertRules: {
      ...alertRules,
      noteChanges: (integrationIds) => void afterCommit.push(() => alertRules.noteChanges(integrationIds)),
    },
  });
  const result = await runUnitOfWork(service.db, (db) => work(bind(db)));
  for (const act of afterCommit) act();
  return result;
}
