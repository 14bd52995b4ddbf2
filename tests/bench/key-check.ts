import { openDatabase } from '../../db/client';
import { createKeyVerifier } from '../../server/domain/key-verifier';
import { readEnv } from '../../server/platform/env';
import { alternate } from './load';
import { openProductBench, SETTINGS } from './product-bench';
import { type BenchOptions, compareToFloor, type Report } from './report';

const ROUNDS = 4;
/** The default of `DATABASE_POOL_MAX`. */
const POOL = 5;
const AT_ONCE = 16;
const AT_MOST = 1.5;

/**
 * Measures the check of a key and its rate limit, which every request pays for, compared to one look-up by primary key.
 */
export async function measureKeyCheck({ sessions: count, say }: BenchOptions): Promise<Report> {
  say('starting Postgres and the product');
  const bench = await openProductBench();
  const db = openDatabase({ url: bench.databaseUrl, maxConnections: POOL });
  try {
    const { id, key } = await bench.createTenant('key');
    const { quotas } = readEnv(SETTINGS);
    const verifyKey = createKeyVerifier({ db, quotas });
    const check = async () => {
      const verified = await verifyKey({ key, scheme: 'bearer' });
      if (verified === null || verified.rateLimit.isExceeded) throw new Error('the key was refused');
    };
    const lookUp = async () => {
      const found = await db.query('select * from integrations where id = $1', [id]);
      if (found.length !== 1) throw new Error('the tenant was not found');
    };
    const measure = async (atOnce: number) => {
      const run = (work: () => Promise<void>) => () => timeEach(work, Math.ceil(count / ROUNDS), atOnce);
      const [checks, lookUps] = await alternate(ROUNDS, run(check), run(lookUp));
      return { value: average(checks), floor: average(lookUps) };
    };
    say('warm-up');
    for (const work of [check, lookUp]) await timeEach(work, count, AT_ONCE);
    say(`${count} checks, one at a time`);
    const alone = await measure(1);
    say(`${count} checks, ${AT_ONCE} at a time`);
    const together = await measure(AT_ONCE);
    return {
      figures: [
        ...compareToFloor({ name: 'key and limit', unit: 'µs', ...alone }, { atMost: AT_MOST }),
        { name: `key and limit, ${AT_ONCE} at a time`, unit: 'µs', ...together },
      ],
      notes: [
        `${count} checks of one key in this process, in ${ROUNDS} rounds alternating with the floor; time divided by number.`,
        'Floor: one prepared select by primary key through the pool. A check is a look-up, so it has a connection outside of the pool.',
      ],
    };
  } finally {
    await db.close();
    await bench.close();
  }
}

/** Measures the average µs of each call. */
async function timeEach(work: () => Promise<void>, count: number, atOnce: number): Promise<number> {
  let begun = 0;
  const repeat = async () => {
    while (begun++ < count) await work();
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: atOnce }, repeat));
  return ((performance.now() - from) * 1_000) / count;
}

const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
