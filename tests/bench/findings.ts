import { type Database, openDatabase } from '../../db/client';
import { startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { createFindingJudge } from '../../server/findings/judge';
import type { Fact } from '../../server/pipeline/facts';
import type { OutboxEntry } from '../../server/pipeline/rows';
import { makeDataDir } from '../support/product';
import { loadHistories } from './history';
import { SMALL } from './history-bench';
import { SILENT } from './product-bench';
import { createProgress } from './progress';
import { type BenchOptions, describeDistribution, type Figure, type Report } from './report';

/** Judging a session may read this many more pages among many sessions than among few: the indexes are a little higher. */
const AT_MOST = 1.5;
const WARM_UP = 200;
const ROUNDS = 2_000;
const TENANTS = ['small', 'large'] as const;
type Tenant = (typeof TENANTS)[number];
const LOG = { warn() {} } as unknown as Parameters<typeof createFindingJudge>[0]['log'];

/**
 * Measures what it costs to judge a session by all rules on findings, among few sessions and among many: the time, and the
 * pages that Postgres reads, from its memory or not. The newest sessions are judged, because facts arrive of these. Nothing that
 * is found is written.
 */
export async function measureFindings({ name, sessions, say }: BenchOptions): Promise<Report> {
  const embedded = await startEmbeddedDatabase({ dataDir: await makeDataDir(), log: SILENT });
  await migrateDatabase({ url: embedded.url, directory: 'db/migrations', region: 'us' });
  say(`${sessions} sessions`);
  const counts = { small: SMALL, large: sessions };
  const histories = TENANTS.map((integrationId) => ({ integrationId, sessions: counts[integrationId] }));
  await loadHistories(embedded.url, histories, createProgress(name));
  // One connection, because each has counters of its own.
  const db = openDatabase({ url: embedded.url, maxConnections: 1 });
  try {
    let found = 0;
    const ingestFacts = async ({ facts }: { facts: Fact[] }) => {
      found += facts.length;
      return { accepted: facts.length, duplicates: 0, suppressed: 0 };
    };
    const judge = createFindingJudge({ db, log: LOG, ingester: { ingestFacts } });
    const judgeNewest = (tenant: Tenant, round: number) => judge(makeEntry(tenant, counts[tenant] - 1 - round));
    const times: Record<Tenant, number[]> = { small: [], large: [] };
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const tenant of TENANTS) {
        const from = performance.now();
        await judgeNewest(tenant, round);
        if (round >= WARM_UP) times[tenant].push(performance.now() - from);
      }
    const pages: Record<Tenant, number> = { small: 0, large: 0 };
    for (const tenant of TENANTS) {
      const before = await countPages(db);
      for (let round = 0; round < ROUNDS; round++) await judgeNewest(tenant, round);
      pages[tenant] = ((await countPages(db)) - before) / ROUNDS;
    }
    const [small, large] = [describeDistribution(times.small), describeDistribution(times.large)];
    const figures: Figure[] = [
      { name: 'a session by all rules, median', value: large.p50, unit: 'ms', floor: small.p50 },
      { name: 'a session by all rules, p99', value: large.p99, unit: 'ms', floor: small.p99 },
      { name: 'a session by all rules', value: pages.large, unit: 'pages', floor: pages.small },
      {
        name: `pages of a session ÷ those among ${SMALL}`,
        ...{ value: pages.large / pages.small, unit: '', goal: { atMost: AT_MOST } },
      },
    ];
    return { figures, details: { small, large, found }, notes: makeNotes(sessions) };
  } finally {
    await db.close();
    await embedded.stop();
  }
}

/** Counts the pages that were read so far, all of them. */
async function countPages(db: Database): Promise<number> {
  await db.query('select pg_stat_force_next_flush()', []);
  const [row] = await db.query<{ pages: number }>(
    'select (blks_hit + blks_read)::float8 as pages from pg_stat_database where datname = current_database()',
    [],
  );
  return row!.pages;
}

/** An entry for which every rule looks. */
function makeEntry(integrationId: string, n: number): OutboxEntry {
  const sessionId = `ses-${String(n).padStart(9, '0')}`;
  return { integrationId, sessionId, id: sessionId, causes: ['correlated', 'happened', 'scored', 'closed'] };
}

const makeNotes = (sessions: number) => [
  `In this process, one session at a time: a tenant with ${sessions} sessions in 90 days, floor one with ${SMALL} in the same database,`,
  'judged alternately, the newest first. All rules look at each session; what they find is counted and not written.',
];
