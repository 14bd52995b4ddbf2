import { createHmac } from 'node:crypto';
import { ApiError } from '../../contract/errors';
import type { Database } from '../../db/client';
import type { Secrets } from '../platform/secrets';
import { BATCH_SIZE, findOld, removeBatches, selectOldest } from './retention';

// The keys that customers give to requests, so that a request that is sent again has no second effect. A request claims its key before
// it runs, and stores its answer in the transaction of its effect. If a process dies in between, its claim expires.

/** The header, as messages name it. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** A request with a key. Key and content are stored as keyed hashes: both may contain anything. */
export interface IdempotentRequest {
  integrationId: string;
  apiKeyId: string;
  /** What the customer sent. */
  key: string;
  /** Route, path and body. */
  content: string;
}

/** A request that may run, or the answer that it had. */
export type Claim = { kind: 'claimed'; token: string } | { kind: 'answered'; answer: string };

interface ClaimRow {
  token: string | null;
  isSame: boolean | null;
  answer: Buffer | null;
}

type Dependencies = { db: Database; secrets: Secrets };
type KeyParameters = [integrationId: string, apiKeyId: string, keyHash: Buffer];

const toKeyHash = ({ secrets }: Dependencies, text: string) =>
  createHmac('sha256', secrets.idempotencyKey).update(text).digest();
const toParameters = (
  dependencies: Dependencies,
  { integrationId, apiKeyId, key }: IdempotentRequest,
): KeyParameters => [integrationId, apiKeyId, toKeyHash(dependencies, key)];
const toContext = (parameters: KeyParameters) => `idempotent-answer:${parameters.map(String).join(':')}`;

/**
 * Claims the key of a request, or finds the answer of an earlier one. INVALID_REQUEST if the key belongs to another request,
 * RATE_LIMITED while the first one is under way.
 */
export async function claimIdempotencyKey(dependencies: Dependencies, request: IdempotentRequest): Promise<Claim> {
  const parameters = toParameters(dependencies, request);
  const contentHash = toKeyHash(dependencies, request.content);
  const [row] = await dependencies.db.query<ClaimRow>(CLAIM, [...parameters, contentHash]);
  const { token, isSame, answer } = row!;
  if (token !== null) return { kind: 'claimed', token };
  if (isSame === false) {
    const message = `${IDEMPOTENCY_KEY} belongs to another request of the last 24 hours`;
    throw new ApiError('INVALID_REQUEST', message, { field: IDEMPOTENCY_KEY });
  }
  if (answer === null) {
    const message = `The first request with this ${IDEMPOTENCY_KEY} is under way`;
    throw new ApiError('RATE_LIMITED', message, { retryAfterSeconds: 1 });
  }
  const opened = dependencies.secrets.open(answer, toContext(parameters));
  // Another APP_SECRET would not have found the row. Its bytes were changed.
  if (opened === null) throw new Error('the kept answer of an idempotency key cannot be opened');
  return { kind: 'answered', answer: opened };
}

/** Longer than any request takes. After that, the process that claimed the key is gone. */
const CLAIM_SECONDS = 60;
const KEPT_HOURS = 24;

// A row that this statement does not see was inserted since it began, so its request is under way.
const CLAIM = `
  with claimed as (
    insert into idempotency_keys as k (integration_id, api_key_id, key_hash, content_hash, claim, claimed_until)
    values ($1, $2, $3, $4, gen_random_uuid(), now() + interval '${CLAIM_SECONDS} s')
        on conflict (integration_id, api_key_id, key_hash) do update
           set content_hash = excluded.content_hash, claim = excluded.claim, claimed_until = excluded.claimed_until,
               answer_sealed = null, created_at = now()
         where k.created_at <= now() - interval '${KEPT_HOURS} h' or (k.answer_sealed is null and k.claimed_until <= now())
    returning claim)
  select claimed.claim as token, k.content_hash = $4 as "isSame", k.answer_sealed as answer
    from (select) one left join claimed on true
    left join idempotency_keys k on k.integration_id = $1 and k.api_key_id = $2 and k.key_hash = $3`;

/** Stores the answer of a request. Throws SERVICE_UNAVAILABLE if the claim has expired and another request has taken the key. */
export async function storeIdempotentAnswer(
  dependencies: Dependencies,
  request: IdempotentRequest,
  token: string,
  answer: string,
): Promise<void> {
  const parameters = toParameters(dependencies, request);
  const sealed = dependencies.secrets.seal(answer, toContext(parameters));
  const stored = await dependencies.db.query(STORE, [...parameters, token, sealed]);
  if (stored.length === 0) throw new ApiError('SERVICE_UNAVAILABLE', 'The request took too long');
}

const STORE = `
  update idempotency_keys set answer_sealed = $5
   where integration_id = $1 and api_key_id = $2 and key_hash = $3 and claim = $4 returning 1`;

/** Releases the key of a request that failed, so that it can be used again. */
export async function releaseIdempotencyKey(
  dependencies: Dependencies,
  request: IdempotentRequest,
  token: string,
): Promise<void> {
  await dependencies.db.query(RELEASE, [...toParameters(dependencies, request), token]);
}

const RELEASE = `
  delete from idempotency_keys
   where integration_id = $1 and api_key_id = $2 and key_hash = $3 and claim = $4 and answer_sealed is null`;

/** Removes keys that are over 24 hours old, however many they are, because their end is promised. Returns how many. */
export async function pruneIdempotencyKeys(db: Database): Promise<number> {
  let pruned = 0;
  const oldest = selectOldest('idempotency_keys', 'created_at');
  for (const { id } of await findOld(db, oldest, `interval '${KEPT_HOURS} h'`))
    pruned += await removeBatches(db, PRUNE, [id]);
  return pruned;
}

const PRUNE = `
  with old as (
    select integration_id, api_key_id, key_hash from idempotency_keys
     where integration_id = $1 and created_at <= now() - interval '${KEPT_HOURS} h'
     order by created_at limit ${BATCH_SIZE} for update skip locked)
  delete from idempotency_keys k using old
   where k.integration_id = old.integration_id and k.api_key_id = old.api_key_id and k.key_hash = old.key_hash
  returning 1`;
