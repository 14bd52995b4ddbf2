import { type Analytics, type AnalyticsInput, PERIODS, type ScoreDistribution } from '../../contract/analytics';
import { ApiError } from '../../contract/errors';
import type { Stats } from '../../contract/stats';
import type { DomainContext } from './context';
import {
  COUNT_COLUMNS,
  countAtLeast,
  countOthers,
  DELTA_COUNTS,
  DEVICELESS,
  DIMENSIONS,
  ENTITIES,
  IS_SEEN,
  SEEN,
} from './rollups';
import { BROWSERS, OTHER_BROWSER } from './user-agents';

// Each function runs one statement over the folded counts and the changes that are not folded yet (docs/counts.md).

interface AnalyticsRow extends Omit<Analytics, 'period' | 'groupBy' | 'generatedAt' | 'deviceBreakdown'> {
  devices: Omit<Analytics['deviceBreakdown'], 'browserCounts'>;
  browsers: { name: string; sessions: number }[];
  scored: number;
}

/** An answer names at most this many browsers, those with the most sessions. The others count as `Other`. */
const MAX_BROWSERS = 20;

/**
 * Counts the sessions of a window that ends now, by time, class, user, origin and device (specification: Analytics;
 * decisions: Scores and risk). UNSUPPORTED_OPERATION for a window shorter than its bucket.
 */
export async function getAnalytics(context: DomainContext, input: AnalyticsInput): Promise<Analytics> {
  return (await countWindow(context, input)).analytics;
}

/** Counts as `getAnalytics`. `scored`: how many of the sessions have a score. The average of none is 0 in the API. */
export async function countWindow(
  context: DomainContext,
  input: AnalyticsInput,
): Promise<{ analytics: Analytics; scored: number }> {
  const { period, groupBy } = input;
  const { id, mediumAt, botAt } = context.integration;
  if (period === '24h' && groupBy === 'week')
    throw new ApiError('UNSUPPORTED_OPERATION', 'A period of 24h cannot be grouped by week');
  const [row] = await context.db.query<AnalyticsRow>(READ_ANALYTICS, [id, PERIODS[period], groupBy, mediumAt, botAt]);
  const { devices, browsers, scored, ...counted } = row!;
  const deviceBreakdown = { ...devices, browserCounts: countBrowsers(browsers) };
  return { analytics: { period, groupBy, generatedAt: counted.endDate, ...counted, deviceBreakdown }, scored };
}

/** `browsers` is sorted, those with the most sessions first. */
function countBrowsers(browsers: AnalyticsRow['browsers']): Record<string, number> {
  const named = browsers.filter(({ name }) => name !== OTHER_BROWSER).slice(0, MAX_BROWSERS);
  const sum = (counts: AnalyticsRow['browsers']) => counts.reduce((total, { sessions }) => total + sessions, 0);
  const others = sum(browsers) - sum(named);
  const counts = named.map(({ name, sessions }): [string, number] => [name, sessions]);
  return Object.fromEntries(others > 0 ? [...counts, [OTHER_BROWSER, others]] : counts);
}

/** Formats an instant inside of JSON as in our API. */
const wireInstant = (expression: string) =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const mean = (micros: string, count: string) => `sum(${micros})::float8 / nullif(sum(${count}), 0)::float8 / 1e6`;

/**
 * Selects the tenant's rows. The id is a subquery to hide its value from the planner. Otherwise Postgres would decide that a
 * custom plan for this tenant pays off and plan every request again, which takes longer than the query itself.
 */
const OWN = 'integration_id = (select $1::text)';

/** The changes that are not folded yet. Each one is a whole session. */
const UNFOLDED = `
    select sign, hour, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events,
           score_micros, confidence_micros
      from session_deltas where ${OWN}`;

/**
 * Subtracts the sessions whose time is ahead of the clock (at most by minutes), because no window contains them yet. The
 * condition uses `now()` itself, so that the planner knows that only few rows match.
 */
const AHEAD = `
    select -1, date_trunc('hour', created_at, 'UTC'), coalesce(effective_bin, -2)::smallint, origin, device_type, browser,
            (status = 'Active')::int::smallint, label, user_id, course_id, fingerprint, event_count,
           round(bot_score * 1e6)::int, round(correlation_confidence * 1e6)::int
      from sessions where ${OWN} and created_at >= date_trunc('milliseconds', now())`;

/**
 * Counts the users or devices seen in the span with at least a bin: the sum of the steps, plus the difference that `changes`
 * make for the users or devices that they name (docs/counts.md).
 */
