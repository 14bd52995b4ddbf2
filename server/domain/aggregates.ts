import { type Analytics, type AnalyticsInput, PERIODS } from '../contract/analytics';
import type { Course, ListCoursesInput } from '../contract/courses';
import { ApiError } from '../contract/errors';
import { clampPageSize, type Page } from '../contract/pagination';
import type { Stats } from '../contract/stats';
import type { ListUsersInput, User } from '../contract/users';
import type { DomainContext } from './context';
import { decodeCursor, makePage } from './cursors';
import { classifyRisk } from './risk';

// Everything here is counted from the raw rows at the time of the request, each answer in one statement. Scores are
// summed as whole millionths, so that no order of adding shows.

const mean = (column: string) => `sum(round(${column} * 1e6)) / nullif(count(${column}), 0) / 1e6`;

/** An instant inside JSON, as the wire has it. */
const wireInstant = (expression: string) =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Lists the users that sessions are correlated with, by id (specification: GET /v1/users). */
export async function listUsers(context: DomainContext, input: ListUsersInput): Promise<Page<User>> {
  const { integration } = context;
  const show = ({ maxEffectiveBin, ...user }: Omit<User, 'riskLevel'> & { maxEffectiveBin: number | null }): User => ({
    ...user,
    riskLevel: classifyRisk(maxEffectiveBin, integration),
  });
  return listById(context, 'users', LIST_USERS, input, show);
}

const LIST_USERS = `
  select u.id, u.name, u.email, u.url, s.*,
         (select count(*)::int from device_confirmations c
           where c.integration_id = u.integration_id and c.user_id = u.id) as "confirmedDeviceCount",
         (select count(*)::int from anomalies a
           where a.integration_id = u.integration_id and a.user_id = u.id) as "anomalyCount"
    from users u cross join lateral (
      select count(*)::int as "sessionCount",
             (count(*) filter (where effective_bin >= $4))::int as "botSessionCount",
             ${mean('bot_score')} as "averageBotScore", max(bot_score) as "maxBotScore",
             max(effective_bin) as "maxEffectiveBin", count(distinct fingerprint)::int as "deviceCount",
             ${mean('correlation_confidence')} as "correlationConfidence",
             min(created_at) as "firstSeenAt", max(created_at) as "lastSeenAt"
        from sessions s where s.integration_id = u.integration_id and s.user_id = u.id having count(*) > 0) s
   where u.integration_id = $1 and u.id > $2
   order by u.id limit $3`;

/** Lists the courses that sessions took place in, by id (specification: GET /v1/courses). */
export async function listCourses(context: DomainContext, input: ListCoursesInput): Promise<Page<Course>> {
  return listById(context, 'courses', LIST_COURSES, input, (course: Course) => course);
}

const LIST_COURSES = `
  select c.id, c.name, c.code, c.url, s.*
    from courses c cross join lateral (
      select count(*)::int as "sessionCount", count(distinct user_id)::int as "userCount",
             (count(*) filter (where effective_bin >= $4))::int as "botSessionCount",
             ${mean('bot_score')} as "averageBotScore",
             min(created_at) as "firstSeenAt", max(created_at) as "lastSeenAt"
        from sessions s where s.integration_id = c.integration_id and s.course_id = c.id having count(*) > 0) s
   where c.integration_id = $1 and c.id > $2
   order by c.id limit $3`;

/** A page of things that are listed by id. `statement` takes integration, id to go on after, limit and botAt. */
async function listById<Row extends { id: string }, Item>(
  context: DomainContext,
  route: string,
  statement: string,
  { cursor, pageSize }: { cursor?: string | undefined; pageSize: number },
  show: (row: Row) => Item,
): Promise<Page<Item>> {
  const { integration } = context;
  const walk = { route, filters: {} };
  const limit = clampPageSize(pageSize, integration.tier);
  // No id is empty, and every other one sorts after it.
  const [after] = cursor === undefined ? [''] : decodeCursor(context, walk, cursor);
  const rows = await context.db.query<Row>(statement, [integration.id, String(after), limit + 1, integration.botAt]);
  return makePage(context, walk, rows, limit, show, (row) => [row.id]);
}

/** Counts everything that the integration has (specification: GET /v1/stats). */
export async function getStats(context: DomainContext): Promise<Stats> {
  const { id, botAt } = context.integration;
  const [stats] = await context.db.query<Stats>(READ_STATS, [id, botAt]);
  return stats!;
}

const READ_STATS = `
  select count(*)::int as "totalSessions",
         (count(*) filter (where status = 'Active'))::int as "activeSessions",
         (count(*) filter (where created_at >= now() - interval '24 hours'))::int as "sessionsLast24h",
         coalesce(sum(event_count), 0)::float8 as "totalEvents",
         count(distinct user_id)::int as "totalUsers",
         count(distinct course_id)::int as "totalCourses",
         count(user_id)::int as "matchedSessions",
         (count(*) - count(user_id))::int as "unmatchedSessions",
         (count(*) filter (where effective_bin >= $2))::int as "botSessions",
         ${mean('bot_score')} as "averageBotScore",
         (select count(*)::int from anomalies where integration_id = $1) as anomalies,
         (count(*) filter (where label = 1))::int as "labeledBot",
         (count(*) filter (where label = -1))::int as "labeledHuman",
         (select count(*)::int from device_confirmations where integration_id = $1) as "confirmedDevices",
         (select count(*)::int from webhook_subscriptions
           where integration_id = $1 and enabled and deleted_at is null) as "activeWebhooks",
         max(created_at) as "lastSessionAt", now() as "generatedAt"
    from sessions where integration_id = $1`;

