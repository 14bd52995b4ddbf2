/**
 * An application with an embedded engine in a separate process, which tests kill. It records what its functions do in
 * the table `note`. Settings: DATABASE_URL, SEND (names of events to send, comma-separated), HANG=1 (the second step
 * never ends), STOP=1 (stops the engine, twice, after the last note of `work`, and must then end without help).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Inngest } from 'inngest';
import { serve } from 'inngest/edge';
import postgres from 'postgres';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../inngest/embedded/engine';

const databaseUrl = process.env.DATABASE_URL!;
const sql = postgres(databaseUrl, { max: 4, onnotice: () => {} });
const client = new Inngest({ id: 'child', isDev: true, fetch: (input, init) => engine.fetch(input, init) });
const note = (text: string) => sql`insert into note (text, pid) values (${text}, ${process.pid})`;

const work = client.createFunction({ id: 'work', triggers: [{ event: 'work' }] }, async ({ step }) => {
  await step.run('first', () => note('first').then(() => 1));
  await step.run('second', async () => {
    await note('second');
    if (process.env.HANG) await new Promise(() => {});
  });
  await step.run('third', () => note('third').then(() => 1));
});

const nap = client.createFunction({ id: 'nap', triggers: [{ event: 'nap' }] }, async ({ event, step }) => {
  await step.run('before', () => note('before').then(() => 1));
  await step.sleepUntil('nap', new Date(event.data.until));
  await step.run('after', () => note('after').then(() => 1));
});

const log = (o: object, m: string) => void process.stderr.write(`${m} ${JSON.stringify(o)}\n`);
const engine: EmbeddedEngine = createEmbeddedEngine({
  databaseUrl,
  sql,
  handler: serve({ client, functions: [work, nap] }),
  log: { info: log, warn: log, error: log },
});
await engine.start();
const until = new Date(Date.now() + Number(process.env.NAP_MS ?? 0)).toISOString();
for (const name of (process.env.SEND ?? '').split(',').filter(Boolean)) await client.send({ name, data: { until } });
process.stdout.write('ready\n');

if (process.env.STOP) {
  while ((await sql`select from note where text = 'third'`).length === 0) await sleep(20);
  await Promise.all([engine.stop(1000), engine.stop(1000)]);
  await engine.stop(1000);
  await sql.end();
}
