import { openDatabase } from '../../db/client';
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

/** Judging a session may cost this much more among many sessions than among few. */
const AT_MOST = 1.5;
const WARM_UP = 200;
const ROUNDS = 2_000;
const TENANTS = ['small', 'large'] as const;

/**
 * Measures what it costs to judge a session by all rules on findings, among few sessions and among many. Nothing that is found
 * is written.
 */
export async function measureFindings({ name, sessions, say }: BenchOptions): Promise<Report> {
  const embedded = await startEmbeddedDatabase({ dataDir: await makeDataDir(), log: SILENT });
  await migrateDatabase({ url: embedded.url, directory: 'db/migrations', region: 'us' });
  say(`${sessions} sessions`);
  const counts = { small: SMALL, large: sessions };
  const histories = TENANTS.map((integrationId) => ({ integrationId, sessions: counts[integrationId] }));
  await loadHistories(embedded.url, histories, createProgress(name));
  const db = openDatabase({ url: embedded.url, maxConnections: 4 });
  try {
    let found = 0;
    const ingestFacts = async ({ facts }: { facts: Fact[] }) => {
      found += facts.length;
      return { accepted: facts.length, duplicates: 0, suppressed: 0 };
    };
    const log = { warn() {} } as unknown as Parameters<typeof createFindingJudge>[0]['log'];
    const judge = createFindingJudge({ db, log, ingester: { ingestFacts } });
    const times: Record<(typeof TENANTS)[number], number[]> = { small: [], large: [] };
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const integrationId of TENANTS) {
        // Another session each round, spread over the whole history.
        const n = Math.floor(((round + WARM_UP) * 7_919) % counts[integrationId]);
        const entry = makeEntry(integrationId, `ses-${String(n).padStart(9, '0')}`);
        const from = performance.now();
        await judge(entry);
        if (round >= 0) times[integrationId].push(performance.now() - from);
      }
    const [small, large] = TENANTS.map((tenant) => describeDistribution(times[tenant])) as [
      ReturnType<typeof describeDistribution>,
      ReturnType<typeof describeDistribution>,
    ];
    const figures: Figure[] = [
      { name: 'a session by all rules, median', value: large.p50, unit: 'ms', floor: small.p50 },
      { name: 'a session by all rules, p99', value: large.p99, unit: 'ms', floor: small.p99 },
      {
        name: `a session by all rules ÷ that among ${SMALL}`,
        ...{ value: large.p50 / small.p50, unit: '', goal: { atMost: AT_MOST } },
      },
    ];
    return { figures, details: { small, large, found }, notes: makeNotes(sessions) };
  } finally {
    await db.close();
    await embedded.stop();
  }
}

/** An entry for which every rule looks. */
const makeEntry = (integrationId: string, sessionId: string): OutboxEntry => ({
  ...{ integrationId, sessionId, id: sessionId },
  causes: ['correlated', 'happened', 'scored', 'closed'],
});

const makeNotes = (sessions: number) => [
  `In this process, one session at a time: a tenant with ${sessions} sessions in 90 days, floor one with ${SMALL} in the same database,`,
  'judged alternately. All rules look at each session; what they find is counted and not written.',
];
