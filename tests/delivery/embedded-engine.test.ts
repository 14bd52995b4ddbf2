import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/postgres-js';
import { Inngest, type InngestFunction, NonRetriableError, RetryAfterError } from 'inngest';
import { serve } from 'inngest/edge';
import postgres, { type Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { openSocket } from '../../db/postgres-internals';
import { cronRuns } from '../../inngest/embedded/crons';
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from '../../inngest/embedded/engine';
import { backoffMs } from '../../inngest/embedded/executor';
import { listFunctions } from '../../inngest/embedded/functions';
import { Store } from '../../inngest/embedded/store';
import { bundleChildScript, type ChildScript } from '../support/child-script';
import { eventually } from '../support/eventually';
import { findFreePort } from '../support/ports';

/** What a client of Postgres sends before it leaves. */
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

interface FailureContext {
  error: Error;
  event: { data: { event: { data: { n: number } } } };
}

interface App {
  client: Inngest;
  engine: EmbeddedEngine;
  errors: string[];
}

let server: { url: (database: string) => string };
let engineApp: ChildScript;
let admin: Sql;
let databases = 0;
let databaseUrl: string;
let sql: Sql;
const cleanups: (() => Promise<unknown>)[] = [];

/**
 * Two idle applications that run as long as this file. Their cron fires meanwhile, so that no test has to wait a minute
 * for it.
 */
let cronDatabase: { url: string; sql: Sql };
let cronFirings: string[];
let cronApps: App[];

beforeAll(async () => {
  engineApp = await bundleChildScript('tests/support/engine-app.ts');
  server = {
    url: (name) => Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href,
  };
  admin = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  cronDatabase = await createDatabase();
  cronFirings = [];
  cronApps = await Promise.all(
    ['a', 'b'].map((name) =>
      startApp(cronDatabase, (client) => [
        client.createFunction({ id: 'tick', triggers: [{ cron: '* * * * *' }] }, async ({ event }) => {
          cronFirings.push(`${event.id} ${name}`);
        }),
      ]),
    ),
  );
});

afterAll(async () => {
  await engineApp.remove();
  for (const app of cronApps) await app.engine.stop(0);
  await cronDatabase.sql.end();
  await admin.end();
});

beforeEach(async () => {
  ({ url: databaseUrl, sql } = await createDatabase());
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await sql.end({ timeout: 1 });
});

// engine-contract.test.ts tests what our functions rely on, with this engine and with a real Inngest. These tests are
// about the embedded engine only: its tables, several processes, trouble with the database, what it refuses.

describe('steps', () => {
  it('runs parallel steps at the same time and joins them', async () => {
    let atWork = 0;
    let mostAtWork = 0;
    let calls = 0;
    let result: unknown;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step }) => {
        calls++;
        const work = (value: number) => async () => {
          mostAtWork = Math.max(mostAtWork, ++atWork);
          // However late the engine starts the second one.
          await eventually(() => expect(mostAtWork).toBe(2), 10_000);
          atWork--;
          return value;
        };
        const [a, b] = await Promise.all([step.run('a', work(1)), step.run('b', work(2)), step.sleep('c', '1s')]);
        result = [a, b, await step.run('after', () => 3)];
      }),
    ]);
    await client.send({ name: 'go' });
    await eventually(() => expect(result).toEqual([1, 2, 3]));
    expect(mostAtWork).toBe(2);
    // One call to plan, one for each of the two steps, one to continue when all three are done, and one to end.
    expect(calls).toBe(5);
    await eventually(async () => expect(await countRuns()).toBe(0));
  });

  it('keeps text that jsonb refuses', async () => {
    const odd = 'nul \u0000 and half a pair \ud800';
    let seen: unknown;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ event, step }) => {
        const kept = await step.run('keep', () => odd);
        await step.run('next', () => 1);
        seen = [event.data.odd, kept];
      }),
    ]);
    await client.send({ name: 'go', data: { odd } });
    await eventually(() => expect(seen).toEqual([odd, odd]));
  });
});

