import type { GeoLocation } from '../../contract/sessions';
import type { Database } from '../../db/client';
import { sortByKey } from '../../db/recordset';
import { createStatisticsUpdater } from '../../db/statistics';
import { createBatcher, type PendingItem } from '../platform/batcher';
import type { Logger } from '../platform/log';

/** A batch on its way into the database. */
export interface IncomingBatch {
  integrationId: string;
  sessionId: string;
  siteId: string;
  /** The batch may begin the session. Otherwise the session must exist. */
  mayBegin: boolean;
  userAgent: string;
  addressPrefix: string | null;
  country: string | null;
  location: GeoLocation | null;
  /** The id of the document as the database's signed number, and the batch's place in it. */
  document: string;
  sequence: number;
  body: Buffer;
  /** What is kept instead if the session is closed: an erasure of the user that the batch names would not find it there. */
  lateBody: Buffer | null;
}

/** What became of a batch. */
export interface StoredBatch {
  sessionKey: string;
  /** The UTC day of the session's start, which is the partition of its batches. */
  day: string;
  isNewSession: boolean;
  /** When the session's first batch arrived. */
  createdAt: string;
  /** The session is closed. The batch is kept and changes nothing. */
  isClosed: boolean;
  /** When it arrived, by the database's clock. Null if it was kept before. */
  receivedAt: string | null;
}

export interface Intake {
  /** Commits a batch together with those that arrive at the same time. Null if its session does not exist. */
  store(batch: IncomingBatch): Promise<StoredBatch | null>;
  /** Whether so much is waiting that further batches should be sent again later. */
  isOverloaded(): boolean;
  /** Counts the batches that wait. */
  count(): number;
}

interface Waiting {
  batch: IncomingBatch;
  sinceMs: number;
}

const MAX_GROUP = 256;
/** Limits what waits: the number of batches, their bytes, and how long the oldest has waited. */
const MAX_WAITING = 2_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_WAIT_MS = 1_000;
/** The batches of a closed session that are kept. Pages do not send more, and other senders are not worth the space. */
const MAX_LATE = 20;
/** Another process began the session at the same moment, so the statement did not see it. The next one does. */
const MAX_TRIES = 3;
/**
 * A batch becomes visible at most this long after the time that it carries: it waits for its group, and each try of the
 * group's statement ends after some seconds. The other statements of the collector have the same limit.
 */
export const COMMIT_DELAY_MS = 15_000;

/** Creates the process's intake. `idleMs` is when a session without further signs is looked at again. */
export function createIntake(db: Database, log: Pick<Logger, 'warn'>, idleMs: number): Intake {
  const countWrites = createStatisticsUpdater(db, ['collected_sessions'], log);
  const waiting = new Set<Waiting>();
  let waitingBytes = 0;

  const submit = createBatcher<Waiting, StoredBatch | null>(MAX_GROUP, async (group) => {
    for (let tries = 1, left = group; left.length > 0; tries++) left = await storeGroup(left, tries === MAX_TRIES);
  });

  /** Stores a group. Returns the items whose session appeared at the same time. */
  async function storeGroup(group: PendingItem<Waiting, StoredBatch | null>[], isLast: boolean) {
    const nowMs = performance.now();
    const rows = group.map(({ item: { batch, sinceMs } }, place) => ({
      place,
      waitedMs: Math.max(0, Math.round(nowMs - sinceMs)),
      ...batch,
      body: batch.body.toString('base64'),
      lateBody: batch.lateBody?.toString('base64'),
    }));
    const list = sortByKey(rows, ['integrationId', 'sessionId', 'document']);
    const stored = await db.query<Stored>(STORE, [JSON.stringify(list), idleMs, MAX_LATE]);
    countWrites(group.length);
    const again: typeof group = [];
    for (const { place, ...result } of stored) {
      const { item, resolve } = group[place]!;
      if (result.sessionKey !== null) resolve(result as StoredBatch);
      else if (isLast || !item.batch.mayBegin) resolve(null);
      else again.push(group[place]!);
    }
    return again;
  }

  return {
    async store(batch) {
      const item = { batch, sinceMs: performance.now() };
      waiting.add(item);
      waitingBytes += batch.body.length;
      try {
        return await submit(item);
      } finally {
        waiting.delete(item);
        waitingBytes -= batch.body.length;
      }
    },
    isOverloaded() {
      if (waiting.size >= MAX_WAITING || waitingBytes >= MAX_WAITING_BYTES) return true;
      const oldest = waiting.values().next().value;
      return oldest !== undefined && performance.now() - oldest.sinceMs > MAX_WAIT_MS;
    },
    count: () => waiting.size,
  };
}

