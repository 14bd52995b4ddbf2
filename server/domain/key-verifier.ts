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

/** A statement that counts a key, and the requests with that key that came since. */
interface Turn {
  beganMs: number;
  waiting: Caller[];
  /** Lets those who wait have their turn. */
  end(): void;
  /** Set while somebody waits. */
  timer?: NodeJS.Timeout;
}

/**
 * Creates the process's verifier. While a request with a key is counted, further ones with the same key wait and are counted
 * together by the next statement. One by one they would wait in Postgres, for the lock of the same counter.
 */
export function createKeyVerifier(dependencies: VerifierDependencies): KeyVerifier {
  const turns = new Map<string, Turn>();

  function takeTurn(name: string, presented: PresentedKey, count: number): Promise<(VerifiedKey | null)[]> {
    const turn: Turn = { beganMs: performance.now(), waiting: [], end };
    function end() {
      if (turns.get(name) !== turn) return;
      clearTimeout(turn.timer);
      if (turn.waiting.length === 0) turns.delete(name);
      else void verifyGroup(name, presented, turn.waiting);
    }
    turns.set(name, turn);
    const verifying = verifyTogether(dependencies, presented, count);
    verifying.then(end, end);
    return verifying;
  }

  async function verifyGroup(name: string, presented: PresentedKey, group: Caller[]): Promise<void> {
    try {
      const verified = await takeTurn(name, presented, group.length);
      for (const [index, { resolve }] of group.entries()) resolve(verified[index]!);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (presented) => {
    const name = `${presented.scheme} ${presented.key}`;
    const turn = turns.get(name);
    if (!turn) return takeTurn(name, presented, 1).then(([only]) => only!);
    return new Promise((resolve, reject) => {
      turn.waiting.push({ resolve, reject });
      turn.timer ??= setTimeout(turn.end, Math.max(0, turn.beganMs + MAX_HOLD_MS - performance.now()));
    });
  };
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
  const [row] = await (count === 1
    ? db.lookUp<KeyRow>(VERIFY_ONE, [hash, scheme === 'bearer'])
    : db.lookUp<KeyRow>(VERIFY_MANY, [hash, scheme === 'bearer', count]));
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
      rateLimit: { policy, limitPerMinute, remaining, isExceeded, resetSeconds: row.reset_seconds },
      ...verified,
    };
  });
}

/** A SQL expression (`case … end`) for the tier of a plan, built from PLANS. */
const TIER_OF_PLAN = `case i.plan ${Object.entries(PLANS)
  .map(([plan, { tier }]) => `when '${plan}' then '${tier}'`)
  .join(' ')} end`;

/** The statement that finds a key and counts `count` requests, an expression of SQL. */
const verifyAndCount = (count: string) => `
  with found as (
    select k.id, k.hash, k.first4, k.last4, k.scopes, k.integration_id, i.plan, i.medium_at, i.bot_at, ${TIER_OF_PLAN} as tier
      from api_keys k join integrations i on i.id = k.integration_id
     where k.hash = $1 and ${IS_USABLE}),
  counted as (
    insert into rate_windows as w (bucket, window_start, requests)
    select case when $2::boolean then 'key:' || id else 'tier:' || tier end, date_trunc('minute', now()), ${count} from found
        on conflict (bucket, window_start) do update set requests = w.requests + ${count}
    returning requests)
  select found.*, counted.requests,
         ceil(60 - extract(second from now()))::int as reset_seconds
    from found, counted`;
/** A parameter for the number would cost a lone request a sixth more. */
const VERIFY_ONE = verifyAndCount('1');
const VERIFY_MANY = verifyAndCount('$3::int');