describe('failures', () => {
  it('retries as often as the function says, then fails the run and calls onFailure once', async () => {
    const attempts: number[] = [];
    const failures: unknown[] = [];
    const { client, errors } = await startTestApp((client) => [
      client.createFunction(
        {
          id: 'f',
          triggers: [{ event: 'go' }],
          retries: 1,
          onFailure: async ({ error, event }: FailureContext) =>
            void failures.push([error.message, event.data.event.data.n]),
        },
        async ({ attempt }) => {
          attempts.push(attempt);
          throw new Error('boom');
        },
      ),
      client.createFunction(
        { id: 'other', triggers: [{ event: 'never' }], onFailure: async () => void failures.push('of another') },
        async () => {},
      ),
    ]);
    await client.send({ name: 'go', data: { n: 5 } });
    await eventually(() => expect(failures).toEqual([['boom', 5]]));
    expect(attempts).toEqual([0, 1]);
    expect(errors).toContain('engine: run failed');
    // The run of the failure handler is deleted a moment after it ended.
    const runs = () => sql`select status, error->>'message' as message from engine.run`;
    await eventually(async () => expect(await runs()).toEqual([{ status: 'Failed', message: 'boom' }]));
  });

  it('does not retry a NonRetriableError, and waits as long as a RetryAfterError says', async () => {
    const times: number[] = [];
    let finalAttempts = 0;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'final', triggers: [{ event: 'go' }] }, async () => {
        finalAttempts++;
        throw new NonRetriableError('never');
      }),
      client.createFunction({ id: 'later', triggers: [{ event: 'go' }], retries: 1 }, async ({ attempt }) => {
        times.push(Date.now());
        if (attempt === 0) throw new RetryAfterError('soon', '1s');
      }),
    ]);
    await client.send({ name: 'go' });
    await eventually(() => expect(times.length).toBe(2));
    expect(times[1]! - times[0]!).toBeGreaterThan(900);
    expect(times[1]! - times[0]!).toBeLessThan(1900);
    expect(finalAttempts).toBe(1);
  });

  it('backs off from 2 s, doubling, to 10 minutes and a quarter', () => {
    expect(backoffMs(0)).toBeGreaterThanOrEqual(2000);
    expect(backoffMs(0)).toBeLessThanOrEqual(2500);
    expect(backoffMs(3)).toBeGreaterThanOrEqual(16_000);
    expect(backoffMs(40)).toBeLessThanOrEqual(750_000);
  });

  it('fails a run that asks for an operation the engine does not have', async () => {
    const { client, errors } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step }) => {
        await step.waitForEvent('wait', { event: 'other', timeout: '1h' });
      }),
    ]);
    await client.send({ name: 'go' });
    await eventually(async () => {
      const [run] = await sql`select error->>'message' as message from engine.run where status = 'Failed'`;
      expect(run?.message).toMatch(/does not support the operation WaitForEvent/);
    });
    expect(errors).toContain('engine: run failed');
  });
});

