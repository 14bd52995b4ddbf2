import { eq, sql } from 'drizzle-orm';
import type { ReviewSample } from '../../contract/error-rates';
import type { Database } from '../../db/client';
import { integrations, reviewDraws } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from './context';

// The random sample of sessions for review (docs/error-rates.md).

/** Sessions of a day are drawn when none of them can go on: so long after its end. */
const LONGEST_SESSION = "interval '8 hours'";
/** How many days back are drawn if nothing ran meanwhile. */
const MAX_DAYS_BACK = 7;

/** Sets how many sessions of a day are drawn. The day in which it is switched on is the first one. */
export async function setReviewSampleSize(
  { db, actor, integration: { id } }: DomainContext & AuditedContext,
  { sampleSize }: ReviewSample,
): Promise<ReviewSample> {
  await db.orm.transaction(async (tx) => {
    // The lock makes concurrent changes wait, so that the second one's `before` is the first one's `after`.
    const [found] = await tx
      .select({ before: integrations.reviewSampleSize })
      .from(integrations)
      .where(eq(integrations.id, id))
      .for('no key update');
    if (!found || found.before === sampleSize) return;
    await tx.update(integrations).set({ reviewSampleSize: sampleSize }).where(eq(integrations.id, id));
    // Draws go on after the latest day that has one. Of the day before, nothing was drawn.
    const yesterday = sql`(now() at time zone 'UTC')::date - 1`;
    if (found.before === 0)
      await tx.insert(reviewDraws).values({ integrationId: id, day: yesterday, population: 0 }).onConflictDoNothing();
    const act = { action: 'ReviewSampleChanged', integrationId: id, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details: { before: found.before, after: sampleSize } });
  });
  return { sampleSize };
}

/**
 * Draws the sessions for review of each day that has ended and is not drawn yet. If two processes draw a day at the same time,
 * the second one waits and then draws nothing. Returns the number of days.
 */
export async function drawReviewSamples(db: Database): Promise<number> {
  const due = await db.query<{ id: string; day: string; sampleSize: number }>(FIND_DUE, []);
  for (const { id, day, sampleSize } of due)
    await db.transact((query) => query(DRAW, [id, day, sampleSize]), { isLong: true });
  return due.length;
}

const FIND_DUE = `
  select i.id, to_char(day, 'YYYY-MM-DD') as day, i.review_sample_size as "sampleSize"
    from integrations i
    cross join (select (now() at time zone 'UTC' - ${LONGEST_SESSION})::date - 1 as ended) e
    left join lateral (select d.day as latest from review_draws d
                        where d.integration_id = i.id order by d.day desc limit 1) l on true
    cross join lateral generate_series(
      greatest(coalesce(latest + 1, ended), ended + 1 - ${MAX_DAYS_BACK}), ended, interval '1 day') day
   where i.review_sample_size > 0
   order by i.id, day`;

/** All scored sessions of the day, whatever their score, with and without a label. */
const POPULATION = `
      from sessions
     where integration_id = $1 and score_bin is not null
       and created_at >= $2::text::timestamp at time zone 'UTC'
       and created_at < ($2::text::timestamp + interval '1 day') at time zone 'UTC'`;

const DRAW = `
  with draw as (
    insert into review_draws (integration_id, day, population)
    select $1, $2::text::date, count(*)::int ${POPULATION}
    on conflict do nothing returning day)
  insert into review_sample (integration_id, day, position, session_id)
  select $1, day, row_number() over (order by lot), id
    from draw cross join lateral (
      select id, gen_random_uuid() as lot ${POPULATION} order by lot limit $3::int) s`;
