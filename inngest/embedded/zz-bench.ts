import { Inngest } from 'inngest';
import { serve } from 'inngest/edge';
import postgres from 'postgres';
import { drizzle } from 'drizzle-orm/postgres-js';
import { createEmbeddedEngine } from './engine';
const url = process.env.DB ?? 'postgres://postgres:password@127.0.0.1:21987/postgres';
const sql = postgres(url, { max: 16, onnotice: () => {} }); drizzle(sql);
const out = (...a: unknown[]) => process.stdout.write(a.map(String).join(' ') + '\n');
const log = { info: (o: object, m: string) => out('I', m, JSON.stringify(o)), warn: (o: object, m: string) => out('W', m, JSON.stringify(o)), error: (o: object, m: string) => out('E', m, JSON.stringify(o)) };
let engine: ReturnType<typeof createEmbeddedEngine>;
const client = new Inngest({ id: 'app', isDev: true, fetch: (i, n) => engine.fetch(i, n), logger: { info() {}, warn: console.log, error() {}, debug() {} } });
const called = new Map<number, (n: number) => void>();
const short = client.createFunction({ id: 'short', triggers: [{ event: 'short' }] }, async ({ event }) => { called.get(event.data.n)?.(performance.now()); });
const steps = client.createFunction({ id: 'steps', triggers: [{ event: 'steps' }], retries: 1 }, async ({ step, event }) => {
  const a = await step.run('a', () => 1); await step.sleep('z', '1s'); const [b, c] = await Promise.all([step.run('b', () => 2), step.run('c', () => 3)]);
  await step.sendEvent('s', { name: 'short', data: { n: -1 } });
  out('steps done', a + b + c, JSON.stringify(event)); called.get(event.data.n)?.(performance.now());
});
const keyed = client.createFunction({ id: 'keyed', triggers: [{ event: 'keyed' }], concurrency: [{ limit: 1, key: 'event.data.k' }] }, async ({ event }) => { called.get(event.data.n)?.(performance.now()); });
engine = createEmbeddedEngine({ databaseUrl: url, sql, log, handler: serve({ client, functions: [short, steps, keyed] }) });
const t0 = performance.now(); await engine.start(); out('start ms', performance.now() - t0);
const p = (xs: number[], q: number) => xs.sort((a, b) => a - b)[Math.floor(xs.length * q)]!.toFixed(2);
const one = (name: string, n: number, data = {}) => { const t = performance.now(); const done = new Promise<number>((r) => called.set(n, (e) => r(e - t))); return client.send({ name, data: { n, ...data } }).then(() => done); };
out('steps took', await one('steps', 1));
if (!process.env.IDLE) {
for (let i = 0; i < 50; i++) await one('short', 100 + i);
const lat: number[] = []; for (let i = 0; i < 400; i++) lat.push(await one('short', 1000 + i));
out('latency p50', p(lat, 0.5), 'p99', p(lat, 0.99));
const klat: number[] = []; for (let i = 0; i < 400; i++) klat.push(await one('keyed', 2000 + i, { k: 'x' }));
out('keyed latency p50', p(klat, 0.5), 'p99', p(klat, 0.99));
{ const N = 5000; const c0 = process.cpuUsage(); const t = performance.now(); const ends: Promise<number>[] = []; 
  for (let i = 0; i < N; i += 50) { const batch = Array.from({ length: 50 }, (_, j) => i + j); for (const j of batch) ends.push(new Promise((r) => called.set(10000 + j, r))); await client.send(batch.map((j) => ({ name: 'short', data: { n: 10000 + j } }))); }
  await Promise.all(ends); const s = (performance.now() - t) / 1000; const c = process.cpuUsage(c0); out('batch-sent runs/s', (N / s).toFixed(0), 'cpu ms/run', ((c.user + c.system) / 1000 / N).toFixed(2)); }
{ const N = 3000; const t = performance.now(); await Promise.all(Array.from({ length: N }, (_, j) => one('short', 20000 + j))); out('single-sent runs/s', (N / ((performance.now() - t) / 1000)).toFixed(0)); }
{ const N = 1000; const t = performance.now(); await Promise.all(Array.from({ length: N }, (_, j) => one('keyed', 30000 + j, { k: j % 10 }))); out('keyed (10 keys, limit 1) runs/s', (N / ((performance.now() - t) / 1000)).toFixed(0)); }
}
await new Promise((r) => setTimeout(r, Number(process.env.SETTLE ?? 2000)));
const stat = async () => Number((await sql`select sum(xact_commit) as n from pg_stat_database where datname = current_database()`)[0]!.n);
const q0 = await stat(); const c0 = process.cpuUsage(); const SECS = Number(process.env.SECS ?? 20); await new Promise((r) => setTimeout(r, SECS * 1000)); const c = process.cpuUsage(c0);
out('idle cpu %', ((c.user + c.system) / 1e4 / SECS).toFixed(2), 'tx/s', (((await stat()) - q0) / SECS).toFixed(1));
const t1 = performance.now(); await engine.stop(1000); out('stop ms', performance.now() - t1); await sql.end();
out('left', JSON.stringify(process.getActiveResourcesInfo()));