type Stored = Omit<StoredBatch, 'sessionKey'> & { place: number; sessionKey: string | null };

const FIND_SESSION = `
  select c.key, c.day, c.created_at, c.closed_at from collected_sessions c
   where c.integration_id = s."integrationId" and c.session_id = s."sessionId" limit 1`;

/**
 * Writes a group of batches. Each session is looked up by itself, by its unique key. What exists is left as it is: a batch that is
 * sent again changes nothing.
 */
const STORE = `
  with r as materialized (
    select * from json_to_recordset($1::text::json) as r(
      place int, "integrationId" text, "sessionId" text, "siteId" text, "mayBegin" boolean, "userAgent" text,
      "addressPrefix" text, country text, location jsonb, document bigint, sequence int, "waitedMs" int, body text,
      "lateBody" text)),
  s as materialized (
    select distinct on ("integrationId", "sessionId") * from r
     order by "integrationId", "sessionId", "mayBegin" desc, "waitedMs" desc),
  known as materialized (
    select s."integrationId", s."sessionId", found.* from s cross join lateral (${FIND_SESSION}) found),
  begun as (
    insert into collected_sessions (
      integration_id, session_id, site_id, created_at, day, user_agent, address_prefix, country, location, due_at)
    select s."integrationId", s."sessionId", s."siteId", now() - s."waitedMs" * interval '1 ms',
           ((now() - s."waitedMs" * interval '1 ms') at time zone 'UTC')::date, s."userAgent", s."addressPrefix",
           s.country, s.location, now() + $2::float8 * interval '1 ms'
      from s left join known k on k."integrationId" = s."integrationId" and k."sessionId" = s."sessionId"
     where s."mayBegin" and k.key is null
    on conflict do nothing
    returning integration_id, session_id, key, day, created_at),
  session as (
    select "integrationId", "sessionId", key, day, created_at, closed_at is not null as "isClosed", false as "isNew" from known
    union all select integration_id, session_id, key, day, created_at, false, true from begun),
  kept as (
    insert into session_batches (day, session_key, document, sequence, received_at, body)
    select distinct on (o.day, o.key, r.document, r.sequence)
           o.day, o.key, r.document, r.sequence, now() - r."waitedMs" * interval '1 ms',
           decode(case when o."isClosed" then coalesce(r."lateBody", r.body) else r.body end, 'base64')
      from r join session o on o."integrationId" = r."integrationId" and o."sessionId" = r."sessionId"
     where not o."isClosed" or $3::int > (
       select count(*) from session_batches b where b.day = o.day and b.session_key = o.key)
     order by o.day, o.key, r.document, r.sequence, r."waitedMs" desc
    on conflict do nothing
    returning session_key, document, sequence, received_at)
  select r.place, o.key as "sessionKey", o.day::text, o.created_at as "createdAt", coalesce(o."isNew", false) as "isNewSession",
         coalesce(o."isClosed", false) as "isClosed", kept.received_at as "receivedAt"
    from r left join session o on o."integrationId" = r."integrationId" and o."sessionId" = r."sessionId"
    left join kept on kept.session_key = o.key and kept.document = r.document and kept.sequence = r.sequence`;
