import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../contract/errors';
import { MIN_INSTANT_MS } from '../../contract/fields';
import type { Usage, UsageInput } from '../../contract/usage';
import type { Database } from '../../db/client';
import { composeRecordset } from '../../db/recordset';
import { apiKeys, usageDaily } from '../../db/schema';
import type { Env } from '../platform/env';
import type { Logger } from '../platform/log';
import type { DomainContext } from './context';
import { composeEntryFold } from './entry-folds';

const FLUSH_AFTER_MS = 2_000;
const SHARED_FLUSH_MS = 200;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
/** Stands for the template of requests that match no route. */
export const UNMATCHED_PATH = '(unmatched)';

type Counted = typeof usageDaily.$inferSelect;

/** Counts requests in memory and writes the counts every two seconds, so that no request waits for it. */
export interface UsageMeter {
  record(request: { integrationId: string; keyId: string; method: string; path: string; status: number }): void;
  /** Writes the counts so far. If that fails, it rejects and keeps the counts for the next time. */
  flush(): Promise<void>;
  /** Does the same a moment later, once for all calls until then: a write for each request would take a tenth of the machine. */
  flushSoon(): Promise<void>;
  /** Writes the remaining counts and starts no timer again. */
  close(): Promise<void>;
}

/** Creates the process's meter. */
export function createUsageMeter({ db, log }: { db: Database; log: Logger }): UsageMeter {
  let counts = new Map<string, Counted>();
  /** Used keys, with the time when their use was last written. */
  const usedKeys = new Map<string, UsedKey>();
  let timer: NodeJS.Timeout | null = null;
  let writing = Promise.resolve();
  let soon: Promise<void> | null = null;
  let isClosed = false;

  function add(counted: Counted) {
    const { integrationId, day, method, path } = counted;
    const key = `${integrationId}\n${day}\n${method}\n${path}`;
    const known = counts.get(key);
    if (!known) return void counts.set(key, counted);
    known.requests += counted.requests;
    known.clientErrors += counted.clientErrors;
    known.serverErrors += counted.serverErrors;
    known.rateLimited += counted.rateLimited;
  }

  async function write() {
    if (timer) clearTimeout(timer);
    timer = null;
    if (counts.size === 0) return;
    const taken = counts;
    counts = new Map();
    const keys = takeUsedKeys(usedKeys, performance.now());
    try {
      // Sorted, so that two processes lock the rows in the same order and cannot deadlock.
      const rows = [...taken].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted);
      await db.query(ADD, [
        JSON.stringify(rows),
        JSON.stringify(keys.map(({ integrationId, id }) => ({ integrationId, id }))),
      ]);
    } catch (error) {
      for (const key of keys) Object.assign(key, { isUsed: true, writtenAt: null });
      for (const counted of taken.values()) add(counted);
      schedule();
      throw error;
    }
  }

  /** Runs one write at a time. When it resolves, everything counted before the call is written. */
  function flush() {
    const written = writing.then(write);
    writing = written.catch(() => {});
    return written;
  }

  function flushSoon() {
    soon ??= sleep(SHARED_FLUSH_MS).then(() => {
      soon = null;
      return flush();
    });
    return soon;
  }

  function schedule() {
    if (isClosed || timer) return;
    timer = setTimeout(() => {
      flush().catch((error: unknown) =>
        log.warn({ err: error }, 'usage could not be written; it is kept for the next try'),
      );
    }, FLUSH_AFTER_MS);
  }

  return {
    record({ integrationId, keyId, method, path, status }) {
      const used = usedKeys.get(keyId);
      if (used) used.isUsed = true;
      else usedKeys.set(keyId, { integrationId, id: keyId, isUsed: true, writtenAt: null });
      const day = new Date().toISOString().slice(0, 10);
      add({
        integrationId,
        day,
        method,
        path,
        requests: 1,
        clientErrors: status >= 400 && status < 500 ? 1 : 0,
        serverErrors: status >= 500 ? 1 : 0,
        rateLimited: status === 429 ? 1 : 0,
      });
      schedule();
    },
    flush,
    flushSoon,
    async close() {
      isClosed = true;
      await flush().catch((error: unknown) => log.error({ err: error }, 'usage could not be written and is lost'));
    },
  };
}

interface UsedKey {
  integrationId: string;
  id: string;
  /** Whether the key was used since the last write. */
  isUsed: boolean;
  /** When the use was last written, in milliseconds of the process's clock; null if never. */
  writtenAt: number | null;
}

/** The use of a key is written at most this often. */
const WRITE_USE_AFTER_MS = 60_000;

/** Takes the keys whose use must be written now, and removes idle keys. */
function takeUsedKeys(keys: Map<string, UsedKey>, now: number): UsedKey[] {
  const due: UsedKey[] = [];
  for (const key of keys.values()) {
    if (key.writtenAt !== null && now - key.writtenAt < WRITE_USE_AFTER_MS) continue;
    if (!key.isUsed) {
      keys.delete(key.id);
      continue;
    }
    key.isUsed = false;
    key.writtenAt = now;
    due.push(key);
  }
  return due;
}

const COLUMNS: (keyof Counted)[] = [
  ...(['integrationId', 'day', 'method', 'path', 'requests', 'clientErrors', 'serverErrors', 'rateLimited'] as const),
];

