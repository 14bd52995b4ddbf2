import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../db/client';
import { startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { createProgress } from '../bench/progress';
import { describeFigure, formatTable, meetsGoal } from '../bench/report';
import { endProducts } from '../support/product';
import { runSoak, type SoakReport } from './soak';

// `npm run soak -- [--minutes N] [--seed N] [--json]`: mixed traffic on two servers with injected faults. Prints a
// table of the results and exits with 1 if anything was lost, wrong or unexplained. Progress goes to stderr.

const SHOWN_FAULTS = 20;

async function run(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes: must be a number above 0');
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isInteger(seed)) throw new Error('--seed: must be a whole number');
  const durationMs = minutes * 60_000;
  const progress = createProgress(`soak (--seed ${seed})`);
  const report = await withDatabase((database) =>
    runSoak(database, { durationMs, seed, onProgress: (what, doneMs) => progress(what, doneMs, durationMs) }),
  );
  process.stdout.write(`${values.json ? toJson(report, seed, minutes) : toText(report)}\n`);
  return report.figures.every((figure) => meetsGoal(figure) !== false);
}

async function withDatabase<T>(work: (database: { db: ReturnType<typeof openDatabase>; url: string }) => Promise<T>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-soak-'));
  const postgres = await startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });
  const stop = async () => {
    await endProducts();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  process.once('SIGINT', () => void stop().finally(() => process.exit(1)));
  try {
    await migrateDatabase({ url: postgres.url, directory: 'db/migrations', region: 'us' });
    const db = openDatabase({ url: postgres.url, maxConnections: 4 });
    try {
      return await work({ db, url: postgres.url });
    } finally {
      await db.close();
    }
  } finally {
    await stop();
  }
}

const toJson = ({ figures, faults }: SoakReport, seed: number, minutes: number) =>
  JSON.stringify({ seed, minutes, figures: figures.map(describeFigure), faults }, null, 2);

const toText = ({ figures, faults }: SoakReport) =>
  [
    formatTable(figures),
    ...faults.slice(0, SHOWN_FAULTS).map((fault) => `  ✗ ${fault}`),
    ...(faults.length > SHOWN_FAULTS ? [`  and ${faults.length - SHOWN_FAULTS} more`] : []),
  ].join('\n');

process.exit((await run()) ? 0 : 1);
