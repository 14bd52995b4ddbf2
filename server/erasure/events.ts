import type { Database } from '../../db/client';
import { ERASED_PAYLOAD } from '../domain/erased-users';
import { mayMention } from '../domain/mentions';
import { addCounts, type RunningErasure } from './running-erasure';

const SLICE_ROWS = 2_000;

interface EventRow {
  id: string;
  payload: string;
  isOfSession: boolean;
}

/**
 * Looks at the next events. Replaces the payload of those about the user or their sessions, and ends their pending deliveries. Answers
 * where to go on, or null at the end.
 */
export async function eraseEvents(db: Database, erasure: RunningErasure, after: string): Promise<string | null> {
  const { integrationId, userId, pseudonym, finder } = erasure;
  return db.transact(
    async (query) => {
      const [end] = await query<{ id: string }>(READ_END, [integrationId, after]);
      const rows = await query<EventRow>(READ, [
        ...[integrationId, after, end?.id ?? null, userId, pseudonym],
        ...[finder.patterns, ERASED_PAYLOAD],
      ]);
      const ids = rows.filter((row) => row.isOfSession || namesUser(row.payload, erasure)).map(({ id }) => id);
      const next = end?.id ?? null;
      if (ids.length === 0) return next;
      const [ended] = await query<{ deliveries: number }>(ERASE, [integrationId, JSON.stringify(ids), ERASED_PAYLOAD]);
      await addCounts(query, erasure, { events: ids.length, ...ended! });
      return next;
    },
    { isLong: true },
  );
}

function namesUser(payload: string, { userId, finder }: RunningErasure): boolean {
  const value = JSON.parse(payload) as { userId?: unknown };
  return value.userId === userId || finder.isIn(value);
}

const READ_END = `
  select id from domain_events where integration_id = $1 and id > $2 order by id offset ${SLICE_ROWS - 1} limit 1`;

/** Not an event about somebody else, who had the session before them, as in one tab of a library. */
const IS_OF_SESSION = `(coalesce(e.payload::json ->> 'userId', $4) in ($4, $5) and exists (
  select from sessions s
   where s.integration_id = $1 and s.id = e.payload::json ->> 'sessionId' and s.user_id in ($4, $5)))`;

const READ = `
  select id, payload, ${IS_OF_SESSION} as "isOfSession" from domain_events e
   where e.integration_id = $1 and e.id > $2 and ($3::text is null or e.id <= $3) and e.payload <> $7
     and (${mayMention('e.payload', '$6')} or ${IS_OF_SESSION})
   order by id for update`;

/** Locks deliveries in the recorder's order, so that the two cannot deadlock. */
const ERASE = `
  with named as materialized (select json_array_elements_text($2::text::json) as id),
  erased as (
    update domain_events e set payload = $3 from named where e.integration_id = $1 and e.id = named.id),
  told as materialized (
    select d.id, d.status from webhook_deliveries d
     where d.integration_id = $1 and d.event_id = any (array(select id from named)) order by d.id for update),
  ended as (
    update webhook_deliveries d
       set status = 'PoisonAborted', finished_at = now(), next_attempt_at = null, lease = null, lease_owner = null
      from told where d.integration_id = $1 and d.id = told.id and told.status = 'Pending'
    returning 1),
  forgotten as (delete from webhook_answers a using told where a.integration_id = $1 and a.delivery_id = told.id),
  unread as (
    update webhook_attempts a set retry_after = null from told
     where a.integration_id = $1 and a.delivery_id = told.id and a.retry_after is not null)
  select count(*)::int as deliveries from ended`;