describe('events', () => {
  it('accepts an event id again after 24 hours', async () => {
    const seen: number[] = [];
    const { client } = await startTestApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: 'go' }] },
        async ({ event }) => void seen.push(event.data.n),
      ),
    ]);
    const send = (n: number) => client.send({ name: 'go', id: 'same', data: { n } });
    await send(1);
    await eventually(() => expect(seen).toEqual([1]));
    await sql`update engine.event set received_at = now() - interval '23 hours 59 minutes'`;
    await send(2);
    await sql`update engine.event set received_at = now() - interval '24 hours 1 second'`;
    await send(3);
    await eventually(() => expect(seen).toEqual([1, 3]));
    await send(4);
    await eventually(async () => expect(await countRuns()).toBe(0));
    expect(seen).toEqual([1, 3]);
  });

  it('starts the runs of an event with a future ts at that time', async () => {
    let startedAt = 0;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }], concurrency: 1 }, async () => {
        startedAt = Date.now();
      }),
    ]);
    const ts = Date.now() + 1200;
    await client.send({ name: 'go', ts });
    await eventually(() => expect(startedAt).toBeGreaterThan(0));
    expect(startedAt).toBeGreaterThanOrEqual(ts);
  });

  it('refuses events over 512 KiB, and everything that is not an event', async () => {
    const { client, engine } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {}),
    ]);
    await expect(client.send({ name: 'go', data: { text: 'x'.repeat(600_000) } })).rejects.toThrow(/512 KiB/);
    const post = async (events: object) =>
      (await engine.fetch('http://x.invalid/e/key', { method: 'POST', body: JSON.stringify(events) })).status;
    const go = (fields: object = {}) => ({ name: 'go', ...fields });
    const inDays = (days: number) => ({ ts: Date.now() + days * 86_400_000 });
    const ids = [{ id: 5 }, { id: 'x'.repeat(513) }, { id: 'a\0' }].map(go);
    // Of a list with one of them, nothing is started.
    for (const bad of [{}, { name: '' }, { name: 5 }, ...ids, go({ ts: 'soon' }), go(inDays(367))])
      expect([bad, await post(bad), await post([go(), bad])]).toEqual([bad, 400, 400]);
    expect(await post(Array.from({ length: 5_001 }, () => go()))).toBe(400);
    expect([await post([]), await countRuns()]).toEqual([200, 0]);
    expect(await post(go({ id: 'x'.repeat(512), ...inDays(365) }))).toBe(200);
    expect(await countRuns()).toBe(1);
    expect((await engine.fetch('http://x.invalid/v1/runs')).status).toBe(404);
    expect((await engine.fetch('http://x.invalid/fn/register', { method: 'POST', body: '{}' })).status).toBe(404);
  });

  it('removes old rows: events after a day, failed runs after a week', async () => {
    await startTestApp(() => []);
    await sql`insert into engine.event (id, received_at)
      values ('old', now() - interval '25 hours'), ('young', now() - interval '23 hours')`;
    await sql`insert into engine.run (function_id, event, status, ended_at)
      values ('old', '{}', 'Failed', now() - interval '8 days'), ('young', '{}', 'Failed', now() - interval '6 days')`;
    expect(await new Store(sql).prune()).toBe(false);
    expect(await sql`select id from engine.event`).toEqual([{ id: 'young' }]);
    expect(await sql`select function_id from engine.run`).toEqual([{ function_id: 'young' }]);
  });
});

describe('concurrency', () => {
  it('keeps the limit of a key across engines, in order of arrival', async () => {
    const order: number[] = [];
    const engines = new Set<string>();
    let atWork = 0;
    let mostAtWork = 0;
    const apps = await Promise.all(
      ['a', 'b'].map((name) =>
        startTestApp((client) => [
          client.createFunction(
            { id: 'f', triggers: [{ event: 'go' }], concurrency: [{ limit: 1, key: 'event.data.key' }] },
            async ({ event }) => {
              mostAtWork = Math.max(mostAtWork, ++atWork);
              order.push(event.data.n);
              engines.add(name);
              await delay(20);
              atWork--;
            },
          ),
        ]),
      ),
    );
    for (let n = 0; n < 40; n++) await apps[n % 2]!.client.send({ name: 'go', data: { key: 'k', n } });
    await eventually(() => expect(order.length).toBe(40));
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(mostAtWork).toBe(1);
    expect(engines.size).toBe(2);
  });
});

