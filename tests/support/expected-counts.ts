import {
  compareBytes,
  confidenceOf,
  eventsOf,
  type ModelSession,
  scoreOf,
  statusOf,
  sum,
  type TenantModel,
  userOf,
} from './tenant-model';

// The answers with counts, computed from a tenant's model: each number is one filter over all sessions.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
export const PERIOD_MS = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY, '90d': 90 * DAY };
export const BUCKET_MS = { hour: HOUR, day: DAY, week: 7 * DAY };
export type PeriodName = keyof typeof PERIOD_MS;
export type BucketName = keyof typeof BUCKET_MS;

/** Finds the start of the bucket of an instant, in UTC. A week starts on Monday. */
export function floorTo(bucket: BucketName, ms: number): number {
  const date = new Date(ms);
  date.setUTCMinutes(0, 0, 0);
  if (bucket === 'hour') return date.getTime();
  date.setUTCHours(0);
  if (bucket === 'week') while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  return date.getTime();
}

const isoOf = (ms: number) => new Date(ms).toISOString();
const known = <T>(values: (T | null)[]): T[] => values.filter((value) => value !== null);
const distinct = <T>(values: (T | null)[]): number => new Set(known(values)).size;
/** The mean of the known values, over whole millionths. */
const meanOf = (values: (number | null)[]): number | null =>
  known(values).length === 0 ? null : sum(known(values).map((v) => Math.round(v * 1e6))) / known(values).length / 1e6;
const extremes = (sessions: ModelSession[]) => {
  const times = sessions.map(({ createdAt }) => createdAt).sort();
  return { firstSeenAt: times[0]!, lastSeenAt: times.at(-1)! };
};

/** Rounds the fractions of an answer to ten digits. Means of the same numbers may differ after that. */
export function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(10));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)]));
}

export function expectedAnalytics(model: TenantModel, period: PeriodName, groupBy: BucketName, endDate: string) {
  const end = Date.parse(endDate);
  const start = floorTo(groupBy, end - PERIOD_MS[period]);
  const within = (from: number, to: number) =>
    [...model.sessions.values()].filter(({ createdAt }) => {
      const at = Date.parse(createdAt);
      return at >= from && at < to;
    });
  const sessions = within(start, end);
  const isBot = (session: ModelSession) => model.riskLevel(session) === 'bot';
  const isMatched = (session: ModelSession) => userOf(session) !== null;
  const count = (of: ModelSession[], condition: (session: ModelSession) => boolean) => of.filter(condition).length;
  const certain = Math.max(model.thresholds.botAt, 90);
  const isCertain = (session: ModelSession) => isBot(session) && model.effectiveBin(session)! >= certain;
  const timeSeries = [];
  for (let at = start; at < end; at += BUCKET_MS[groupBy]) {
    const bucket = within(at, Math.min(at + BUCKET_MS[groupBy], end));
    timeSeries.push({
      timestamp: isoOf(at),
      sessionCount: bucket.length,
      eventCount: sum(bucket.map(eventsOf)),
      botCount: count(bucket, isBot),
      userMatchedCount: count(bucket, isMatched),
    });
  }
  const bots = sessions.filter(isBot);
  const totalEvents = sum(sessions.map(eventsOf));
  const totalMatched = count(sessions, isMatched);
  const origins = [...new Set(sessions.map(({ place }) => place.origin))].map((origin) => {
    const there = sessions.filter(({ place }) => place.origin === origin);
    return { origin, sessionCount: there.length, botPercentage: (100 * count(there, isBot)) / there.length };
  });
  const ofDevice = (type: string) => count(sessions, ({ agent }) => agent.deviceType === type);
  const browsers = [...new Set(sessions.map(({ agent }) => agent.browser))];
  return {
    period,
    groupBy,
    startDate: isoOf(start),
    endDate,
    generatedAt: endDate,
    summary: {
      totalSessions: sessions.length,
      totalEvents,
      uniqueBots: new Set(bots.map(({ fingerprint, id }) => (fingerprint === null ? `session ${id}` : fingerprint)))
        .size,
      uniqueUsers: distinct(sessions.map(userOf)),
      averageBotScore: meanOf(sessions.map(scoreOf)) ?? 0,
      averageEventsPerSession: sessions.length === 0 ? 0 : totalEvents / sessions.length,
    },
    timeSeries,
    botDetection: {
      highConfidenceBots: count(sessions, isCertain),
      mediumConfidenceBots: count(bots, (session) => !isCertain(session)),
      lowConfidenceBots: count(sessions, (session) => model.riskLevel(session) === 'medium'),
      likelyHumans: count(sessions, (session) => model.riskLevel(session) === 'human'),
    },
    userMatching: {
      totalMatched,
      totalUnmatched: sessions.length - totalMatched,
      matchRate: sessions.length === 0 ? 0 : totalMatched / sessions.length,
      averageCorrelationConfidence: meanOf(sessions.map(confidenceOf)) ?? 0,
    },
    topOrigins: origins
      .sort((a, b) => b.sessionCount - a.sessionCount || compareBytes(a.origin, b.origin))
      .slice(0, 10),
    deviceBreakdown: {
      mobile: ofDevice('mobile'),
      tablet: ofDevice('tablet'),
      desktop: ofDevice('desktop'),
      browserCounts: Object.fromEntries(
        browsers.map((name) => [name, count(sessions, (s) => s.agent.browser === name)]),
      ),
    },
  };
}

