import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../db/client';
import { startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { endProducts } from '../support/product';
import { startReceiver } from '../support/receiver';
import { openSite } from '../support/site';
import { findFaults, type KillOutcome, killServer, killSettings } from './kill';

// `npm run test:faults [-- moments [first seed]]`: kills the server at twenty random moments, one after the other on
// the same data, and prints the effects of each. Exits with 1 if anything was lost, arrived under a second id, or
// waited too long.

const [moments = 20, firstSeed = 1] = process.argv.slice(2).map(Number);

const COLUMNS: [title: string, read: (outcome: KillOutcome) => string | number][] = [
  ['seed', ({ seed }) => seed],
  ['killed after', ({ killedAfterMs }) => `${killedAfterMs} ms`],
  ['deliveries', ({ deliveries }) => deliveries],
  ['arrivals', ({ arrivals }) => arrivals],
  ['in flight', ({ inFlight }) => inFlight],
  ['lost', ({ lost }) => lost.length],
  ['repeated', ({ repeated }) => repeated.length],
  ['second ids', ({ secondIds }) => secondIds.length],
  ['waited at most', ({ latestMs }) => `${latestMs} ms`],
];
const SUMMED = ['deliveries', 'arrivals', 'in flight', 'lost', 'repeated', 'second ids'];

const say = (line: string) => process.stdout.write(`${line}\n`);
const sayRow = (cells: (string | number)[]) =>
  say(cells.map((cell, n) => String(cell).padStart(COLUMNS[n]![0].length + 2)).join(''));

async function runExperiments(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-faults-'));
  const postgres = await startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });
  await migrateDatabase({ url: postgres.url, directory: 'db/migrations', region: 'us' });
  const db = openDatabase({ url: postgres.url, maxConnections: 4 });
  const receiver = await startReceiver();
  const stop = async () => {
    await endProducts();
    await receiver.stop();
    await db.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  process.once('SIGINT', () => void stop().finally(() => process.exit(1)));
  try {
    const site = await openSite({ db, url: postgres.url }, killSettings(receiver));
    const sums = new Map(SUMMED.map((title) => [title, 0]));
    let faults = 0;
    let server = await site.start();
    sayRow(COLUMNS.map(([title]) => title));
    for (let n = 0; n < moments; n++) {
      const outcome = await killServer(site, server, receiver, firstSeed + n);
      server = outcome.server;
      sayRow(COLUMNS.map(([, read]) => read(outcome)));
      for (const [title, read] of COLUMNS) {
        const sum = sums.get(title);
        if (sum !== undefined) sums.set(title, sum + Number(read(outcome)));
      }
      for (const fault of findFaults(outcome)) {
        faults++;
        say(`  ✗ ${fault}`);
      }
    }
    sayRow(COLUMNS.map(([title], n) => (n === 0 ? 'sum' : (sums.get(title) ?? ''))));
    say(`${moments} kills, ${faults} faults`);
    return faults === 0;
  } finally {
    await stop();
  }
}

process.exit((await runExperiments()) ? 0 : 1);