describe('several processes', () => {
  it('start at the same time on an empty database', async () => {
    await Promise.all([1, 2, 3, 4].map(() => startTestApp(() => [])));
    expect((await sql`select from engine.process`).length).toBe(4);
  });

  it('continue after kill -9: they repeat the step in flight but no finished one, and sleepers wake at their time', async () => {
    await sql`create table note (id serial, text text, pid int, at timestamptz default now())`;
    const victim = await startChild({ SEND: 'work,nap', HANG: '1', NAP_MS: '2500' });
    await eventually(async () => expect((await notes()).sort()).toEqual(['before', 'first', 'second']));
    // The step that wrote this note ends only when its result is recorded.
    await eventually(async () => expect(await sql`select from engine.run where status = 'Sleeping'`).toHaveLength(1));
    const until = Date.now() + 2500;
    await kill(victim);
    expect(await sql`select from graphile_worker.jobs where locked_by is not null`).not.toHaveLength(0);
    await startChild({});
    await eventually(async () => expect((await notes()).filter((text) => text === 'third')).toHaveLength(1));
    await eventually(async () => expect(await notes()).toContain('after'));
    expect(Date.now()).toBeGreaterThan(until - 1000);
    expect((await notes()).sort()).toEqual(['after', 'before', 'first', 'second', 'second', 'third']);
    await eventually(async () => expect(await countRuns()).toBe(0));
  });

  it('take over from a process that is killed while they run', async () => {
    await sql`create table note (id serial, text text, pid int, at timestamptz default now())`;
    const victim = await startChild({ SEND: 'work', HANG: '1' });
    await eventually(async () => expect(await notes()).toContain('second'));
    const successor = await startChild({});
    await kill(victim);
    await eventually(async () => expect(await notes()).toEqual(['first', 'second', 'second', 'third']), 8000);
    expect((await sql`select distinct pid from note where text = 'third'`)[0]!.pid).toBe(successor.pid);
  });

  it('take no job of a process that has lost its session for a moment', async () => {
    const calls: string[] = [];
    let end = () => {};
    const app = (name: string, options: Partial<EmbeddedEngineOptions> = {}) =>
      startTestApp(
        (client) => [
          client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
            calls.push(name);
            await new Promise<void>((resolve) => {
              end = resolve;
            });
          }),
        ],
        options,
      );
    const opener = openSocket(databaseUrl, new Set())!;
    const closedPort = await findFreePort();
    let isCut = false;
    const first = await app('first', {
      socket: ({ host, port }) => opener({ host, port: isCut ? [closedPort] : port }),
    });
    await first.client.send({ name: 'go' });
    await eventually(() => expect(calls).toEqual(['first']));
    isCut = true;
    const [held] = await sql`select pid, classid::int as class, objid::int as id, pg_terminate_backend(pid, 5000)
      from pg_locks join engine.process on objid = process.id where locktype = 'advisory' and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`;
    await app('second');
    // As soon as the second process has looked, the first one counts as alive again.
    const holder = postgres(databaseUrl, { max: 1 });
    cleanups.push(() => holder.end({ timeout: 1 }));
    await holder`select pg_advisory_lock(${held!.class}::int, ${held!.id}::int)`;
    isCut = false;
    await delay(2_500);
    expect(calls).toEqual(['first']);
    end();
    await eventually(async () => expect(await countRuns()).toBe(0));
    expect(calls).toEqual(['first']);
  });

  it('take over the running call of a stopping process as soon as its grace period ends', async () => {
    const calls: string[] = [];
    const app = (name: string, ms: number) =>
      startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
          calls.push(name);
          await delay(ms);
          calls.push(`${name} done`);
        }),
      ]);
    const first = await app('first', 4_000);
    await first.client.send({ name: 'go' });
    await eventually(() => expect(calls).toEqual(['first']));
    await app('second', 4_500);
    const stoppedAt = Date.now();
    await first.engine.stop(200);
    expect(Date.now() - stoppedAt).toBeLessThan(2_000);
    await eventually(() => expect(calls).toEqual(['first', 'second', 'first done']));
    await delay(100);
    // The result of the stopped process's call no longer counts.
    expect(await countRuns()).toBe(1);
    await eventually(async () => expect(await countRuns()).toBe(0));
    expect(calls).toEqual(['first', 'second', 'first done', 'second done']);
  });

  it('execute no job that a worker of a stopping process gets after the grace period, and find it unlocked', async () => {
    const calls: string[] = [];
    const app = (name: string) =>
      startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ event }) => {
          calls.push(`${name} ${event.data.n}`);
          if (name === 'first') await new Promise(() => {});
        }),
      ]);
    const first = await app('first');
    await first.client.send({ name: 'go', data: { n: 1 } });
    await eventually(() => expect(calls).toEqual(['first 1']));
    // Holds a worker that takes a job at lock 1, and who unlocks jobs at lock 2.
    await sql.unsafe(`create function hold() returns trigger language plpgsql as $$ begin
        perform pg_advisory_xact_lock(77, case when new.locked_by is null then 2 else 1 end); return new; end $$;
      create trigger hold before update on graphile_worker._private_jobs for each row
        when (old.locked_by is distinct from new.locked_by) execute function hold()`);
    const isHeld = async (lock: number) =>
      (await sql`select from pg_locks where classid = 77 and objid = ${lock} and not granted`).length > 0;
    const holder = postgres(databaseUrl, { max: 1 });
    cleanups.push(() => holder.end({ timeout: 1 }));
    await holder`select pg_advisory_lock(77, 1), pg_advisory_lock(77, 2)`;
    await first.client.send({ name: 'go', data: { n: 2 } });
    await eventually(async () => expect(await isHeld(1)).toBe(true));
    const stopping = first.engine.stop(100);
    for (let n = 0; n < 20 && !(await isHeld(2)); n++) await delay(50);
    await holder`select pg_advisory_unlock(77, 1)`;
    await delay(200);
    await holder`select pg_advisory_unlock(77, 2)`;
    await stopping;
    expect(calls).toEqual(['first 1']);
    expect(await sql`select from graphile_worker.jobs where locked_by is not null`).toHaveLength(0);
    await app('second');
    await eventually(() => expect(calls.sort()).toEqual(['first 1', 'second 1', 'second 2']));
  });

  it('wait on stop for calls that end within the grace period', async () => {
    let isDone = false;
    let isStarted = false;
    const { client, engine } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
        isStarted = true;
        await delay(500);
        isDone = true;
      }),
    ]);
    await client.send({ name: 'go' });
    await eventually(() => expect(isStarted).toBe(true));
    await engine.stop(5000);
    expect(isDone).toBe(true);
    expect(await countRuns()).toBe(0);
  });

  it('end without help after stop(), however often it is called', async () => {
    await sql`create table note (id serial, text text, pid int, at timestamptz default now())`;
    const child = await startChild({ SEND: 'work', STOP: '1' });
    await eventually(async () => expect(await notes()).toContain('third'));
    const startedAt = Date.now();
    expect(await exitOf(child)).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(4000);
    expect(await notes()).toEqual(['first', 'second', 'third']);
    expect(await sql`select from engine.process`).toHaveLength(0);
  });
});

