import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../db/client';
import { startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { createProgress } from '../bench/progress';
import { type Figure, formatTable, meetsGoal } from '../bench/report';
import { endProducts } from '../support/product';
import { startReceiver } from '../support/receiver';
import { openSite, RECOVERY_LIMIT_MS } from '../support/site';
import { findFaults, type KillOutcome, killServer, killSettings } from './kill';

// `npm run test:faults [-- --kills N --seed N]`: kills servers at random moments, each again and again on the same data.
// Prints each fault with its seed, and a summary. Exits with 1 if anything was lost, arrived under a second id or without a
// reason, or waited too long. Progress goes to stderr.

/** How many servers run and are killed independently of each other, each on its own database. */
const LANES = 3;
const HOUR_MS = 3_600_000;
/** How long it takes at most until other servers send again what was in flight at a kill (docs/operating.md). */
const TAKE_OVER_GOAL_MS = 3_000;

interface Options {
  kills: number;
  firstSeed: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
  });
  const [kills, firstSeed] = [Number(values.kills), Number(values.seed)];
  if (!(Number.isInteger(kills) && kills > 0)) throw new Error('--kills: must be a whole number above 0');
  if (!Number.isInteger(firstSeed)) throw new Error('--seed: must be a whole number');
  return { kills, firstSeed };
}

async function runKills({ kills, firstSeed }: Options): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-faults-'));
  const postgres = await startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });
  const stop = async () => {
    await endProducts();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  process.once('SIGINT', () => void stop().finally(() => process.exit(1)));
  try {
    const progress = createProgress('kills');
    const outcomes: KillOutcome[] = [];
    const seeds = Array.from({ length: kills }, (_, n) => firstSeed + n);
    const from = Date.now();
    const lanes = Array.from({ length: Math.min(LANES, kills) }, (_, n) =>
      runLane(postgres.url, `lane_${n}`, seeds, (outcome) => {
        outcomes.push(outcome);
        progress(`${outcomes.length} of ${kills}`, outcomes.length, kills);
        for (const fault of findFaults(outcome)) process.stdout.write(`  ✗ seed ${outcome.seed}: ${fault}\n`);
      }),
    );
    await Promise.all(lanes);
    const figures = summarise(outcomes, Date.now() - from);
    process.stdout.write(`${formatTable(figures)}\n`);
    return figures.every((figure) => meetsGoal(figure) !== false);
  } finally {
    await stop();
  }
}

/** Takes one seed after the other and kills a server with it. */
async function runLane(url: string, name: string, seeds: number[], onOutcome: (outcome: KillOutcome) => void) {
  const owner = openDatabase({ url, maxConnections: 1 });
  await owner.sql.unsafe(`create database ${name}`);
  await owner.close();
  const laneUrl = new URL(url);
  laneUrl.pathname = `/${name}`;
  await migrateDatabase({ url: laneUrl.href, directory: 'db/migrations', region: 'us' });
  const db = openDatabase({ url: laneUrl.href, maxConnections: 4 });
  const receiver = await startReceiver();
  try {
    const site = await openSite({ db, url: laneUrl.href }, killSettings(receiver));
    let server = await site.start();
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const outcome = await killServer(site, server, receiver, seed);
      server = outcome.server;
      onOutcome(outcome);
    }
    server.signal('SIGKILL');
    await server.endWithin(5_000);
  } finally {
    await receiver.stop();
    await db.close();
  }
}

function summarise(outcomes: KillOutcome[], tookMs: number): Figure[] {
  const sum = (read: (outcome: KillOutcome) => number) => outcomes.reduce((total, one) => total + read(one), 0);
  const max = (read: (outcome: KillOutcome) => number) => Math.max(...outcomes.map(read));
  const none: Figure['goal'] = { atMost: 0 };
  return [
    { name: 'kills', value: outcomes.length, unit: '' },
    { name: 'kills per hour', value: (outcomes.length / tookMs) * HOUR_MS, unit: '' },
    { name: 'deliveries', value: sum(({ deliveries }) => deliveries), unit: '' },
    { name: 'arrivals', value: sum(({ arrivals }) => arrivals), unit: '' },
    { name: 'in flight at a kill', value: sum(({ inFlight }) => inFlight), unit: '' },
    { name: 'lost', value: sum(({ lost }) => lost.length), unit: '', goal: none },
    { name: 'second ids', value: sum(({ secondIds }) => secondIds.length), unit: '', goal: none },
    { name: 'repeated', value: sum(({ repeated }) => repeated.length), unit: '' },
    {
      name: 'repeated though not in flight',
      value: sum(({ unexplained }) => unexplained.length),
      unit: '',
      goal: none,
    },
    {
      name: 'longest wait, in flight at the kill',
      value: max(({ longestWaitMs }) => longestWaitMs.inFlight),
      unit: 'ms',
      goal: { atMost: TAKE_OVER_GOAL_MS },
    },
    {
      name: 'longest wait, others',
      value: max(({ longestWaitMs }) => longestWaitMs.others),
      unit: 'ms',
      goal: { atMost: RECOVERY_LIMIT_MS },
    },
  ];
}

process.exit((await runKills(readOptions())) ? 0 : 1);
