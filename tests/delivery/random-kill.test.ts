import { randomInt } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { findFaults, killServer, killSettings } from '../faults/kill';
import { createTestDatabase } from '../support/database';
import { endProducts } from '../support/product';
import { startReceiver } from '../support/receiver';
import { openSite } from '../support/site';

// One of the random moments that `npm run test:faults` tries.

const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
const [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
afterAll(async () => {
  await endProducts();
  await receiver.stop();
  await database.drop();
});

it(`kill -9 at a random moment of a stream loses nothing (KILL_SEED=${seed})`, async () => {
  const site = await openSite(database, killSettings(receiver));
  const outcome = await killServer(site, await site.start(), receiver, seed);
  expect(findFaults(outcome)).toEqual([]);
  expect(outcome.arrivals).toBeGreaterThanOrEqual(outcome.deliveries);
}, 90_000);
