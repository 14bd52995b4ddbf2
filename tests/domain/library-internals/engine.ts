import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, run, type WorkerEvents } from 'graphile-worker';
import { Inngest } from 'inngest';
import { serve } from 'inngest/edge';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { callFunction } from '../../../inngest/embedded/executor';
import { listFunctions } from '../../../inngest/embedded/functions';
import {
  announceJobs,
  resetTaskSequence,
  selectDueTimes,
  unlockLostJobs,
} from '../../../inngest/embedded/graphile-worker-internals';
import { migrateEngine, TASK } from '../../../inngest/embedded/schema';
import { disableAsyncContext } from '../../../inngest/inngest-internals';
import { createEmptyDatabase } from '../../support/database';
import { describeReaches, readVersion } from './reaches';

let queue: { url: string; sql: postgres.Sql; drop(): Promise<void> };

/** Empties the queue and adds jobs that are due in so many seconds. Answers their ids. */
async function addJobs(dueIn: number[]): Promise<string[]> {
  await queue.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
  const jobs = await queue.sql<{ id: string }[]>`
    select (graphile_worker.add_jobs(array[engine.job('{}', now() + due * interval '1 s')])).id
    from unnest(${dueIn}::int[]) with ordinality as element (due, place) order by place`;
  return jobs.map(({ id }) => id);
}

const readTaskSequence = async () =>
  Number((await queue.sql`select last_value from graphile_worker.tasks_id_seq`)[0]!.last_value);

export function registerEngineReaches(): void {
  beforeAll(async () => {
    const { url, drop } = await createEmptyDatabase();
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    await migrateEngine(sql, url, new Logger(() => () => {}));
    queue = { url, sql, drop };
  });
  afterAll(async () => {
    await queue.sql.end();
    await queue.drop();
  });

  describeReaches(
    'graphile-worker',
    {
      version: readVersion('graphile-worker'),
      writtenFor: /^0\.16\./,
      file: 'inngest/embedded/graphile-worker-internals.ts',
    },
    {
      '`_private_jobs` holds jobs with `run_at`, `priority` and `is_available`, which the view lacks': async () => {
        const { sql } = queue;
        const [first] = await addJobs([60, 3600, 1]);
        await sql`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'me' where id = ${first!}`;
        const due =
          await sql`select round(extract(epoch from run_at - now()))::int as s from (${selectDueTimes(sql, 9)}) q`;
        expect(due.map(({ s }) => s)).toEqual([1, 3600]);
        expect(await selectDueTimes(sql, 1)).toHaveLength(1);
        await sql`update graphile_worker._private_jobs set locked_at = null, locked_by = null`;
        const columns = await sql`select column_name from information_schema.columns
        where table_schema = 'graphile_worker' and table_name = 'jobs'`;
        expect(columns.map(({ column_name }) => column_name)).not.toContain('is_available');
      },

      '`_private_jobs` holds who has locked a job, and since when': async () => {
        const { sql } = queue;
        const ids = await addJobs([1, 1, 1, 1, 1]);
        const [ofDead, ofLive, unknown, fresh, known] = ids as [string, string, string, string, string];
        const lock = (id: string, worker: string, seconds: number) =>
          sql`update graphile_worker._private_jobs set locked_by = ${worker}, locked_at = now() - ${seconds} * interval '1 s'
          where id = ${id}`;
        await lock(ofDead, 'dead', 0);
        await lock(ofLive, 'live', 60);
        await lock(unknown, 'own', 11);
        await lock(fresh, 'own', 5);
        await lock(known, 'own', 11);
        const workers = { deadWorkers: ['dead'], ownWorkers: ['own'], ownJobs: [known] };
        expect(await unlockLostJobs(sql, workers)).toBe(2);
        const open =
          await sql`select id from graphile_worker.jobs where locked_by is null and locked_at is null order by id`;
        expect(open.map(({ id }) => id)).toEqual([ofDead, unknown]);
        await sql`select graphile_worker.force_unlock_workers(array['live', 'own'])`;
      },

      'a notification of `jobs:insert` with a count makes idle workers look': async () => {
        const { sql, url } = queue;
        let done = 0;
        const [job] = await addJobs([3600]);
        const events: WorkerEvents = new EventEmitter();
        const isIdle = Promise.all([once(events, 'pool:listen:success'), once(events, 'worker:getJob:empty')]);
        const runner = await run({
          connectionString: url,
          concurrency: 1,
          pollInterval: 600_000,
          noHandleSignals: true,
          parsedCronItems: [],
          events,
          logger: new Logger(() => () => {}),
          taskList: { [TASK]: () => void done++ },
        });
        try {
          await isIdle;
          // This function of the library sends no notification.
          await sql`select graphile_worker.reschedule_jobs(array[${job!}::bigint], now())`;
          await delay(200);
          expect(done).toBe(0);
          await announceJobs(sql, 1);
          await expect.poll(() => done).toBe(1);
        } finally {
          await runner.stop();
        }
      },

      'the ids of `_private_tasks` are a sequence, of which `add_jobs` takes one for each job': async () => {
        const { sql } = queue;
        await addJobs([1]);
        const before = await readTaskSequence();
        await addJobs([1]);
        expect(await readTaskSequence()).toBe(before + 1);
        await resetTaskSequence(sql);
        const [task] = await sql`select max(id)::int as id from graphile_worker._private_tasks`;
        expect(await readTaskSequence()).toBe(task!.id);
      },
    },
  );

  describeReaches(
    'inngest',
    { version: readVersion('inngest'), writtenFor: /^4\.24\./, file: 'inngest/inngest-internals.ts' },
    {
      'a symbol names the storage of the process, and runs use no other': async () => {
        disableAsyncContext();
        const client = new Inngest({ id: 'app', isDev: true });
        const job = client.createFunction({ id: 'add', triggers: [{ event: 'asked' }] }, ({ step }) =>
          step.run('sum', () => 1 + 2),
        );
        const handler = serve({ client, functions: [job] });
        const enter = vi.spyOn(AsyncLocalStorage.prototype, 'run');
        const event = '{"name":"asked","data":{}}';
        const [fn] = await listFunctions(handler);
        const run = { functionId: fn!.id, event, attempt: 0, stepIds: [], steps: '' };
        expect(await callFunction(handler, fn!, { run: 1, turn: 1 }, run, 0)).toMatchObject({ result: '{"data":3}' });
        expect(enter).not.toHaveBeenCalled();
        enter.mockRestore();
      },
    },
  );
}