describe('trouble with the database', () => {
  it('records once what ended while the database was away, and continues when it is back', async () => {
    const proxy = await startProxy(databaseUrl);
    const proxied = postgres(proxy.url, { max: 4, fetch_types: false, backoff: () => 0.1, onnotice: () => {} });
    cleanups.push(
      () => proxied.end({ timeout: 1 }),
      () => proxy.stop(),
    );
    const calls: number[] = [];
    const { client, errors } = await startApp(
      { url: proxy.url, sql: proxied },
      (client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ event }) => {
          calls.push(event.data.n);
          await delay(event.data.ms);
        }),
      ],
      {},
      cleanups,
    );
    await client.send({ name: 'go', data: { n: 1, ms: 500 } });
    await eventually(() => expect(calls).toEqual([1]));
    await proxy.cut();
    await delay(1500);
    await proxy.restore();
    await eventually(async () => expect(await countRuns()).toBe(0), 5000);
    await client.send({ name: 'go', data: { n: 2, ms: 0 } });
    await eventually(() => expect(calls).toEqual([1, 2]), 3000);
    expect(errors).toEqual(['engine: the database does not answer']);
    await eventually(async () => {
      const locks = await sql`select from pg_locks held join engine.process on held.objid = process.id
        where held.locktype = 'advisory' and held.objsubid = 2 and held.database = (
          select oid from pg_database where datname = current_database())`;
      expect(locks).toHaveLength(1);
    });
    await delay(1000);
    await client.send({ name: 'go', data: { n: 3, ms: 0 } });
    await eventually(() => expect(calls).toEqual([1, 2, 3]), 300);
  });

  it('survives that the database ends connections that the engine is closing', async () => {
    const { port, hostname } = new URL(databaseUrl);
    // Does not pass on that a client leaves, so that the database still has something to say to it.
    const relay = createServer({ allowHalfOpen: true }, (inner) => {
      const outer = connect(Number(port), hostname);
      inner.on('data', (bytes) => bytes.equals(TERMINATE) || outer.write(bytes)).on('error', () => {});
      outer.pipe(inner);
      cleanups.push(async () => outer.destroy());
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => relay.close());
    const relayed = new URL(databaseUrl);
    relayed.port = String((relay.address() as AddressInfo).port);
    const { engine } = await startTestApp((client) => [client.createFunction({ id: 'f', triggers: [] }, () => {})], {
      databaseUrl: relayed.href,
      socket: () => connect(Number(port), hostname),
    });
    await engine.stop(0);
    // Without a listener, the error ends the process. Vitest then fails the run.
    const ended = await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = ''`;
    expect(ended.length).toBeGreaterThan(0);
  });

  it('survives that the connection that listens for jobs breaks after the stop, before it could listen', async () => {
    const relay = await startSilencer((bytes) => bytes.includes('LISTEN'));
    const { port, hostname } = new URL(databaseUrl);
    const { engine } = await startTestApp((client) => [client.createFunction({ id: 'f', triggers: [] }, () => {})], {
      databaseUrl: relay.url,
      socket: () => connect(Number(port), hostname),
    });
    await eventually(() => expect(relay.silenced).toHaveLength(1));
    const stopped = engine.stop(0);
    for (const socket of relay.silenced) socket.destroy();
    // graphile-worker releases the connection twice. If that throws, it ends the process. Vitest then fails the run.
    await stopped;
  });

  it('opens its session again if a statement about its workers is never answered', async () => {
    // In this order: their ids before they take jobs, the ids again, and which jobs they lost.
    const starts = [1, 2, 3].map(async (silentStatement) => {
      let statements = 0;
      const relay = await startSilencer((bytes) => bytes.includes('worker-') && ++statements === silentStatement);
      const app = await startTestApp(() => [], {
        slots: 2,
        socket: () => openSocket(relay.url, new Set())!({ host: ['127.0.0.1'], port: [relay.port] }),
      });
      expect(relay.silenced).toHaveLength(1);
      return app;
    });
    const [atStart, ...later] = await Promise.allSettled(starts);
    expect(atStart).toMatchObject({ status: 'rejected', reason: { message: 'the database does not answer' } });
    for (const start of later) {
      if (start.status === 'rejected') throw start.reason;
      expect(start.value.errors).toEqual(['engine: the database does not answer']);
      await eventually(() => expect(start.value.engine.isWorking()).toBe(true));
    }
  });

  it('starts its workers without the crontab of graphile-worker, whose failure would end the process', async () => {
    const listFunctions = (client: Inngest) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
        isDone = true;
      }),
    ];
    let isDone = false;
    const first = await startTestApp(listFunctions);
    await first.engine.stop(0);
    // Each statement about it fails, as if the database had just gone away. Vitest fails the run if nothing handles a rejection.
    await sql`alter table graphile_worker._private_known_crontabs rename to away`;
    const { client } = await startTestApp(listFunctions);
    await client.send({ name: 'go' });
    await eventually(() => expect(isDone).toBe(true));
  });

  it('replaces the workers that graphile-worker loses', async () => {
    const calls: number[] = [];
    const { client } = await startTestApp(
      (client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ event }) => {
          calls.push(event.data.n);
        }),
      ],
      { slots: 2 },
    );
    // A worker that cannot complete its job exits permanently, with a console.trace, and its job stays locked.
    vi.spyOn(console, 'trace')
      .mockImplementationOnce(() => {})
      .mockImplementationOnce(() => {});
    await sql.unsafe(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger fail before delete on graphile_worker._private_jobs for each row execute function fail()`);
    await client.send([1, 2].map((n) => ({ name: 'go', data: { n } })));
    await eventually(() => expect(calls.sort()).toEqual([1, 2]));
    await sql.unsafe('drop trigger fail on graphile_worker._private_jobs');
    await client.send({ name: 'go', data: { n: 3 } });
    await eventually(() => expect(calls.sort()).toEqual([1, 2, 3]), 8000);
    await eventually(async () => expect(await sql`select from graphile_worker.jobs`).toHaveLength(0), 12_000);
    expect(calls).toHaveLength(3);
  });

  it('ignores a job that is left over from before a crash', async () => {
    let calls = 0;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step }) => {
        calls++;
        await step.sleep('nap', '1h');
      }),
    ]);
    await client.send({ name: 'go' });
    await eventually(async () => expect(await sql`select from engine.run where status = 'Sleeping'`).toHaveLength(1));
    await sql`select graphile_worker.add_jobs(array[
      engine.job((select json_build_object('run', id, 'turn', 0) from engine.run), now())])`;
    await eventually(async () => expect(await sql`select from graphile_worker.jobs`).toHaveLength(1));
    expect(calls).toBe(1);
  });

  it('runs a job whose worker never learned that it has the job', async () => {
    let isDone = false;
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
        isDone = true;
      }),
    ]);
    const [process] = await sql`select worker_ids[1] as worker_id from engine.process`;
    await client.send({ name: 'go', ts: Date.now() + 500 });
    await sql`update graphile_worker._private_jobs set run_at = now(), locked_at = now() - interval '11 seconds',
      locked_by = ${process!.worker_id}`;
    await eventually(() => expect(isDone).toBe(true), 8000);
  });

  it('keeps the sequence from which graphile-worker takes a number for every job far from its end', async () => {
    const { client } = await startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {}),
    ]);
    await eventually(async () => expect(await sql`select from graphile_worker._private_tasks`).toHaveLength(1));
    await sql`select setval('graphile_worker.tasks_id_seq', 2147483646)`;
    await new Store(sql).prune();
    await client.send({ name: 'go' });
    await client.send({ name: 'go' });
    await eventually(async () => expect(await countRuns()).toBe(0));
  });
});

