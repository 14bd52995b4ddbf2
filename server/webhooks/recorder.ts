import { type Database, isTimeout, isUnavailable, type Query } from '../../db/client';
import { sortByKey } from '../../db/recordset';
import { createBatcher, type PendingItem } from '../platform/batcher';
import { type AttemptRecord, writeSubscriptionKey } from './deliveries';
import { foldHealth, type SubscriptionHealth } from './subscription-health';

const BATCH_SIZE = 100;
/** Under load, a batch has so much time to grow: each one is a commit. */
const PAUSE_MS = 15;
/** If so many records of a subscription time out one by one, its row is locked and the rest would time out too. */
const MAX_TIMEOUTS = 2;

/** The result of recording. `isRecorded` is false if our lease was lost before. */
export interface RecordResult {
  isRecorded: boolean;
  /** When the next attempt is due; null if the delivery is finished. */
  nextAttemptAt: string | null;
}

export interface Recorder {
  /** Resolves when the record is committed. Rejects if the database refuses it; the lease then expires. */
  record(attempt: AttemptRecord): Promise<RecordResult>;
}

/**
 * Creates the process's recorder. If the database refuses a batch, its records are written one by one: a bad one does not
 * lose the others, and a locked subscription does not delay the others for long.
 */
export function createRecorder(db: Database): Recorder {
  async function recordAll(batch: PendingItem<AttemptRecord, RecordResult>[]): Promise<void> {
    try {
      const results = await writeRecords(
        db,
        batch.map(({ item }) => item),
      );
      for (const { item, resolve } of batch) {
        resolve(results.get(item.lease) ?? { isRecorded: false, nextAttemptAt: null });
      }
    } catch (error) {
      // A timeout may come from the lock of a single row.
      if (batch.length === 1 || (isUnavailable(error) && !isTimeout(error))) throw error;
      await recordEach(batch);
    }
  }

  async function recordEach(batch: PendingItem<AttemptRecord, RecordResult>[]): Promise<void> {
    const timeouts = new Map<string, unknown[]>();
    for (const one of batch) {
      const key = writeSubscriptionKey(one.item);
      const before = timeouts.get(key) ?? [];
      if (before.length >= MAX_TIMEOUTS) one.reject(before[0]);
      else
        await recordAll([one]).catch((error: unknown) => {
          if (isTimeout(error)) timeouts.set(key, [...before, error]);
          one.reject(error);
        });
    }
  }
  return { record: createBatcher(BATCH_SIZE, recordAll, PAUSE_MS) };
}

interface RecordedRow {
  lease: string;
  nextAttemptAt: string | null;
}

/** Writes a batch in one transaction, guarded by status and lease. Returns the results of recorded attempts by lease. */
async function writeRecords(db: Database, attempts: AttemptRecord[]): Promise<Map<string, RecordResult>> {
  const isAllDelivered = attempts.every(({ status }) => status === 'Delivered');
  const rows = isAllDelivered
    ? await db.query<RecordedRow>(RECORD_DELIVERED, [toJson(attempts)])
    : await db.transact((query, commitWith) => writeWithHealth(query, commitWith, attempts));
  return new Map(rows.map(({ lease, nextAttemptAt }) => [lease, { isRecorded: true, nextAttemptAt }]));
}

/** Sorts by the deliveries' keys, which is the order in which they are locked. */
const toJson = (attempts: AttemptRecord[]) =>
  JSON.stringify(sortByKey(attempts, ['integrationId', 'deliveryId']).map(toColumns));

function toColumns({ answer, ...attempt }: AttemptRecord) {
  if (answer === null) return attempt;
  const { headers, body, isCut } = answer;
  return { answerHeaders: headers, answerBody: body.toString('base64'), isAnswerCut: isCut, ...attempt };
}

const READ_RECORDS = `
  with r as (
    select * from json_to_recordset($1::text::json) as r(
      "integrationId" text, "subscriptionId" text, "deliveryId" text, lease uuid, attempt smallint, status text,
      "failureClass" text, "retryDelayMs" bigint, "startedAt" timestamptz, "durationMs" int, "httpStatus" smallint, address text,
      "retryAfter" text, "errorCode" text, "answerHeaders" jsonb, "answerBody" text, "isAnswerCut" boolean, "isTest" boolean))`;

