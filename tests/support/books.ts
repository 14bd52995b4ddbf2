import type { Database } from '../../db/client';

/**
 * Lists where the books of webhook events do not close. Each event has exactly one entry for each subscription of its type that existed
 * when it fired: a delivery, the end of one that the log no longer shows, or the reason why it was skipped. And each delivery is what
 * its attempts say. Holds at every moment, also while attempts run.
 */
export async function findBookFaults(db: Database): Promise<string[]> {
  const rows = await db.query<{ fault: string }>(FIND_FAULTS, []);
  return rows.map(({ fault }) => fault);
}

const FIND_FAULTS = `
  select format('%s for %s has %s entries', e.id, s.id, n.entries) as fault
    from domain_events e
    join webhook_subscriptions s
      on s.integration_id = e.integration_id and s.event_type = e.type and s.created_at < e.created_at
     and (s.deleted_at is null or s.deleted_at > e.created_at)
   cross join lateral (
     select (select count(*) from webhook_deliveries d
              where d.integration_id = e.integration_id and d.event_id = e.id and d.subscription_id = s.id)
            + coalesce(jsonb_exists(e.skips, s.id), false)::int + coalesce(jsonb_exists(e.ended, s.id), false)::int as entries) n
   where n.entries <> 1
  union all
  select format('%s is %s after %s attempts (%s logged, the last one %s)', d.id, d.status, d.attempts, a.logged, coalesce(a.last, 'delivered'))
    from webhook_deliveries d
   cross join lateral (
     select count(*) as logged, (array_agg(failure_class order by attempt desc))[1] as last from webhook_attempts a
      where a.integration_id = d.integration_id and a.delivery_id = d.id and a.resend = d.resends) a
   where not case
     when d.status = 'Pending' then
       d.finished_at is null and d.next_attempt_at is not null and d.attempts = a.logged + (d.lease is not null)::int
     else d.finished_at is not null and d.next_attempt_at is null and d.lease is null and d.attempts = a.logged
          and case d.status
                when 'Delivered' then a.logged > 0 and a.last is null
                when 'MaxRetriesExceeded' then a.logged = 6 and a.last is not null
                when 'PoisonAborted' then true
                else a.last is not null end
   end
  union all
  select format('%s names no event', d.id) from webhook_deliveries d
   where not d.is_test and not exists (
     select 1 from domain_events e where e.integration_id = d.integration_id and e.id = d.event_id)`;