const countSeen = (kind: 'user' | 'device', bin: string) => `
  (select (select coalesce(sum(${countAtLeast('count', bin)}), 0) from seen_steps
            where ${OWN} and kind = '${kind}'
              and (grain = 'day' and start >= (select day_at from span)
                   or grain = 'hour' and start >= (select start_at from span) and start < (select day_at from span)))
          + count(distinct value) filter (where hours.now > 0) - count(distinct value) filter (where hours.folded > 0)
     from (select value, sum(folded) as folded, sum(folded + unfolded) as now
             from (select value, hour, level, sign as unfolded, 0 as folded from changes ${SEEN} where kind = '${kind}' and ${IS_SEEN}
                    union all
                   select h.value, h.hour, h.bin, 0, h.sessions from seen_hours h
                    where h.${OWN} and h.kind = '${kind}'
                      and h.value in (select value from changes ${SEEN} where kind = '${kind}' and ${IS_SEEN})) u
            where hour >= (select start_at from span) and level >= ${bin}
            group by value, hour, level) hours)`;

/** Rows may have other names: a process of an older version takes any. */
const BROWSER_NAMES = [...BROWSERS].map((name) => `'${name}'`).join(', ');

/** The lowest bin of each class of sessions. Bots count as certain from bin 90 on, but never below the cut point. */
const CLASSES = {
  sessions: '-2',
  judged: '-1',
  suspects: '$4::int',
  bots: '$5::int',
  certain: 'greatest($5::int, 90)',
};
const total = (name: string) => `coalesce(sum(${name}), 0)`;

const READ_ANALYTICS = `
  with span as materialized (
    select *, date_trunc('week', day_at + interval '168 hours' - interval '1 ms', 'UTC') as week_at
      from (select *, date_trunc('day', start_at + interval '24 hours' - interval '1 ms', 'UTC') as day_at
              from (select date_trunc($3, at - $2 * interval '1 hour', 'UTC') as start_at, at as end_at,
                           case $3 when 'hour' then interval '1 hour' when 'day' then interval '24 hours' else interval '168 hours' end as step
                      from (select date_trunc('milliseconds', now()) as at) n) s) d),
  changes as materialized (
    select * from (${UNFOLDED} union all ${AHEAD}) c where hour >= (select start_at from span)),
  cells as materialized (
    select date_trunc($3, start, 'UTC') as bucket, ${COUNT_COLUMNS}, ${countAtLeast('deviceless', CLASSES.bots)} as deviceless,
           ${Object.entries(CLASSES)
             .map(([name, bin]) => `${countAtLeast('sessions', bin)} as ${name}`)
             .join(', ')}
      from session_rollups
     where ${OWN} and grain = (select case $3 when 'hour' then 'hour' else 'day' end)
       and start >= (select start_at from span)
     union all
    select date_trunc($3, hour, 'UTC'), ${DELTA_COUNTS}, case when bin >= ${CLASSES.bots} then ${DEVICELESS} else 0 end,
           ${Object.values(CLASSES)
             .map((bin) => `case when bin >= ${bin} then sign else 0 end`)
             .join(', ')}
      from changes),
  buckets as (
    select bucket, sum(sessions) as sessions, sum(events) as events, sum(bots) as bots, sum(matched) as matched
      from cells group by bucket),
  parts as materialized (
    select dimension, value, ${countAtLeast('sessions', CLASSES.sessions)} as sessions, ${countAtLeast('sessions', CLASSES.bots)} as bots
      from dimension_rollups
     where ${OWN} and (grain = 'week' and start >= (select week_at from span)
           or grain = 'day' and start >= (select day_at from span) and start < (select week_at from span)
           or grain = 'hour' and start >= (select start_at from span) and start < (select day_at from span))
     union all
    select dimension, value, sign, case when level >= ${CLASSES.bots} then sign else 0 end from changes ${DIMENSIONS})
  select span.start_at as "startDate", span.end_at as "endDate", totals.*,
         (select json_agg(json_build_object(
                   'timestamp', ${wireInstant('slot')}, 'sessionCount', coalesce(sessions, 0),
                   'eventCount', coalesce(events, 0), 'botCount', coalesce(bots, 0),
                   'userMatchedCount', coalesce(matched, 0)) order by slot)
            from generate_series(span.start_at, span.end_at - interval '1 ms', span.step) slot
            left join buckets on bucket = slot) as "timeSeries",
         (select coalesce(json_agg(o), '[]') from (
            select value as origin, sum(sessions) as "sessionCount", 100.0 * sum(bots) / sum(sessions) as "botPercentage"
              from parts where dimension = 'origin' group by value having sum(sessions) > 0
             order by 2 desc, value collate "C" limit 10) o) as "topOrigins",
         (select coalesce(json_agg(b order by sessions desc, name collate "C"), '[]') from (
            select case when value in (${BROWSER_NAMES}) then value else '${OTHER_BROWSER}' end as name, sum(sessions) as sessions
              from (select value, sum(sessions) as sessions from parts where dimension = 'browser' group by value) v
             group by 1 having sum(sessions) > 0) b) as browsers,
         (select json_build_object(
                   'mobile', coalesce(sum(sessions) filter (where value = 'mobile'), 0), 'tablet', coalesce(sum(sessions) filter (where value = 'tablet'), 0),
                   'desktop', coalesce(sum(sessions) filter (where value = 'desktop'), 0))
            from parts where dimension = 'device') as devices
    from span cross join (
      select json_build_object(
               'totalSessions', ${total('sessions')}, 'totalEvents', ${total('events')},
               'uniqueBots', ${countSeen('device', '$5::int')}
                             + ${total('deviceless')},
               'uniqueUsers', ${countSeen('user', '0')},
               'averageBotScore', coalesce(${mean('score_micros', 'scored')}, 0),
               'averageEventsPerSession', coalesce(sum(events)::float8 / nullif(sum(sessions), 0)::float8, 0)) as summary,
             json_build_object(
               'highConfidenceBots', ${total('certain')},
               'mediumConfidenceBots', ${total('bots - certain')},
               'lowConfidenceBots', ${total('suspects - bots')},
               'likelyHumans', ${total('judged - suspects')}) as "botDetection",
             json_build_object(
               'totalMatched', ${total('matched')}, 'totalUnmatched', ${total('sessions - matched')},
               'matchRate', coalesce(sum(matched)::float8 / nullif(sum(sessions), 0)::float8, 0),
               'averageCorrelationConfidence', coalesce(${mean('confidence_micros', 'matched')}, 0)) as "userMatching",
             ${total('scored')}::int as scored
        from cells) totals`;