// Locks deliveries in the order of the records, which are sorted by id, so that two batches cannot deadlock. The lateral join
// forces one look-up by primary key per record: with statistics from when the table was small, the planner would read the
// whole table. The lease is compared in a form that fits no partial index: the planner would read the whole index of attempts
// under way instead, which also holds those that ended since the oldest snapshot. `after` is a condition that reads what must be
// locked before.
const writeRecorded = (after: string) => `
  locked as materialized (
    select d.row, d.integration_id, d.id, r.* from r cross join lateral (
      select d.ctid as row, d.integration_id, d.id from webhook_deliveries d
       where d.integration_id = r."integrationId" and d.id = r."deliveryId" and d.lease is not distinct from r.lease and d.status = 'Pending'
       limit 1 for update) d
     where ${after}),
  recorded as (
    update webhook_deliveries d
       set status = l.status, failure_class = l."failureClass", lease = null, lease_owner = null, crashes = 0,
           next_attempt_at = now() + l."retryDelayMs" * interval '1 ms',
           finished_at = case when l.status = 'Pending' then null else now() end
      from locked l
     where d.ctid = any (array(select row from locked)) and d.integration_id = l.integration_id and d.id = l.id
    returning l.*, d.next_attempt_at, d.resends),
  logged as (
    insert into webhook_attempts
      (integration_id, delivery_id, subscription_id, resend, attempt, started_at, duration_ms, http_status, failure_class, address, retry_after, error_code)
    select integration_id, id, "subscriptionId", resends, attempt, "startedAt", "durationMs", "httpStatus", "failureClass", address, "retryAfter",
           "errorCode"
      from recorded where "startedAt" is not null),
  kept as (
    insert into webhook_answers (integration_id, delivery_id, resend, attempt, received_at, headers, body, is_cut)
    select integration_id, id, resends, attempt, now(), "answerHeaders", decode("answerBody", 'base64'), "isAnswerCut"
      from recorded where "answerHeaders" is not null)`;

const RECORDED = `select lease, next_attempt_at as "nextAttemptAt" from recorded`;

// A healthy subscription is updated only if something changes, and otherwise at most once a second, so that its row is not
// hot. It is locked before the deliveries, as everywhere.
const LOCK_UNTOUCHED = `
  untouched as materialized (
    select s.integration_id, s.id from webhook_subscriptions s
     where (s.integration_id, s.id) in (select "integrationId", "subscriptionId" from r where not "isTest")
       and (s.consecutive_failures > 0 or s.last_delivery_status is distinct from 'Delivered'
            or s.last_delivery_at < now() - interval '1 s')
     order by s.integration_id, s.id for no key update)`;

const TOUCH_HEALTHY = `
  touched as (
    update webhook_subscriptions s
       set consecutive_failures = 0, last_delivery_at = now(), last_delivery_status = 'Delivered'
      from untouched u
     where s.integration_id = u.integration_id and s.id = u.id
       and exists (select 1 from recorded where recorded.integration_id = u.integration_id and "subscriptionId" = u.id and not "isTest"))`;

const RECORD_DELIVERED = `${READ_RECORDS}, ${LOCK_UNTOUCHED},
  ${writeRecorded('(select count(*) from untouched) >= 0')}, ${TOUCH_HEALTHY} ${RECORDED}`;
const RECORD = `${READ_RECORDS}, ${writeRecorded('true')} ${RECORDED}`;

type SubscriptionRow = SubscriptionHealth & { integrationId: string; id: string };

/** Locks the subscriptions before the deliveries, then applies the recorded outcomes in order to their health. */
async function writeWithHealth(query: Query, commitWith: Query, attempts: AttemptRecord[]): Promise<RecordedRow[]> {
  const json = toJson(attempts);
  const [, subscriptions, rows] = await Promise.all([
    query(LIMIT_LOCKS, []),
    query<SubscriptionRow>(LOCK_SUBSCRIPTIONS, [json]),
    query<RecordedRow>(RECORD, [json]),
  ]);
  const recorded = new Set(rows.map(({ lease }) => lease));
  const updates = subscriptions.flatMap((subscription) => {
    const outcomes = attempts.filter(
      (a) =>
        a.subscriptionId === subscription.id &&
        a.integrationId === subscription.integrationId &&
        !a.isTest &&
        recorded.has(a.lease),
    );
    const latest = outcomes.findLast(({ startedAt }) => startedAt !== null);
    if (outcomes.length === 0) return [];
    const health = outcomes.reduce(foldHealth, subscription);
    return [
      { ...health, integrationId: subscription.integrationId, id: subscription.id, lastStatus: latest?.status ?? null },
    ];
  });
  await commitWith(UPDATE_HEALTH, [JSON.stringify(updates)]);
  return rows;
}

/** Less than the process waits for a statement, so that the database says what is locked. */
const LIMIT_LOCKS = "set local lock_timeout = '2s'";

// Tests change no health, and their callers wait for the answer.
const LOCK_SUBSCRIPTIONS = `
  select s.integration_id as "integrationId", s.id, s.enabled, s.consecutive_failures as "consecutiveFailures",
         s.disabled_reason as "disabledReason", s.disabled_failure_class as "disabledFailureClass"
    from webhook_subscriptions s
   where (s.integration_id, s.id) in (
           select r."integrationId", r."subscriptionId"
             from json_to_recordset($1::text::json) r("integrationId" text, "subscriptionId" text, "isTest" boolean)
            where not r."isTest")
   order by s.integration_id, s.id for no key update`;

const UPDATE_HEALTH = `
  update webhook_subscriptions s
     set enabled = r.enabled, consecutive_failures = r."consecutiveFailures", disabled_reason = r."disabledReason",
         disabled_failure_class = r."disabledFailureClass",
         last_delivery_at = case when r."lastStatus" is null then s.last_delivery_at else now() end,
         last_delivery_status = coalesce(r."lastStatus", s.last_delivery_status)
    from json_to_recordset($1::text::json) r("integrationId" text, id text, enabled boolean, "consecutiveFailures" int,
           "disabledReason" text, "disabledFailureClass" text, "lastStatus" text)
   where s.integration_id = r."integrationId" and s.id = r.id`;
