import type { Analytics } from '../../contract/analytics';
import {
  describePair,
  type HistoryBench,
  LONG,
  measurePair,
  openHistoryBench,
  type Pair,
  type PairedRead,
  readAnswer,
  SMALL,
} from './history-bench';
import { type BenchOptions, type Figure, findMedian, type Report } from './report';

const AT_MOST = 1.5;
const RAW_RUNS = 3;
/** Compared to the raw aggregate, for long histories: few sessions are counted quickly anyway. */
const LEAST_GAIN = 100;

const both = (name: string, path: string, atMost?: number): PairedRead => ({
  ...{ name, small: [path], large: [path] },
  ...(atMost === undefined ? {} : { atMost }),
});
const ANALYTICS = both('analytics, 90d by day', '/v1/analytics?period=90d&groupBy=day', AT_MOST);
const STATS = both('stats', '/v1/stats', AT_MOST);
const READS = [
  ANALYTICS,
  both('analytics, 7d by hour', '/v1/analytics?period=7d&groupBy=hour'),
  STATS,
  both('users', '/v1/users', AT_MOST),
  both('courses', '/v1/courses'),
];

/** Measures aggregates over a long history, compared to a short history and to counting the sessions directly. */
export async function measureAggregates(options: BenchOptions): Promise<Report> {
  const { seconds, say, sessions } = options;
  const bench = await openHistoryBench(options);
  try {
    const figures: Figure[] = [];
    const pairs: Record<string, Pair> = {};
    for (const read of READS) {
      say(read.name);
      const pair = await measurePair(bench, read, seconds);
      pairs[read.name] = pair;
      figures.push(...describePair(read, pair));
    }
    say('raw aggregates');
    const raw = await measureRaw(bench);
    for (const [{ name }, ms] of [
      [ANALYTICS, raw.analytics],
      [STATS, raw.stats],
    ] as const) {
      const gain = { name: `${name}: raw ÷ ours`, value: ms / pairs[name]!.large.p50, unit: '' };
      figures.push({ name: `${name}: raw aggregate`, value: ms, unit: 'ms' });
      figures.push(sessions < LONG ? gain : { ...gain, goal: { atLeast: LEAST_GAIN } });
    }
    return { figures, details: { pairs, raw }, notes: makeNotes(sessions) };
  } finally {
    await bench.close();
  }
}

/** Measures the raw aggregates in ms. They must return the same counts as the product. */
async function measureRaw(bench: HistoryBench): Promise<{ analytics: number; stats: number }> {
  const { sql, large } = bench;
  const { data } = await readAnswer<{ data: Analytics }>(bench, large, ANALYTICS.large[0]!);
  const [counted] = await sql.unsafe(RAW_ANALYTICS, [large.id, data.startDate, data.endDate]);
  const { totalSessions, totalEvents, uniqueBots, uniqueUsers } = data.summary;
  const own = [totalSessions, totalEvents, uniqueBots, uniqueUsers].join();
  const expected = ['sessions', 'events', 'uniqueBots', 'uniqueUsers'].map((name) => counted![name]).join();
  if (own !== expected) throw new Error(`analytics say ${own}, the sessions ${expected}`);
  const time = async (statement: string, values: string[]) => {
    const runs: number[] = [];
    for (let run = 0; run < RAW_RUNS; run++) {
      const from = performance.now();
      await sql.unsafe(statement, values);
      runs.push(performance.now() - from);
    }
    return findMedian(runs);
  };
  return {
    analytics: await time(RAW_ANALYTICS, [large.id, data.startDate, data.endDate]),
    stats: await time(RAW_STATS, [large.id]),
  };
}

const WINDOW = 'from sessions where integration_id = $1 and created_at >= $2 and created_at < $3';
const IS_BOT = 'effective_bin >= 70';

/** Uses the thresholds that a new tenant has. */
const RAW_ANALYTICS = `
  select *,
         (select json_agg(d) from (
            select date_trunc('day', created_at, 'UTC') as day, count(*), sum(event_count) as events,
                   count(*) filter (where ${IS_BOT}) as bots, count(user_id) as matched ${WINDOW} group by 1) d) as days,
         (select json_agg(o) from (
            select origin, count(*), count(*) filter (where ${IS_BOT}) as bots ${WINDOW}
             group by origin order by 2 desc limit 10) o) as origins,
         (select json_agg(b) from (select device_type, browser, count(*) ${WINDOW} group by 1, 2) b) as devices
    from (select count(*) as sessions, sum(event_count) as events, avg(bot_score), count(user_id) as matched,
                 avg(correlation_confidence), count(distinct user_id) as "uniqueUsers",
                 count(distinct fingerprint) filter (where ${IS_BOT})
                 + count(*) filter (where ${IS_BOT} and fingerprint is null) as "uniqueBots",
                 count(*) filter (where effective_bin >= 90) as certain,
                 count(*) filter (where effective_bin >= 40 and effective_bin < 70) as suspects,
                 count(*) filter (where effective_bin < 40) as humans ${WINDOW}) totals`;

const RAW_STATS = `
  select count(*), count(*) filter (where status = 'Active'), sum(event_count), count(distinct user_id),
         count(distinct course_id), count(user_id), count(*) filter (where ${IS_BOT}), avg(bot_score),
         count(*) filter (where label = 1), count(*) filter (where label = -1), max(created_at),
         count(*) filter (where created_at >= now() - interval '24 hours')
    from sessions where integration_id = $1`;

const makeNotes = (sessions: number) => [
  `Median latency of one request at a time, \`npm start\`, one process: a tenant with ${sessions} sessions in 90 days, floor`,
  `one with ${SMALL} in the same database, requested alternately. Raw aggregate: the same numbers by SQL from the sessions of the`,
  `longer one, median of ${RAW_RUNS}; its goal is for ${LONG} sessions.`,
];
