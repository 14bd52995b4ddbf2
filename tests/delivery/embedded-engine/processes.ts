import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, it, vi } from 'vitest';
import { openSocket } from '../../../db/postgres-internals';
import type { EmbeddedEngineOptions } from '../../../inngest/embedded/engine';
import { Presence } from '../../../inngest/embedded/presence';
import { eventually } from '../../support/eventually';
import { findFreePort } from '../../support/ports';
import { cleanups, countRuns, databaseUrl, exitOf, kill, notes, sql, startChild, startTestApp } from './applications';

export function registerProcessTests(): void {
  describe('several processes', () => {
    it('start at the same time on an empty database', async () => {
      await sql`drop schema engine, graphile_worker cascade`;
      await Promise.all([1, 2, 3, 4].map(() => startTestApp(() => [])));
      expect((await sql`select from engine.process`).length).toBe(4);
    });

    it('continue after kill -9: they repeat the step in flight but no finished one, and sleepers wake at their time', async () => {
      await sql`create table note (id serial, text text, pid int, at timestamptz default now())`;
      // Long enough for a slow machine: the victim is killed before the sleeper wakes.
      const napMs = 8_000;
      const from = Date.now();
      const victim = await startChild({ SEND: 'work,nap', HANG: '1', NAP_MS: String(napMs) });
      await eventually(async () => expect((await notes()).sort()).toEqual(['before', 'first', 'second']));
      // The step that wrote this note ends only when its result is recorded.
      await eventually(async () => expect(await sql`select from engine.run where status = 'Sleeping'`).toHaveLength(1));
      await kill(victim);
      expect(await sql`select from graphile_worker.jobs where locked_by is not null`).not.toHaveLength(0);
      await startChild({});
      await eventually(async () => expect((await notes()).filter((text) => text === 'third')).toHaveLength(1));
      await eventually(async () => expect(await notes()).toContain('after'));
      expect(Date.now()).toBeGreaterThanOrEqual(from + napMs);
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

    it('take over from a process that hangs, and from none that lives', async () => {
      await sql`create table note (id serial, text text, pid int, at timestamptz default now())`;
      const victim = await startChild({ SEND: 'work', HANG: '1' });
      await eventually(async () => expect(await notes()).toContain('second'));
      const session = postgres(databaseUrl, { max: 1 });
      cleanups.push(() => session.end({ timeout: 1 }));
      const observer = new Presence(session);
      const look = () => observer.releaseOrphans([], []);
      const readSign = async () => (await sql`select seen_at::text as at from engine.process`)[0]!.at as string;
      const now = performance.now.bind(performance);
      let passedMs = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
      cleanups.push(async () => clock.mockRestore());
      expect(await look()).toBe(0);
      const sign = await readSign();
      await eventually(async () => expect(await readSign()).not.toBe(sign), 8_000);
      passedMs += 60_000;
      expect(await look()).toBe(0);
      victim.kill('SIGSTOP');
      // A last sign may have been on its way.
      await eventually(async () => {
        passedMs += 60_000;
        expect(await look()).toBe(1);
      });
      await startChild({});
      await eventually(async () => expect(await notes()).toEqual(['first', 'second', 'second', 'third']), 8_000);
      victim.kill('SIGCONT');
      await eventually(async () => expect(await countRuns()).toBe(0));
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
}
