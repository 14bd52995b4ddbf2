import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { initTRPC, TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { drizzle } from 'drizzle-orm/postgres-js';
import { Logger, run, type WorkerEvents } from 'graphile-worker';
import { Inngest } from 'inngest';
import { serve } from 'inngest/edge';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { z } from 'zod';
import { parseCompiled } from '../../contract/zod-internals';
import {
  asPool,
  followStatements,
  openSocket,
  type StatementListener,
  setParsers,
  type WatchedSocket,
} from '../../db/postgres-internals';
import { callFunction } from '../../inngest/embedded/executor';
import { listFunctions } from '../../inngest/embedded/functions';
import {
  announceJobs,
  resetTaskSequence,
  selectDueTimes,
  unlockLostJobs,
} from '../../inngest/embedded/graphile-worker-internals';
import { migrateEngine, TASK } from '../../inngest/embedded/schema';
import { disableAsyncContext } from '../../inngest/inngest-internals';
import { readTakenBytes, screenBody, stopListening } from '../../server/node-http-internals';
import { listProcedures, runProcedure, writeError } from '../../server/rest/trpc-internals';
import { readCertificateDates } from '../../server/webhooks/tls-internals';
import { createEmptyDatabase } from '../support/database';
import { readSources, SOURCE_ROOTS } from '../support/imports';

// After an upgrade of a library, these tests say which of its internals we depend on and whether they still behave as
// before. Each test drives one reach on the real library, through the file that contains it.

/** Signs of a reach, as far as the text shows one. */
const REACH =
  /\._def\b|\._zod\b|\bunstable-|\b_private_|\.parseAsync\s*=|\.parsers\b|\.prototype\b|\b_handle\b|Listener\('secure'|'inngest:als'/;

describe('reaches into libraries', () => {
  it('are only in files that are named for it', () => {
    // The pixel runs in browsers, on their prototypes.
    const sources = readSources(SOURCE_ROOTS).filter(({ path }) => !path.startsWith('pixel/'));
    const reaching = sources.filter(({ text }) => REACH.test(text)).map(({ path }) => path);
    expect(reaching.filter((path) => !path.endsWith('-internals.ts'))).toEqual([]);
    expect(reaching).toEqual(sources.map(({ path }) => path).filter((path) => path.endsWith('-internals.ts')));
  });
});

/** One library, the versions that its file was written for, and what the file depends on: one test for each reach. */
function describeReaches(
  library: string,
  { version, writtenFor, file }: { version: string; writtenFor: RegExp; file: string },
  reaches: Record<string, () => Promise<void>>,
) {
  describe(`${file} reaches into ${library}`, () => {
    it(`as it is in version ${writtenFor.source}`, () => {
      const advice = `${library} is ${version} now. Read the reaches of ${file} again, run the tests below, then change this version`;
      expect(version, advice).toMatch(writtenFor);
    });

    it.each(Object.entries(reaches))('%s', async (what, drive) => {
      try {
        await drive();
      } catch (cause) {
        const message = `${library} ${version} has moved what ${file} holds on to: ${what}`;
        throw new Error(`${message}\n${cause instanceof Error ? cause.message : cause}`, { cause });
      }
    });
  });
}

const readVersion = (library: string): string =>
  JSON.parse(readFileSync(`node_modules/${library}/package.json`, 'utf8')).version;

const trpc = initTRPC.context<{ caller: string }>().create({
  errorFormatter: ({ shape: { data, ...shape } }) => ({ ...shape, data: { code: data.code, path: data.path, own: 1 } }),
});
const router = trpc.router({
  sums: trpc.router({
    add: trpc.procedure
      .meta({ told: true })
      .use(({ ctx, meta, type, path, next }) => next({ ctx: { seen: `${ctx.caller} ${type} ${path} ${!!meta}` } }))
      .input(z.object({ a: z.string().transform(Number), b: z.number().max(9) }))
      .output(z.object({ sum: z.number(), seen: z.string() }))
      .mutation(({ ctx, input: { a, b } }) => {
        if (b < 0) throw new RangeError('of the resolver');
        return { sum: b === 0 ? ('none' as never) : a + b, seen: ctx.seen, hidden: 'by the output' };
      }),
  }),
});
const path = 'sums.add';
const ctx = { caller: 'me' };

describeReaches(
  '@trpc/server',
  { version: readVersion('@trpc/server'), writtenFor: /^11\.22\./, file: 'server/rest/trpc-internals.ts' },
  {
    '`_def.procedures` holds the procedures of a router by name': async () => {
      const procedures = listProcedures(router);
      expect(Object.keys(procedures)).toEqual([path]);
      expect([procedures[path]!.meta, procedures[path]!._def.type]).toEqual([{ told: true }, 'mutation']);
    },

    '`_def.middlewares` holds the steps of a procedure, which call each other as in the public caller': async () => {
      const procedure = listProcedures(router)[path]!;
      const settle = (result: Promise<unknown>) =>
        result.then(
          (data) => ({ data }),
          ({ name, code, message, cause }: TRPCError) => ({ name, code, message, cause }),
        );
      const answers = [];
      for (const input of [
        { a: '1', b: 2 },
        { a: '1', b: 10 },
        { a: '1', b: -1 },
        { a: '1', b: 0 },
      ]) {
        const answer = await settle(runProcedure(procedure, { ctx, path, type: 'mutation', input }));
        expect(answer).toEqual(await settle(router.createCaller(ctx).sums.add(input)));
        answers.push(answer);
      }
      expect(answers).toMatchObject([
        { data: { sum: 3, seen: 'me mutation sums.add true' } },
        { code: 'BAD_REQUEST', cause: { issues: [{ path: ['b'] }] } },
        { code: 'INTERNAL_SERVER_ERROR', cause: new RangeError('of the resolver') },
        { code: 'INTERNAL_SERVER_ERROR', message: 'Output validation failed' },
      ]);
    },

    '`_def._config` holds how a router writes its errors': async () => {
      const response = await fetchRequestHandler({
        endpoint: '/trpc',
        req: new Request(`http://127.0.0.1/trpc/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"a":"1","b":-1}',
        }),
        router,
        createContext: () => ctx,
      });
      const error = new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'of the resolver' });
      const written = { error: writeError(router, { error, path, ctx }) };
      expect(written).toMatchObject({ error: { data: { own: 1 } } });
      expect(await response.json()).toEqual(written);
    },
  },
);

describeReaches(
  'zod',
  { version: readVersion('zod'), writtenFor: /^4\.6\./, file: 'contract/zod-internals.ts' },
  {
    'tRPC parses answers by the `parseAsync` of a schema, which can be replaced': async () => {
      const schema = parseCompiled(z.object({ id: z.string() }));
      const parse = vi.spyOn(schema, 'parse');
      const procedure = trpc.procedure.output(schema).query(() => ({ id: 'a', hidden: 1 }));
      expect(await trpc.router({ procedure }).createCaller(ctx).procedure()).toEqual({ id: 'a' });
      expect(parse).toHaveBeenCalledOnce();
    },

    'the asynchronous parser is not compiled (if it is one day, the file can go)': async () => {
      const compile = vi.spyOn(globalThis, 'Function');
      await z.object({ id: z.string() }).parseAsync({ id: 'a' });
      expect(compile).not.toHaveBeenCalled();
      await parseCompiled(z.object({ id: z.string() })).parseAsync({ id: 'a' });
      expect(compile).toHaveBeenCalled();
      compile.mockRestore();
    },
  },
);

/**
 * Runs a test with a pool of one connection, and what its statements report: how many were about to be sent, and which
 * were sent.
 */
async function withPool(
  drive: (pool: {
    sql: postgres.Sql;
    waiting: ReturnType<typeof followStatements>;
    recorded: { asked: number; answers: number; failures: unknown[]; sent: string[] };
    sockets: Set<WatchedSocket>;
  }) => Promise<void>,
  { url = inject('postgresUrl'), refuse = () => null }: { url?: string; refuse?: StatementListener['refuse'] } = {},
) {
  const sockets = new Set<WatchedSocket>();
  const recorded = { asked: 0, answers: 0, failures: [] as unknown[], sent: [] as string[] };
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    socket: openSocket(url, sockets)!,
    debug: (_id: number, text: string, parameters: unknown[]) =>
      recorded.sent.push(`${text} ${JSON.stringify(parameters)}`),
  } as object);
  const waiting = followStatements(sql, {
    refuse(count) {
      recorded.asked++;
      return refuse(count);
    },
    prepare: () => null,
    onAnswer: () => recorded.answers++,
    onFailure: (error) => recorded.failures.push(error),
  });
  try {
    await drive({ sql, waiting, recorded, sockets });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

describeReaches(
  'postgres',
  { version: readVersion('postgres'), writtenFor: /^3\.4\./, file: 'db/postgres-internals.ts' },
  {
    'a statement is sent by its `handler`, and ends by its `resolve` or `reject`': () =>
      withPool(async ({ sql, waiting, recorded }) => {
        const slow = sql.unsafe('select pg_sleep(0.2)').execute();
        await turn();
        expect([waiting.count(), recorded.asked]).toEqual([1, 1]);
        await slow;
        await expect(sql.unsafe('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
        expect([waiting.count(), recorded.answers, recorded.failures]).toMatchObject([0, 1, [{ code: '22012' }]]);
      }),

    'a statement whose `handler` is replaced is not sent': () =>
      withPool(
        async ({ sql }) => {
          await expect(sql.unsafe('select 1').execute()).rejects.toThrow('refused: 0 wait');
          expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
        },
        { refuse: (count) => new Error(`refused: ${count} wait`) },
      ),

    '`begin` sends its first statement through `unsafe`': () =>
      withPool(async ({ sql, recorded }) => {
        await sql.begin((tx) => tx`select 1`);
        expect(recorded.asked).toBe(1);
      }),

    'the `state` of a statement is null until a connection has it': () =>
      withPool(async ({ sql, waiting }) => {
        const seen: boolean[] = [];
        const look = () =>
          waiting.review(({ isQueued }) => {
            if (seen.at(-1) !== isQueued) seen.push(isQueued);
            return null;
          });
        const slow = sql.unsafe('select pg_sleep(0.2)').execute();
        // At once: a busy machine may run the timer only after the connection is open.
        await turn();
        look();
        const looking = setInterval(look, 5);
        await slow;
        clearInterval(looking);
        expect(seen).toEqual([true, false]);
      }),

    'a queued statement can be emptied of its `strings` and `args`': () =>
      withPool(async ({ sql, waiting, recorded }) => {
        // The connection is not open yet. It holds the first statement for later, and the pool holds the others.
        const asked = [1, 2].map((n) => sql.unsafe('select $1::int', [n]).execute() as Promise<unknown>);
        // `begin` gives back the connection that it would otherwise reserve.
        asked.push(sql.begin((tx) => tx`select 4`));
        await turn();
        expect(waiting.count()).toBe(3);
        waiting.review(() => new Error('withdrawn'));
        for (const statement of asked) await expect(statement).rejects.toThrow('withdrawn');
        expect(waiting.count()).toBe(0);
        expect(await sql.unsafe('select 3 as n')).toEqual([{ n: 3 }]);
        expect(recorded.sent).toEqual(['select 1 []', 'select 1 []', 'select 1 []', 'select 3 as n []']);
      }),

    'every statement hands its rows to the `forEachFn` that it inherits, and the result, which is new for each': () =>
      withPool(async ({ sql }) => {
        // The fourth row fails, after three rows were received.
        const breakOff = () => sql.unsafe('select 1 / (4 - n) from generate_series(1, 9) n');
        const text = 'select n from generate_series(1, 3) n where n > $1';
        const kinds: Record<string, (on: postgres.Sql) => Promise<unknown>> = {
          simple: (on) => on.unsafe('select n from generate_series(2, 3) n'),
          unnamed: (on) => on.unsafe(text, [1]),
          prepared: (on) => on.unsafe(text, [1], { prepare: true }),
          'a template': (on) => on`select n from generate_series(2, 3) n`,
          'several results': async (on) => (await on.unsafe('select; select n from generate_series(2, 3) n'))[1],
          'a cursor': async (on) => {
            const rows: unknown[] = [];
            for await (const part of on.unsafe(text, [1]).cursor(1)) rows.push(...part);
            return rows;
          },
          'inside `begin`': (on) => on.begin((tx) => tx.unsafe(text, [1])) as Promise<unknown>,
        };
        for (const [kind, ask] of Object.entries(kinds)) {
          // Once after the failure, and once sent together with the statement that fails.
          await expect(breakOff()).rejects.toMatchObject({ code: '22012' });
          expect([kind, await ask(sql)]).toEqual([kind, [{ n: 2 }, { n: 3 }]]);
          const [broken, rows] = await Promise.allSettled([breakOff(), ask(sql)]);
          expect([kind, broken.status, rows]).toMatchObject([kind, 'rejected', { value: [{ n: 2 }, { n: 3 }] }]);
        }
      }),

    'an error that ended a connection has the `query` of its statement when the next one is rejected with it': () =>
      withPool(async ({ sql, recorded, sockets }) => {
        const text =
          'select n, pg_terminate_backend(case n when 4 then pg_backend_pid() end) from generate_series(1, 9) n';
        for (const ask of [() => sql.unsafe('select 1 as n'), () => sql.begin((tx) => tx`select 1 as n`)]) {
          await expect(sql.unsafe(text)).rejects.toMatchObject({ code: 'ECONNRESET' });
          await expect.poll(() => sockets.size).toBe(0);
          await delay(50);
          recorded.failures = [];
          expect(await ask()).toEqual([{ n: 1 }]);
          expect(recorded.failures).toEqual([]);
        }
      }),

    'a connection is what the option `socket` opens, written by `write` and heard through `emit`': () =>
      withPool(async ({ sql, sockets }) => {
        await sql`select 1`;
        const [socket] = sockets;
        expect([sockets.size, socket!.askedAt]).toEqual([1, null]);
        const { heardAt } = socket!;
        const slow = sql`select pg_sleep(0.2)`.execute();
        await expect.poll(() => socket!.askedAt, { interval: 5 }).not.toBeNull();
        await slow;
        expect(socket!.askedAt).toBeNull();
        expect(socket!.heardAt).toBeGreaterThan(heardAt + 100);
        await sql.end();
        await expect.poll(() => sockets.size).toBe(0);
      }),

    'an `error` of a socket that is not ready fails the statement, once': async () => {
      let connections = 0;
      const server = createNetServer((peer) => {
        connections++;
        peer.once('data', () => peer.end());
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`;
      const limit = delay(2_000, undefined, { ref: false }).then(() => Promise.reject(new Error('still tries')));
      await withPool(
        async ({ sql }) => {
          await expect(Promise.race([sql.unsafe('select 1'), limit])).rejects.toMatchObject({ code: 'ECONNRESET' });
          expect(connections).toBe(1);
        },
        { url },
      );
      server.close();
    },

    'TLS verifies the `host` of a socket': async () => {
      let hello = '';
      const server = createNetServer((peer) => {
        peer.on('error', () => {});
        peer.once('data', () => {
          // Accepts encryption. The next message names the requested host.
          peer.write('S');
          peer.once('data', (piece) => {
            hello = piece.toString('latin1');
            peer.destroy();
          });
        });
      }).listen(0, 'localhost');
      await once(server, 'listening');
      const url = `postgres://nobody@localhost:${(server.address() as AddressInfo).port}/none?sslmode=require`;
      await withPool(async ({ sql }) => expect(sql.unsafe('select 1')).rejects.toThrow(), { url });
      expect(hello).toContain('localhost');
      server.close();
    },

    'what a lost transaction still writes (its ROLLBACK) finds a socket': () =>
      withPool(async ({ sql, sockets }) => {
        const lost = sql.begin(async (tx) => {
          const asked = tx`select pg_sleep(9)`.execute();
          await delay(50);
          for (const socket of sockets) socket.destroy();
          await asked;
        });
        await expect(lost).rejects.toThrow();
        // Without a socket the process would end: this run would fail with an uncaught error.
        await delay(50);
        expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
      }),

    '`options.parsers` is read for each answer; Drizzle replaces the given option in it': async () => {
      const types = { time: { to: 1184, from: [1184], serialize: String, parse: () => 'by the option' } };
      const sql = postgres(inject('postgresUrl'), { max: 1, types });
      drizzle(sql);
      const read = async () => (await sql<[{ at: unknown }]>`select now() as at`)[0].at;
      expect(await read()).toMatch(/^\d{4}-/);
      const parsers = setParsers(sql, { 1184: () => 'by us' });
      await sql.end();
      const other = postgres(inject('postgresUrl'), { max: 1 });
      setParsers(other, parsers);
      expect(await other`select now() as at`).toEqual([{ at: 'by us' }]);
      await other.end();
    },

    'Drizzle takes a transaction as a pool if it has the `options` of one, and makes savepoints with its `begin`':
      async () => {
        const sql = postgres(inject('postgresUrl'), { max: 1 });
        const rows = await sql.begin(async (transaction) => {
          const orm = drizzle(asPool(transaction, sql));
          await orm.execute('create temporary table kept (n int) on commit drop');
          const write = (n: number) => orm.execute(`insert into kept values (${n})`);
          await write(1);
          const failing = orm.transaction(async () => {
            await write(2);
            throw new Error('undo');
          });
          await expect(failing).rejects.toThrow('undo');
          return orm.execute('select n from kept');
        });
        expect([...rows]).toEqual([{ n: 1 }]);
        await sql.end();
      },
  },
);

let queue: { url: string; sql: postgres.Sql; drop(): Promise<void> };
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

async function withServer(
  answer: Parameters<typeof createServer>[1],
  drive: (server: Server, port: number) => Promise<void>,
) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await drive(server, (server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close(() => {});
  }
}

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

describeReaches(
  'node:tls',
  { version: process.version, writtenFor: /^v2\d\./, file: 'server/webhooks/tls-internals.ts' },
  {
    'a client emits `secure` before it judges the certificate': async () => {
      const read = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
      const server = createTlsServer({ key: read('receiver.key'), cert: read('expired.pem') }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const socket = connectTls({ port: (server.address() as AddressInfo).port, ca: read('authority.pem') });
      let until = '';
      readCertificateDates(socket, (dates) => {
        until = dates.until;
      });
      const [error] = await once(socket, 'error').catch((error) => [error]);
      expect(error).toMatchObject({ code: 'CERT_HAS_EXPIRED' });
      expect(Date.parse(until)).toBeLessThan(Date.now());
      server.close();
    },
  },
);

describeReaches(
  'node:http',
  { version: process.version, writtenFor: /^v2\d\./, file: 'server/node-http-internals.ts' },
  {
    'the `close` of node:net leaves idle connections open': () =>
      withServer(
        (_request, response) => response.end('here'),
        async (server, port) => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1 });
          const ask = async () => {
            const asked = request({ port, agent }).end();
            const [response] = await once(asked, 'response');
            return [asked.reusedSocket, await text(response)];
          };
          expect(await ask()).toEqual([false, 'here']);
          let isStopped = false;
          const stopped = stopListening(server).then(() => {
            isStopped = true;
          });
          await delay(100);
          expect(await ask()).toEqual([true, 'here']);
          expect([isStopped, server.listening]).toEqual([false, false]);
          agent.destroy();
          await stopped;
        },
      ),

    'the parser hands a body over by the `push` of its request': () => {
      let seen = 0;
      return withServer(
        (received, response) => {
          screenBody(received, (piece) => {
            seen += piece.length;
            return seen <= 1_000;
          });
          text(received).then(
            (body) => response.end(String(body.length)),
            () => {},
          );
        },
        async (_server, port) => {
          const post = async (length: number) => {
            const asked = request({ port, method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
            const answered = once(asked, 'response');
            asked.end('x'.repeat(length));
            const [response] = await answered;
            return text(response);
          };
          expect([await post(900), seen]).toEqual(['900', 900]);
          await expect(post(200)).rejects.toMatchObject({ code: 'ECONNRESET' });
        },
      );
    },

    'the `_handle` of a socket counts what it was given and what of it is still queued, also in the middle of a write':
      () => {
        const pieceBytes = 32 * 1024 * 1024;
        let answered: Socket;
        return withServer(
          ({ socket }, response) => {
            answered = socket;
            response.end(Buffer.alloc(pieceBytes));
          },
          async (_server, port) => {
            const asked = request({ port }).end();
            const [response] = await once(asked, 'response');
            const seen = new Set<number>();
            for await (const _part of response) if (answered.writableLength > 0) seen.add(readTakenBytes(answered));
            const taken = [...seen];
            expect(taken.length).toBeGreaterThan(2);
            expect(taken).toEqual(taken.toSorted((one, other) => one - other));
            expect(taken.at(-1)).toBeLessThanOrEqual(answered!.bytesWritten);
            expect(readTakenBytes(answered!)).toBe(answered!.bytesWritten);
          },
        );
      },
  },
);
