import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from 'inngest/edge';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { createInngestClient } from '../../inngest/client';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../inngest/embedded/engine';
import { createEmptyDatabase } from '../support/database';

// What the metrics are told about functions. tests/delivery/operation.test.ts has the metrics.

const WORK_MS = 300;
const SILENT = { info() {}, warn() {}, error() {}, debug() {} };

let db: Database;
let engine: EmbeddedEngine;
let drop: () => Promise<void>;
const runs: unknown[] = [];
const calls: { function: string; durationMs: number }[] = [];
const client = createInngestClient({
  region: 'us',
  logger: SILENT,
  onRun: (run) => runs.push(run),
  onCall: (call) => calls.push(call),
  embeddedFetch: (input, init) => engine.fetch(input, init),
});
const worker = client.createFunction({ id: 'worker', triggers: [{ event: 'work' }] }, async ({ step }) => {
  await step.run('work', () => sleep(WORK_MS));
});
const failure = client.createFunction({ id: 'failure', triggers: [{ event: 'fail' }], retries: 0 }, async () => {
  throw new Error('on purpose');
});

beforeAll(async () => {
  const database = await createEmptyDatabase();
  drop = database.drop;
  db = openDatabase({ url: database.url, maxConnections: 4 });
  const handler = serve({ client, functions: [worker, failure] });
  engine = createEmbeddedEngine({ databaseUrl: database.url, sql: db.sql, handler, log: SILENT });
  await engine.start();
});
afterAll(async () => {
  await engine.stop(0);
  await db.close();
  await drop();
});

it('the time of a step is told, not only that of the call which ends the run', async () => {
  await client.send({ name: 'work' });
  await expect.poll(() => runs).toEqual([{ function: 'worker', outcome: 'completed' }]);
  await expect.poll(() => calls.map((call) => call.function)).toEqual(['worker', 'worker']);
  // A timer of Node may be a millisecond early.
  expect(calls[0]!.durationMs).toBeGreaterThanOrEqual(WORK_MS - 1);
});

it('a call that fails has a time too', async () => {
  await client.send({ name: 'fail' });
  await expect.poll(() => runs.at(-1)).toEqual({ function: 'failure', outcome: 'failed' });
  await expect.poll(() => calls.at(-1)!.function).toBe('failure');
});
