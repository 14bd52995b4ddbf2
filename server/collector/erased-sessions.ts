import type { Database, Query } from '../../db/client';
import { packBatch, toDocumentId, unpackBatch } from './packing';
import { IS_UNSENT, JOIN_SENT } from './unsent-cuts';

interface Collected {
  key: string;
  day: string;
  /** It is not closed, or no facts tell of that yet: they still follow from the batches. */
  isOpen: boolean;
  /** Something is left of what this removes. */
  isWhole: boolean;
}

/** Who is erased. `finder.replace` takes them out of a text. */
interface ErasedUser {
  integrationId: string;
  userId: string;
  finder: { replace(text: string): string };
}

/**
 * Removes what the pixel sent in some sessions of a user who is erased: batches, traces, digests and the network. Sessions that are
 * still open, or of whose close no facts tell yet, go on without the user; if their pages named somebody else, that stays. Processes that
 * have such a session in memory notice by its version that they must read it again. Returns of how many sessions something was left.
 * `query` belongs to a transaction.
 */
export async function eraseCollected(
  query: Query,
  { integrationId, userId, finder }: ErasedUser,
  sessionIds: string[],
): Promise<number> {
  if (sessionIds.length === 0) return 0;
  const list = JSON.stringify(sessionIds);
  const found = await query<Collected>(LOCK, [integrationId, list]);
  const open = found.filter(({ isOpen }) => isOpen);
  for (const { key, day } of open) {
    const batches = await query<{ document: string; sequence: number; body: Buffer }>(READ_BATCHES, [day, key]);
    for (const { document, sequence, body } of batches) {
      const { d, n, receivedAtMs, user, ...batch } = unpackBatch(body, {
        d: toDocumentId(document),
        n: sequence,
        receivedAtMs: 0,
      });
      const cleaned = {
        ...batch,
        ...(user && (user.id === userId ? { hasRefusedUser: true as const } : { user })),
        ...(batch.p && { p: batch.p.map(finder.replace) }),
        ...(batch.w && { w: batch.w.map(finder.replace) }),
      };
      await query(WRITE_BATCH, [day, key, document, sequence, packBatch(cleaned).toString('base64')]);
    }
  }
  const closed = found.filter(({ isOpen }) => !isOpen);
  const rows = JSON.stringify(closed);
  if (closed.length > 0) await Promise.all([query(REMOVE_BATCHES, [rows]), query(REMOVE_TRACES, [rows])]);
  await query(FORGET, [integrationId, list, userId, JSON.stringify(open.map(({ key }) => key))]);
  return found.filter(({ isWhole }) => isWhole).length;
}

/**
 * Looks through `limit` open sessions after a key, and finds those in which a page named the user, even if the session has
 * another user, with a higher confidence. `after` is where the next look begins, null if there are no more.
 */
export async function findOpenSessionsOf(
  db: Database,
  { integrationId, userId }: { integrationId: string; userId: string },
  after: string,
  limit: number,
): Promise<{ ids: string[]; after: string | null }> {
  const open = await db.query<OpenOne>(LIST_OPEN, [integrationId, after, limit, userId]);
  const ids: string[] = [];
  for (const { key, day, id, isTheirs } of open) {
    if (isTheirs || (await isNamedIn(db, day, key, userId))) ids.push(id);
  }
  return { ids, after: open.length === limit ? open.at(-1)!.key : null };
}

interface OpenOne {
  key: string;
  day: string;
  id: string;
  isTheirs: boolean;
}

async function isNamedIn(db: Database, day: string, key: string, userId: string): Promise<boolean> {
  const bodies = await db.query<{ body: Buffer }>(READ_BODIES, [day, key]);
  return bodies.some(({ body }) => unpackBatch(body, NO_ROW).user?.id === userId);
}

/** What the row of a batch says, where only its body matters. */
const NO_ROW = { d: '', n: 0, receivedAtMs: 0 };

/** Reads the few open sessions of the integration, not its history. */
const LIST_OPEN = `
  with open as materialized (
    select key, day, session_id, progress from collected_sessions
     where integration_id = $1 and due_at is not null and key > $2::bigint)
  select key::text, day::text, session_id as id, progress #>> '{user,id}' is not distinct from $4 as "isTheirs"
    from open order by open.key limit $3::int`;
const READ_BODIES = `select body from session_batches where day = $1::date and session_key = $2::bigint`;

const LOCK = `
  select c.key, c.day::text, c.due_at is not null and (c.closed_at is null or ${IS_UNSENT}) as "isOpen",
         num_nonnulls(c.address_prefix, c.address_hash, c.location, c.digests) > 0 as "isWhole"
    from collected_sessions c ${JOIN_SENT}
   where c.integration_id = $1 and c.session_id in (select json_array_elements_text($2::text::json))
   order by c.key for update of c`;
const READ_BATCHES = `
  select document, sequence, body from session_batches where day = $1::date and session_key = $2::bigint for update`;
const WRITE_BATCH = `
  update session_batches set body = decode($5, 'base64')
   where day = $1::date and session_key = $2::bigint and document = $3::bigint and sequence = $4::int`;
const KEYS = `json_to_recordset($1::text::json) as k(key bigint, day date)`;
const REMOVE_BATCHES = `delete from session_batches b using ${KEYS} where b.day = k.day and b.session_key = k.key`;
const REMOVE_TRACES = `delete from session_traces t using ${KEYS} where t.day = k.day and t.session_key = k.key`;

const IS_OPEN = 'c.key in (select json_array_elements_text($4::text::json)::bigint)';
/** The first cut's page stays only as its origin. A cut without a user sends no correlation. */
const FORGET = `
  update collected_sessions c
     set version = version + 1, address_prefix = null, address_hash = null, location = null, digests = null,
         due_at = case when ${IS_OPEN} then due_at end,
         progress = case when ${IS_OPEN} and progress is not null then
           jsonb_set(
             progress || case when progress #>> '{user,id}' = $3 then '{"user": null, "isCorrelated": false}' else '{}' end::jsonb,
             '{started,pageUrl}',
                     to_jsonb(coalesce(substring(progress #>> '{started,pageUrl}' from '^[a-z]+://[^/?#]+'), '') || '/')) end
   where integration_id = $1 and session_id in (select json_array_elements_text($2::text::json))`;