describe('crons', () => {
  it('match the minute in UTC, each with a separate event id', async () => {
    const client = new Inngest({ id: 'app', isDev: true });
    const functions = await listFunctions(
      serve({
        client,
        functions: [
          client.createFunction(
            { id: 'f', triggers: [{ cron: '*/5 3 * * *' }, { cron: '5 * * * *' }] },
            async () => {},
          ),
        ],
      }),
    );
    const minute = (time: string) => Date.parse(`2026-11-21T${time}:00Z`) / 60_000;
    expect(cronRuns(functions, minute('03:06'))).toEqual([]);
    expect(cronRuns(functions, minute('03:10'))).toHaveLength(1);
    expect(new Set(cronRuns(functions, minute('03:05')).map((run) => run.eventId)).size).toBe(2);
  });

  it('fire in the minutes for which they fired before the clock of the database was set back', async () => {
    const client = new Inngest({ id: 'app', isDev: true });
    const tick = client.createFunction({ id: 'tick', triggers: [{ cron: '* * * * *' }] }, async () => {});
    const functions = await listFunctions(serve({ client, functions: [tick] }));
    await startTestApp(() => []);
    const store = new Store(sql);
    const fire = async () => {
      await store.startRuns(cronRuns(functions, Math.floor(Date.now() / 60_000) + 30));
      return countRuns();
    };
    expect(await fire()).toBe(1);
    await sql`update engine.event set received_at = now() + interval '30 minutes'`;
    await store.prune();
    expect(await fire()).toBe(2);
    // Other processes fire in the same minute.
    await store.prune();
    expect(await fire()).toBe(2);
  });
});