/** Counts all sessions by effective bin, except those with neither a score nor a label. */
export function getScoreDistribution({ db, integration }: DomainContext): Promise<ScoreDistribution> {
  return db.query(READ_DISTRIBUTION, [integration.id]);
}

const READ_DISTRIBUTION = `
  select bin, sum(sessions)::float8 as sessions
    from (select bin, ${countAtLeast('sessions', 'bin')} - ${countAtLeast('sessions', 'bin + 1')} as sessions
            from session_rollups cross join generate_series(-1, 101) bin where ${OWN} and grain = 'all'
           union all
          select bin, sign from session_deltas where ${OWN}) c
   where bin >= -1 group by bin having sum(sessions) <> 0 order by bin`;

/** Reads the counters of the whole integration (specification: GET /v1/stats). */
export async function getStats(context: DomainContext): Promise<Stats> {
  const { id, botAt } = context.integration;
  const [stats] = await context.db.query<Stats>(READ_STATS, [id, botAt]);
  return stats!;
}

const countRows = (kind: string) =>
  `(select coalesce(sum(rows), 0)::int from row_counts where ${OWN} and kind = '${kind}')`;

/** The end of an open time range. With two ends, the planner expects few rows and uses the index. */
const NO_END = "'infinity'";

const READ_STATS = `
  with day as materialized (
    select since, date_trunc('hour', since + interval '1 hour' - interval '1 ms', 'UTC') as full_at
      from (select now() - interval '24 hours' as since) s),
  unfolded as materialized (${UNFOLDED}),
  changes as (select kind, value, other, sign from unfolded ${ENTITIES}),
  cells as (
    select ${COUNT_COLUMNS}, ${countAtLeast('sessions', '-2')} as sessions, ${countAtLeast('sessions', '$2::int')} as bots
      from session_rollups where ${OWN} and grain = 'all'
     union all
    select ${DELTA_COUNTS}, sign, case when bin >= $2::int then sign else 0 end from unfolded),
  recent as (
    select ${countAtLeast('sessions', '-2')} as sessions from session_rollups
     where ${OWN} and grain = 'hour' and start >= (select full_at from day) and start < ${NO_END}
     union all
    select sign from unfolded where hour >= (select full_at from day)
     union all
    select count(*) from sessions
     where ${OWN} and created_at >= (select since from day) and created_at < (select full_at from day))
  select coalesce(sum(sessions), 0)::int as "totalSessions", coalesce(sum(active), 0)::int as "activeSessions",
         (select coalesce(sum(sessions), 0)::int from recent) as "sessionsLast24h",
         coalesce(sum(events), 0)::float8 as "totalEvents",
         ${countOthers('all', '$1', "''")} as "totalUsers",
         ${countRows('courses')} as "totalCourses",
         coalesce(sum(matched), 0)::int as "matchedSessions",
         coalesce(sum(sessions) - sum(matched), 0)::int as "unmatchedSessions",
         coalesce(sum(bots), 0)::int as "botSessions",
         ${mean('score_micros', 'scored')} as "averageBotScore",
         ${countRows('anomalies')} as anomalies,
         coalesce(sum(labeled_bot), 0)::int as "labeledBot", coalesce(sum(labeled_human), 0)::int as "labeledHuman",
         ${countRows('device_confirmations')} as "confirmedDevices",
         (select count(*)::int from webhook_subscriptions
           where ${OWN} and enabled and deleted_at is null) as "activeWebhooks",
         greatest((select max(created_at) from sessions where ${OWN}),
                  (select last_seen_at from pruned_ends where ${OWN} and kind = 'all')) as "lastSessionAt",
         now() as "generatedAt"
    from cells`;