interface AnalyticsRow extends Omit<Analytics, 'period' | 'groupBy' | 'generatedAt' | 'deviceBreakdown'> {
  devices: Omit<Analytics['deviceBreakdown'], 'browserCounts'>;
  browserCounts: Record<string, number>;
}

/**
 * Counts the sessions of a window that ends now, by time, class, user, origin and device (specification: Analytics;
 * decisions: Scores and risk). UNSUPPORTED_OPERATION for a window shorter than its bucket.
 */
export async function getAnalytics(context: DomainContext, input: AnalyticsInput): Promise<Analytics> {
  const { period, groupBy } = input;
  const { id, mediumAt, botAt } = context.integration;
  if (period === '24h' && groupBy === 'week')
    throw new ApiError('UNSUPPORTED_OPERATION', 'A period of 24h cannot be grouped by week');
  const [row] = await context.db.query<AnalyticsRow>(READ_ANALYTICS, [id, PERIODS[period], groupBy, mediumAt, botAt]);
  const { devices, browserCounts, ...counted } = row!;
  return {
    period,
    groupBy,
    generatedAt: counted.endDate,
    ...counted,
    deviceBreakdown: { ...devices, browserCounts },
  };
}

const IS_BOT = 'effective_bin >= $5::int';
/** Bots from here on are certain; never below the cut point itself. */
const CERTAIN_BIN = 'greatest($5::int, 90)';

const READ_ANALYTICS = `
  with span as materialized (
    select date_trunc($3, at - $2 * interval '1 hour', 'UTC') as start_at, at as end_at,
           case $3 when 'hour' then interval '1 hour' when 'day' then interval '24 hours' else interval '168 hours' end as step
      from (select date_trunc('milliseconds', now()) as at) n),
  s as materialized (
    select id, date_trunc($3, created_at, 'UTC') as bucket, event_count, bot_score, effective_bin, user_id,
           correlation_confidence, fingerprint, origin, device_type, browser
      from sessions
     where integration_id = $1 and created_at >= (select start_at from span) and created_at < (select end_at from span)),
  buckets as (
    select bucket, count(*) as sessions, sum(event_count) as events, count(*) filter (where ${IS_BOT}) as bots,
           count(user_id) as matched
      from s group by bucket)
  select span.start_at as "startDate", span.end_at as "endDate", totals.*,
         (select json_agg(json_build_object(
                   'timestamp', ${wireInstant('slot')}, 'sessionCount', coalesce(sessions, 0),
                   'eventCount', coalesce(events, 0), 'botCount', coalesce(bots, 0),
                   'userMatchedCount', coalesce(matched, 0)) order by slot)
            from generate_series(span.start_at, span.end_at - interval '1 ms', span.step) slot
            left join buckets on bucket = slot) as "timeSeries",
         (select coalesce(json_agg(o), '[]') from (
            select origin, count(*) as "sessionCount", 100.0 * count(*) filter (where ${IS_BOT}) / count(*) as "botPercentage"
              from s group by origin order by 2 desc, origin collate "C" limit 10) o) as "topOrigins",
         (select coalesce(json_object_agg(browser, n), '{}') from (
            select browser, count(*) as n from s group by browser) b) as "browserCounts"
    from span cross join (
      select json_build_object(
               'totalSessions', count(*), 'totalEvents', coalesce(sum(event_count), 0),
               'uniqueBots', count(distinct fingerprint) filter (where ${IS_BOT})
                             + count(*) filter (where ${IS_BOT} and fingerprint is null),
               'uniqueUsers', count(distinct user_id),
               'averageBotScore', coalesce(${mean('bot_score')}, 0),
               'averageEventsPerSession', coalesce(sum(event_count)::float8 / nullif(count(*), 0), 0)) as summary,
             json_build_object(
               'highConfidenceBots', count(*) filter (where effective_bin >= ${CERTAIN_BIN}),
               'mediumConfidenceBots', count(*) filter (where ${IS_BOT} and effective_bin < ${CERTAIN_BIN}),
               'lowConfidenceBots', count(*) filter (where effective_bin >= $4::int and effective_bin < $5::int),
               'likelyHumans', count(*) filter (where effective_bin < $4::int)) as "botDetection",
             json_build_object(
               'totalMatched', count(user_id), 'totalUnmatched', count(*) - count(user_id),
               'matchRate', coalesce(count(user_id)::float8 / nullif(count(*), 0), 0),
               'averageCorrelationConfidence', coalesce(${mean('correlation_confidence')}, 0)) as "userMatching",
             json_build_object(
               'mobile', count(*) filter (where device_type = 'mobile'),
               'tablet', count(*) filter (where device_type = 'tablet'),
               'desktop', count(*) filter (where device_type = 'desktop')) as devices
        from s) totals`;