describe('a feature that only a real Inngest has', () => {
  const refused: [string, object][] = [
    ['"batchEvents"', { batchEvents: { maxSize: 2, timeout: '1s' } }],
    ['"debounce"', { debounce: { period: '1s' } }],
    ['"throttle"', { throttle: { limit: 1, period: '1s' } }],
    ['"rateLimit"', { rateLimit: { limit: 1, period: '1s' } }],
    ['"priority"', { priority: { run: '100' } }],
    ['"cancel"', { cancelOn: [{ event: 'stop' }] }],
    ['"idempotency"', { idempotency: 'event.data.id' }],
    ['"singleton"', { singleton: { mode: 'skip' } }],
    ['"timeouts"', { timeouts: { start: '1s' } }],
    ['concurrency key', { concurrency: { limit: 1, key: 'event.data.a + event.data.b' } }],
    ['concurrency scope', { concurrency: { limit: 1, scope: 'account', key: '"x"' } }],
    ['more than one concurrency', { concurrency: [{ limit: 1 }, { limit: 2, key: 'event.data.a' }] }],
    ['a trigger with "if"', { triggers: [{ event: 'go', if: 'event.data.n > 1' }] }],
    ['event pattern', { triggers: [{ event: 'go/*' }] }],
    ['cron expression', { triggers: [{ cron: 'TZ=Europe/Paris 0 * * * *' }] }],
  ];
  it.each(refused)('is refused at start: %s', async (what, options) => {
    const app = startTestApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: 'go' }], ...options }, async () => {}),
    ]);
    await expect(app).rejects.toThrow(what);
  });
});

