import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Inngest, NonRetriableError } from 'inngest';
import postgres from 'postgres';
import { describe, expect, it, vi } from 'vitest';
import { openSocket } from '../../../db/postgres-internals';
import { Store } from '../../../inngest/embedded/store';
import { eventually } from '../../support/eventually';
import { startRelay } from '../../support/relay';
import { cleanups, countRuns, databaseUrl, sql, startApp, startTestApp } from './applications';

/** What a client of Postgres sends before it leaves. */
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

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

export function registerDatabaseFaultTests(): void {
  describe('trouble with the database', () => {
    it('records once what ended while the database was away, and continues when it is back', async () => {
      const address = new URL(databaseUrl);
      const relay = await startRelay(Number(address.port));
      address.port = String(relay.port);
      const proxied = postgres(address.href, { max: 4, fetch_types: false, backoff: () => 0.1, onnotice: () => {} });
      cleanups.push(
        () => proxied.end({ timeout: 1 }),
        () => relay.cut(),
      );
      const calls: number[] = [];
      const { client, errors } = await startApp(
        { url: address.href, sql: proxied },
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
      await relay.cut();
      await delay(1500);
      await relay.restore();
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

    it('records once what ended while the lock of another transaction kept it from being recorded', async () => {
      const impatient = postgres(databaseUrl, {
        ...{ max: 4, fetch_types: false, onnotice: () => {} },
        connection: { lock_timeout: 50 },
      });
      cleanups.push(() => impatient.end({ timeout: 1 }));
      const other = await sql.reserve();
      let calls = 0;
      const { client } = await startApp(
        { url: databaseUrl, sql: impatient },
        (client) => [
          client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {
            if (++calls > 1) return;
            await other`begin`;
            await other`select from engine.run for update`;
          }),
        ],
        {},
        cleanups,
      );
      await client.send({ name: 'go' });
      await eventually(() => expect(calls).toBe(1));
      await delay(500);
      await other`commit`;
      other.release();
      await eventually(async () => expect(await countRuns()).toBe(0));
      expect(calls).toBe(1);
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

    it('calls nothing for such a job of a failed run, or of a step that is done', async () => {
      const calls: string[] = [];
      let end = () => {};
      const isEnding = new Promise<void>((resolve) => {
        end = resolve;
      });
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'failing', triggers: [{ event: 'fail' }] }, async () => {
          calls.push('failing');
          throw new NonRetriableError('always');
        }),
        client.createFunction({ id: 'parallel', triggers: [{ event: 'go' }] }, async ({ step }) => {
          await Promise.all([
            step.run('short', async () => void calls.push('short')),
            step.run('long', async () => {
              calls.push('long');
              await isEnding;
            }),
          ]);
        }),
      ]);
      await client.send([{ name: 'fail' }, { name: 'go' }]);
      await eventually(async () => {
        expect(await sql`select from engine.run where status = 'Failed'`).toHaveLength(1);
        expect(await sql`select from engine.step`).toHaveLength(1);
        expect(calls).toContain('long');
        expect(await sql`select from graphile_worker.jobs`).toHaveLength(1);
      });
      await sql`select graphile_worker.add_jobs(array_agg(engine.job(
        json_build_object('run', run.id, 'turn', run.turn, 'step', step.id), now())))
        from engine.run left join engine.step on step.run_id = run.id`;
      await eventually(async () => expect(await sql`select from graphile_worker.jobs`).toHaveLength(1));
      end();
      await eventually(async () => expect(await sql`select from graphile_worker.jobs`).toHaveLength(0));
      expect(calls.sort()).toEqual(['failing', 'long', 'short']);
    });

    it('calls no onFailure for a run that another process has taken over', async () => {
      let failures = 0;
      const { client } = await startTestApp((client) => [
        client.createFunction(
          { id: 'f', triggers: [{ event: 'go' }], onFailure: async () => void failures++ },
          async () => {
            await sql`update engine.run set turn = turn + 1`;
            throw new NonRetriableError('always');
          },
        ),
      ]);
      await client.send({ name: 'go' });
      await eventually(async () =>
        expect(await sql`select from graphile_worker.jobs where last_error like '%taken it over%'`).toHaveLength(1),
      );
      expect([await countRuns(), failures]).toEqual([1, 0]);
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
      await new Store(sql).prune([]);
      await client.send({ name: 'go' });
      await client.send({ name: 'go' });
      await eventually(async () => expect(await countRuns()).toBe(0));
    });
  });
}
