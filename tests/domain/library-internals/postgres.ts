import { once } from 'node:events';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { expect, inject } from 'vitest';
import {
  asPool,
  followStatements,
  openSocket,
  type StatementListener,
  setParsers,
  type WatchedSocket,
} from '../../../db/postgres-internals';
import { readCertificate, startSecuredDatabase } from '../../support/secured-database';
import { describeReaches, readVersion } from './reaches';

/**
 * Runs a test with a pool of one connection, and what its statements report: how many were about to be sent, and which
 * were sent.
 */
async function withPool(
  drive: (pool: {
    sql: postgres.Sql;
    waiting: ReturnType<typeof followStatements>;
    recorded: { asked: number; answers: number; failures: unknown[]; sent: string[]; sentBefore: number[] };
    sockets: Set<WatchedSocket>;
  }) => Promise<void>,
  {
    url = inject('postgresUrl'),
    refuse = () => null,
    isSerial = false,
  }: { url?: string } & Partial<Pick<StatementListener, 'refuse' | 'isSerial'>> = {},
) {
  const sockets = new Set<WatchedSocket>();
  const recorded = {
    asked: 0,
    answers: 0,
    failures: [] as unknown[],
    sent: [] as string[],
    sentBefore: [] as number[],
  };
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    socket: openSocket(url, sockets)!,
    debug: (_id: number, text: string, parameters: unknown[]) =>
      recorded.sent.push(`${text} ${JSON.stringify(parameters)}`),
  } as object);
  const waiting = followStatements(sql, {
    isSerial,
    refuse(count) {
      recorded.asked++;
      return refuse(count);
    },
    prepare: () => null,
    onAnswer() {
      recorded.answers++;
      recorded.sentBefore.push(recorded.sent.length);
    },
    onFailure: (error) => recorded.failures.push(error),
  });
  try {
    await drive({ sql, waiting, recorded, sockets });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export function registerPostgresReaches(): void {
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

      'a statement whose `onexecute` says no keeps the next one from its connection until it is answered': async () => {
        for (const isSerial of [false, true])
          await withPool(
            async ({ sql, recorded }) => {
              await sql.unsafe('select 1');
              const slow = sql.unsafe('select pg_sleep(0.2)').execute();
              expect(await sql.unsafe('select $1::int as n', [2])).toEqual([{ n: 2 }]);
              await slow;
              expect(recorded.sentBefore).toEqual([1, isSerial ? 2 : 3, 3]);
              expect(await sql.begin((tx) => tx`select 3 as n`)).toEqual([{ n: 3 }]);
            },
            { isSerial },
          );
      },

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

      'TLS verifies the `_host` of a socket that is an address, and not `localhost`': async () => {
        const server = await startSecuredDatabase({ cert: 'self-signed.pem', key: 'self-signed.key' });
        const ssl = { ca: readCertificate('self-signed.pem') };
        const sql = postgres(server.url, { max: 1, ssl, socket: openSocket(server.url, new Set()) } as object);
        await expect(sql.unsafe('select 1')).rejects.toThrow('the database has hung up');
        expect(server.names).toEqual([false]);
        await sql.end({ timeout: 0 });
        server.stop();
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
}