/** Skips keys that another process is writing at the same time. That write records the use too, and nobody waits. */
const NOTE_KEYS = `
  noted as (
    update api_keys k set last_used_at = now()
      from (select k.integration_id, k.id from api_keys k
              join ${composeRecordset(apiKeys, '$2', 'r', ['integrationId', 'id'])}
                on k.integration_id = r."integrationId" and k.id = r.id
             where k.last_used_at is null or k.last_used_at < now() - interval '1 minute'
               for update of k skip locked) used
     where k.integration_id = used.integration_id and k.id = used.id)`;

const ADD = `
  with ${NOTE_KEYS}
  insert into usage_daily as u
         (integration_id, day, method, path, requests, client_errors, server_errors, rate_limited)
  select r."integrationId", r.day, r.method, r.path, r.requests, r."clientErrors", r."serverErrors", r."rateLimited"
    from ${composeRecordset(usageDaily, '$1', 'r', COLUMNS)}
      on conflict (integration_id, day, method, path) do update
     set requests = u.requests + excluded.requests, client_errors = u.client_errors + excluded.client_errors,
         server_errors = u.server_errors + excluded.server_errors, rate_limited = u.rate_limited + excluded.rate_limited`;

export type UsageContext = DomainContext & { usage: UsageMeter; quotas: Env['quotas'] };

/**
 * Shows the integration's consumption by whole UTC days, the last 30 by default (specification: GET /v1/usage).
 * INVALID_REQUEST for a range of over 366 days or one that ends before it starts.
 */
export async function getUsage(context: UsageContext, input: UsageInput): Promise<Usage> {
  const { integration, quotas } = context;
  const range = resolveRange(input, new Date());
  // The answer must contain what this process has counted so far.
  await context.usage.flush();
  const [row] = await context.db.query<UsageRow>(READ_USAGE, [integration.id, range.startDate, range.endDate]);
  return {
    ...range,
    ...row!.totals,
    byEndpoint: row!.byEndpoint,
    timeSeries: row!.timeSeries,
    webhookDeliveries: row!.webhookDeliveries,
    limits: { tier: integration.tier, requestsPerMinute: quotas[integration.tier].key },
  };
}

interface UsageRow extends Pick<Usage, 'byEndpoint' | 'timeSeries' | 'webhookDeliveries'> {
  totals: Omit<Usage, 'startDate' | 'endDate' | 'byEndpoint' | 'timeSeries' | 'webhookDeliveries' | 'limits'>;
}

/** Resolves the requested range, which begins at the start of a day. An error names the parameter that was given. */
export function resolveRange(input: UsageInput, now: Date): { startDate: string; endDate: string } {
  const end = input.endDate ? Date.parse(input.endDate.at) : now.getTime();
  const start = input.startDate
    ? Date.parse(input.startDate.at)
    : Math.max(MIN_INSTANT_MS, end - DEFAULT_DAYS * DAY_MS);
  const field = input.endDate ? 'endDate' : 'startDate';
  if (start > end)
    throw new ApiError('INVALID_REQUEST', `${field} makes a range that ends before it starts`, { field });
  if (end - start > MAX_DAYS * DAY_MS)
    throw new ApiError('INVALID_REQUEST', `${field} makes a range of more than ${MAX_DAYS} days`, { field });
  const startOfDay = Math.floor(start / DAY_MS) * DAY_MS;
  return { startDate: new Date(startOfDay).toISOString(), endDate: new Date(end).toISOString() };
}

/** A SQL condition: a day of the integration is in the range. */
const IS_IN_RANGE = `
  integration_id = $1 and day >= ($2::timestamptz at time zone 'UTC')::date and day < ($3::timestamptz at time zone 'UTC')`;

const READ_USAGE = `
  with u as materialized (
    select *, client_errors + server_errors as errors from usage_daily
     where ${IS_IN_RANGE})
  select (select json_build_object(
                   'totalRequests', coalesce(sum(requests), 0),
                   'successfulRequests', coalesce(sum(requests - errors), 0),
                   'clientErrors', coalesce(sum(client_errors), 0), 'serverErrors', coalesce(sum(server_errors), 0),
                   'rateLimitedRequests', coalesce(sum(rate_limited), 0)) from u) as totals,
         (select coalesce(json_agg(e), '[]') from (
            select method, path, sum(requests) as requests, sum(errors) as errors
              from u group by method, path order by sum(requests) desc, path, method) e) as "byEndpoint",
         (select coalesce(json_agg(json_build_object(
                   'timestamp', to_char(slot at time zone 'UTC', 'YYYY-MM-DD"T00:00:00.000Z"'),
                   'requests', coalesce(d.requests, 0), 'errors', coalesce(d.errors, 0),
                   'rateLimited', coalesce(d.rate_limited, 0)) order by slot), '[]')
            from generate_series($2::timestamptz, $3::timestamptz - interval '1 ms', interval '24 hours') slot
            left join (select day, sum(requests) as requests, sum(errors) as errors, sum(rate_limited) as rate_limited
                         from u group by day) d on d.day = (slot at time zone 'UTC')::date) as "timeSeries",
         (select json_build_object('delivered', coalesce(sum(delivered), 0), 'failed', coalesce(sum(failed), 0)) from (
            select delivered, failed from outcome_counts where ${IS_IN_RANGE}
            union all
            select delivered, failed from pruned_outcomes where ${IS_IN_RANGE}) o) as "webhookDeliveries"`;

/** Adds up the entries of ended deliveries by day. Returns how many rows it wrote. */
export async function foldOutcomes(db: Database): Promise<number> {
  return (await db.transact((query) => query(FOLD_OUTCOMES, []), { isLong: true })).length;
}

const FOLD_OUTCOMES = composeEntryFold('outcome_counts', {
  key: ['integration_id', 'day'],
  counts: ['delivered', 'failed'],
});
