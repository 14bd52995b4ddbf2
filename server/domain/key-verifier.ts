import { timingSafeEqual } from 'node:crypto';
import type { KeyScope } from '../../contract/integrations';
import { PLANS, type Tier } from '../../contract/tiers';
import type { Database } from '../../db/client';
import type { Env } from '../platform/env';
import { hashKey, IS_USABLE, isWellFormed, maskKey } from './api-keys';
import type { IntegrationScope } from './context';

/** A statement that takes longer than this holds up no further requests, because its connection may be dead. */
const MAX_HOLD_MS = 250;

/** A key as the request presents it. A Bearer key has its own rate limit; keys in `x-api-key` share one per tier. */
export interface PresentedKey {
  key: string;
  scheme: 'bearer' | 'x-api-key';
}

/** The rate-limit window of a request. `remaining` is never below 0. */
export interface RateLimit {
  policy: 'key' | 'shared';
  limitPerMinute: number;
  remaining: number;
  isExceeded: boolean;
  /** Whole seconds until the next window, at least 1. */
  resetSeconds: number;
}

export interface VerifiedKey {
  integration: IntegrationScope;
  keyId: string;
  apiKeyMasked: string;
  scopes: KeyScope[];
  rateLimit: RateLimit;
}

/**
 * Verifies a key and counts the request in its rate-limit window, in one round trip (specification: Authentication, Rate
 * limiting). Returns null for a malformed, unknown, revoked or expired key. These all cost the same look-up and are not counted.
 */
export type KeyVerifier = (presented: PresentedKey) => Promise<VerifiedKey | null>;

type VerifierDependencies = { db: Database; quotas: Env['quotas'] };

interface Caller {
  resolve(verified: VerifiedKey | null): void;
  reject(error: unknown): void;
}

/**
 * Creates the process's verifier. While a request with a key is counted, further ones with the same key wait and are counted
 * together by the next statement. One by one they would wait in Postgres, for the lock of the same counter.
 */
export function createKeyVerifier(dependencies: VerifierDependencies): KeyVerifier {
  /** Those who wait, by key, for the keys of which a statement runs. */
  const queues = new Map<string, Caller[]>();

  async function verifyGroup(presented: PresentedKey, group: Caller[]): Promise<void> {
    try {
      const verified = await verifyTogether(dependencies, presented, group.length);
      for (const [index, { resolve }] of group.entries()) resolve(verified[index]!);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  async function processQueue(name: string, presented: PresentedKey, first: Caller): Promise<void> {
    for (let group = [first]; group.length > 0; group = queues.get(name)!) {
      queues.set(name, []);
      await settleWithin(verifyGroup(presented, group), MAX_HOLD_MS);
    }
    queues.delete(name);
  }

  return (presented) =>
    new Promise((resolve, reject) => {
      const name = `${presented.scheme} ${presented.key}`;
      const queue = queues.get(name);
      if (queue) queue.push({ resolve, reject });
      else void processQueue(name, presented, { resolve, reject });
    });
}

/** Resolves when `work` has, or after `ms`. */
function settleWithin(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

interface KeyRow {
  id: string;
  hash: Buffer;
  first4: string;
  last4: string;
  scopes: KeyScope[];
  integration_id: string;
  plan: keyof typeof PLANS;
  medium_at: number;
  bot_at: number;
  requests: number;
  reset_seconds: number;
}

/** Verifies a key for a number of requests. Returns what holds for each, in their order. */
async function verifyTogether(
  { db, quotas }: VerifierDependencies,
  { key, scheme }: PresentedKey,
  count: number,
): Promise<(VerifiedKey | null)[]> {
  const hash = hashKey(key);
  const [row] = await db.query<KeyRow>(VERIFY, [hash, scheme === 'bearer', count]);
  if (!row || !isWellFormed(key) || !timingSafeEqual(row.hash, hash)) return Array<null>(count).fill(null);
  const { tier } = PLANS[row.plan];
  const verified = {
    integration: {
      id: row.integration_id,
      plan: row.plan,
      tier: tier satisfies Tier,
      mediumAt: row.medium_at,
      botAt: row.bot_at,
    },
    keyId: row.id,
    apiKeyMasked: maskKey(row),
    scopes: row.scopes,
  };
  const policy = scheme === 'bearer' ? 'key' : 'shared';
  const limitPerMinute = quotas[tier][policy];
  const before = row.requests - count;
  return Array.from({ length: count }, (_, index) => {
    const requests = before + index + 1;
    const remaining = Math.max(0, limitPerMinute - requests);
    const isExceeded = requests > limitPerMinute;
    return {
      ...verified,
      rateLimit: { policy, limitPerMinute, remaining, isExceeded, resetSeconds: row.reset_seconds },
    };
  });
}

/** A SQL expression (`case … end`) for the tier of a plan, built from PLANS. */
const TIER_OF_PLAN = `case i.plan ${Object.entries(PLANS)
  .map(([plan, { tier }]) => `when '${plan}' then '${tier}'`)
  .join(' ')} end`;

const VERIFY = `
  with found as (
    select k.id, k.hash, k.first4, k.last4, k.scopes, k.integration_id, i.plan, i.medium_at, i.bot_at, ${TIER_OF_PLAN} as tier
      from api_keys k join integrations i on i.id = k.integration_id
     where k.hash = $1 and ${IS_USABLE}),
  counted as (
    insert into rate_windows as w (bucket, window_start, requests)
    select case when $2::boolean then 'key:' || id else 'tier:' || tier end, date_trunc('minute', now()), $3::int from found
        on conflict (bucket, window_start) do update set requests = w.requests + excluded.requests
    returning requests)
  select found.*, counted.requests,
         ceil(60 - extract(second from now()))::int as reset_seconds
    from found, counted`;