describe('at the end of the file', () => {
  it('a cron has fired once per minute, not once per process', async () => {
    await eventually(() => expect(cronFirings.length).toBeGreaterThan(0), 62_000);
    const minutes = cronFirings.map((firing) => firing.split(' ')[0]);
    expect(new Set(minutes).size).toBe(minutes.length);
    expect(minutes[0]).toMatch(/:00\.000Z$/);
  });
});

async function createDatabase() {
  const name = `engine_${++databases}`;
  await admin.unsafe(`create database ${name}`);
  const url = server.url(name);
  const created = postgres(url, { max: 4, onnotice: () => {} });
  // The application attaches Drizzle to its pool, which changes how parameters and results are read and written.
  drizzle(created);
  return { url, sql: created };
}

function startTestApp(
  functions: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EmbeddedEngineOptions> = {},
) {
  return startApp({ url: databaseUrl, sql }, functions, options, cleanups);
}

async function startApp(
  database: { url: string; sql: Sql },
  functions: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EmbeddedEngineOptions> = {},
  cleanups: (() => Promise<unknown>)[] = [],
): Promise<App> {
  const errors: string[] = [];
  const silent = { info() {}, warn() {}, error() {}, debug() {} };
  const client = new Inngest({
    id: 'app',
    isDev: true,
    logger: silent,
    fetch: (input, init) => engine.fetch(input, init),
  });
  const engine: EmbeddedEngine = createEmbeddedEngine({
    databaseUrl: database.url,
    sql: database.sql,
    handler: serve({ client, functions: functions(client) }),
    log: { info() {}, warn() {}, error: (_, message) => void errors.push(message) },
    ...options,
  });
  cleanups.push(() => engine.stop(0));
  await engine.start();
  return { client, engine, errors };
}

async function startChild(env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [engineApp.path], {
    env: { ...process.env, DATABASE_URL: databaseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanups.push(() => kill(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on('data', (chunk) => {
      output += chunk;
    });
    child.stdout!.once('data', () => resolve());
    child.once('exit', () => reject(new Error(`the child ended: ${output}`)));
  });
  return child;
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await exitOf(child);
}

async function notes(): Promise<string[]> {
  return (await sql`select text from note order by id`).map((row) => row.text);
}

async function countRuns(): Promise<number> {
  return (await sql`select count(*)::int as n from engine.run`)[0]!.n;
}

/** Starts a relay to Postgres. It passes on no more answers on a connection once a request on it is to stay unanswered. */
async function startSilencer(isUnanswered: (request: Buffer) => boolean) {
  const { port, hostname } = new URL(databaseUrl);
  const silenced: Socket[] = [];
  const relay = createServer((inner) => {
    const outer = connect(Number(port), hostname).on('error', () => {});
    outer.on('close', () => inner.destroy()).pipe(inner);
    inner.on('error', () => {}).on('close', () => outer.destroy());
    inner.on('data', (bytes) => {
      if (isUnanswered(bytes)) {
        outer.unpipe(inner);
        silenced.push(inner);
      }
      outer.write(bytes);
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => relay.close());
  const url = new URL(databaseUrl);
  const { port: relayPort } = relay.address() as AddressInfo;
  url.port = String(relayPort);
  return { url: url.href, port: relayPort, silenced };
}

/** Starts a proxy between an application and Postgres that can cut the connection and restore it. */
async function startProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const port = await findFreePort();
  const sockets = new Set<Socket>();
  const proxy = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket) && other.destroy());
      socket.pipe(other);
    }
  });
  const restore = () => new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  const cut = async () => {
    const closed = new Promise((resolve) => proxy.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await restore();
  const url = new URL(databaseUrl);
  url.port = String(port);
  return { url: url.href, cut, restore, stop: cut };
}