export function expectedStats(model: TenantModel, generatedAt: string, activeWebhooks: number) {
  const sessions = [...model.sessions.values()];
  const dayAgo = Date.parse(generatedAt) - DAY;
  const matched = sessions.filter((session) => userOf(session) !== null);
  return {
    totalSessions: sessions.length,
    activeSessions: sessions.filter((session) => statusOf(session) === 'Active').length,
    sessionsLast24h: sessions.filter(({ createdAt }) => Date.parse(createdAt) >= dayAgo).length,
    totalEvents: sum(sessions.map(eventsOf)),
    totalUsers: distinct(sessions.map(userOf)),
    totalCourses: distinct(sessions.map(({ place }) => place.course?.id ?? null)),
    matchedSessions: matched.length,
    unmatchedSessions: sessions.length - matched.length,
    botSessions: sessions.filter((session) => model.riskLevel(session) === 'bot').length,
    averageBotScore: meanOf(sessions.map(scoreOf)),
    anomalies: model.anomalies.size,
    labeledBot: sessions.filter(({ label }) => label === 'bot').length,
    labeledHuman: sessions.filter(({ label }) => label === 'human').length,
    confirmedDevices: sum([...model.confirmations.values()].map((devices) => devices.size)),
    activeWebhooks,
    lastSessionAt: sessions.length === 0 ? null : extremes(sessions).lastSeenAt,
    generatedAt,
  };
}

/** The users that sessions are correlated with, by id. */
export function expectedUsers(model: TenantModel) {
  const all = [...model.sessions.values()];
  return [...model.users.keys()]
    .filter((id) => all.some((session) => userOf(session) === id))
    .sort(compareBytes)
    .map((id) => {
      const { name, email, url } = model.users.get(id)!;
      const sessions = all.filter((session) => userOf(session) === id);
      const scores = known(sessions.map(scoreOf));
      const bins = known(sessions.map((session) => model.effectiveBin(session)));
      return {
        id,
        name,
        email,
        url,
        sessionCount: sessions.length,
        botSessionCount: sessions.filter((session) => model.riskLevel(session) === 'bot').length,
        averageBotScore: meanOf(scores),
        maxBotScore: scores.length === 0 ? null : Math.max(...scores),
        riskLevel: bins.length === 0 ? null : model.levelOf(Math.max(...bins)),
        deviceCount: distinct(sessions.map(({ fingerprint }) => fingerprint)),
        confirmedDeviceCount: model.confirmations.get(id)?.size ?? 0,
        anomalyCount: [...model.anomalies.values()].filter(({ userId }) => userId === id).length,
        correlationConfidence: meanOf(sessions.map(confidenceOf)),
        ...extremes(sessions),
      };
    });
}

/** The courses, by id. */
export function expectedCourses(model: TenantModel) {
  const all = [...model.sessions.values()];
  const courses = new Map(all.flatMap(({ place: { course } }) => (course ? [[course.id, course] as const] : [])));
  return [...courses.values()]
    .sort((a, b) => compareBytes(a.id, b.id))
    .map((course) => {
      const sessions = all.filter(({ place }) => place.course?.id === course.id);
      return {
        ...course,
        sessionCount: sessions.length,
        userCount: distinct(sessions.map(userOf)),
        botSessionCount: sessions.filter((session) => model.riskLevel(session) === 'bot').length,
        averageBotScore: meanOf(sessions.map(scoreOf)),
        ...extremes(sessions),
      };
    });
}
