import { expect } from 'vitest';
import type { Database } from '../../db/client';

/** Checks that the counts of ended deliveries are what the log shows, for each integration and day. */
export async function expectExactOutcomes({ sql }: Pick<Database, 'sql'>): Promise<void> {
  const wrong = await sql`
    select integration_id, day::text, coalesce(c.delivered, 0)::int - coalesce(l.delivered, 0)::int as delivered,
           coalesce(c.failed, 0)::int - coalesce(l.failed, 0)::int as failed
      from (select integration_id, day, sum(delivered) as delivered, sum(failed) as failed from outcome_counts group by 1, 2) c
      full join (select integration_id, (finished_at at time zone 'UTC')::date as day, count(*) filter (where status = 'Delivered') as delivered,
                        count(*) filter (where status <> 'Delivered') as failed
                   from webhook_deliveries where status <> 'Pending' and finished_at is not null and not is_test group by 1, 2) l using (integration_id, day)
     where (coalesce(c.delivered, 0), coalesce(c.failed, 0)) <> (coalesce(l.delivered, 0), coalesce(l.failed, 0))`;
  expect([...wrong]).toEqual([]);
}
