import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isUnavailable, openDatabase } from '../../db/client';
import { runUnitOfWork } from '../../db/unit-of-work';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { waitUntil } from '../support/receiver';
import { startRelay } from '../support/relay';

const INSERT = 'insert into numbers (n) values ($1)';
const PID = 'select pg_backend_pid() as pid';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.sql`create table numbers (n int primary key)`;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.sql`delete from numbers`;
});

const readNumbers = async () =>
  (await database.db.sql<{ n: number }[]>`select n from numbers order by n`).map((row) => row.n);
const end = (pid: number) => database.db.sql`select pg_terminate_backend(${pid}, 5000)`;

describe('a transaction', () => {
  it('runs on a connection that has yet to be opened', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map((n) => database.db.transact((_query, commitWith) => commitWith(`${INSERT} returning n`, [n]))),
    );
    expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
    expect(await readNumbers()).toEqual([1, 2, 3]);
  });

  it('commits its earlier statements together with its last one', async () => {
    await database.db.transact(async (query, commitWith) => {
      await query(INSERT, [1]);
      expect(await readNumbers()).toEqual([]);
      await commitWith(INSERT, [2]);
      expect(await readNumbers()).toEqual([1, 2]);
    });
  });

  it('commits at its end if no statement was the last one', async () => {
    await database.db.transact((query) => query(INSERT, [1]));
    expect(await readNumbers()).toEqual([1]);
  });

  it('leaves nothing behind when its last statement fails, and the next transaction works', async () => {
    const failing = database.db.transact(async (query, commitWith) => {
      await query(INSERT, [1]);
      await commitWith(INSERT, [1]);
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    expect(await readNumbers()).toEqual([]);
    await database.db.transact((_query, commitWith) => commitWith(INSERT, [2]));
    expect(await readNumbers()).toEqual([2]);
  });

  it('leaves nothing behind when its work throws', async () => {
    const failing = database.db.transact(async (query) => {
      await query(INSERT, [1]);
      throw new Error('of the work');
    });
    await expect(failing).rejects.toThrow('of the work');
    expect(await readNumbers()).toEqual([]);
  });

  it('sends nothing after its last statement', async () => {
    const failing = database.db.transact(async (query, commitWith) => {
      await commitWith(INSERT, [1]);
      await query(INSERT, [2]);
    });
    await expect(failing).rejects.toThrow('over');
    expect(await readNumbers()).toEqual([1]);
  });

  it.each(['already noticed', 'not yet noticed'])(
    'does not continue on another connection when its own is lost, %s',
    async (kind) => {
      const failing = database.db.transact(async (query, commitWith) => {
        const [row] = await query<{ pid: number }>(PID, []);
        await query(INSERT, [1]);
        const ended = end(row!.pid);
        if (kind === 'already noticed') {
          await ended;
          await delay(50);
        }
        await commitWith(INSERT, [2]);
      });
      const error = await failing.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      // If the loss was noticed before the statement, the statement is refused as unavailable. Otherwise the error may
      // be another, because the loss is the answer to the statement.
      if (kind === 'already noticed') expect(isUnavailable(error)).toBe(true);
      expect(await readNumbers()).toEqual(error === null ? [1, 2] : []);
      await database.db.transact((_query, commitWith) => commitWith(INSERT, [3]));
      expect(await readNumbers()).toContain(3);
    },
  );

  it('fails if its connection is lost before it can be committed, also with a list of hosts', async () => {
    const { hostname } = new URL(database.url);
    const url = database.url.replace(`@${hostname}:`, `@${hostname},${hostname}:`);
    const db = openDatabase({ url, maxConnections: 1 });
    const failing = db.transact(async (query) => {
      const [row] = await query<{ pid: number }>(PID, []);
      await query(INSERT, [1]);
      await end(row!.pid);
      await delay(50);
    });
    await expect(failing).rejects.toSatisfy(isUnavailable);
    expect(await readNumbers()).toEqual([]);
    await db.close();
  });

  it('replaces a connection that was lost between two transactions', async () => {
    const [row] = await database.db.transact((query) => query<{ pid: number }>(PID, []));
    await end(row!.pid);
    await waitUntil(() =>
      database.db
        .transact((_query, commitWith) => commitWith(INSERT, [1]))
        .then(
          () => true,
          (error) => !isUnavailable(error),
        ),
    );
    expect(await readNumbers()).toEqual([1]);
  });

  it('runs no statement outside of a transaction when the connection was lost during a rollback', async () => {
    let pid = 0;
    const failing = database.db.transact(async (query) => {
      pid = (await query<{ pid: number }>(PID, []))[0]!.pid;
      // The stopped backend does not answer the rollback.
      await query('select 1 / 0', []).finally(() => process.kill(pid, 'SIGSTOP'));
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    await delay(50);
    const ended = end(pid).execute();
    await delay(50);
    process.kill(pid, 'SIGCONT');
    await ended;
    await delay(100);
    const next = database.db.transact(async (query, commitWith) => {
      await Promise.all([query('insert into numbers values (1)', []), commitWith('select 1 / 0', [])]);
    });
    await expect(next).rejects.toThrow();
    expect(await readNumbers()).toEqual([]);
  });
});

describe('a process that is paused inside of a transaction', () => {
  const LIMIT = `select current_setting('idle_in_transaction_session_timeout') as "limit"`;

  it('has 10 s until Postgres ends the transaction, if no pooler is in between', async () => {
    expect(await database.db.query(LIMIT, [])).toEqual([{ limit: '10s' }]);
    expect(await database.db.transact((query) => query(LIMIT, []))).toEqual([{ limit: '10s' }]);
    const pooled = openDatabase({ url: database.url, maxConnections: 1, isPooled: true });
    expect(await pooled.query(LIMIT, [])).toEqual([{ limit: '0' }]);
    await pooled.close();
  });

  it('blocks others no longer then, and its next statement is refused as unavailable', async () => {
    const failing = database.db.transact(async (query) => {
      await query(INSERT, [1]);
      await query('set idle_in_transaction_session_timeout = 50', []);
      // Waits for the end of the other one.
      await database.db.query(INSERT, [1]);
      await query(INSERT, [2]);
    });
    await expect(failing).rejects.toSatisfy(isUnavailable);
    expect(await readNumbers()).toEqual([1]);
  });
});

it('a transaction whose new connection fails opens no other one, and none of its statements hangs', async () => {
  const url = new URL(database.url);
  const relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  url.searchParams.set('application_name', 'failing');
  const db = openDatabase({ url: url.href, maxConnections: 1 });
  try {
    // The watch has just heard an answer, so it does not take the database for away.
    await db.query('select 1', []);
    await relay.hangUp();
    const statements: Promise<unknown>[] = [];
    const failing = db.transact(async (query, commitWith) => {
      statements.push(query(INSERT, [1]), query(INSERT, [2]), commitWith(INSERT, [3]));
      await Promise.all(statements);
    });
    await expect(failing).rejects.toSatisfy(isUnavailable);
    await relay.cut();
    await relay.restore();
    const settled = await Promise.allSettled(statements);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    // postgres.js tries again after 0.4 s at most.
    await delay(1_000);
    expect(await readNumbers()).toEqual([]);
    await db.close();
    expect(await database.db.sql`select from pg_stat_activity where application_name = 'failing'`).toHaveLength(0);
  } finally {
    await db.close();
    await relay.cut();
  }
});

describe('a unit of work', () => {
  it('commits what it does by any way together', async () => {
    const [, at] = await runUnitOfWork(database.db, async (unit) => {
      await unit.query(INSERT, [1]);
      await unit.sql`insert into numbers (n) values (2)`;
      await unit.transact((query, commitWith) => query(INSERT, [3]).then(() => commitWith(INSERT, [4])));
      await unit.orm.transaction((tx) => tx.execute('insert into numbers (n) values (5)'));
      expect(await readNumbers()).toEqual([]);
      return unit.query('select n, now() as at from numbers order by n', []);
    });
    expect(await readNumbers()).toEqual([1, 2, 3, 4, 5]);
    expect(at).toMatchObject({ n: 2, at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) });
  });

  it('leaves nothing behind if it fails after a transaction inside of it', async () => {
    const failing = runUnitOfWork(database.db, async (unit) => {
      await unit.orm.transaction((tx) => tx.execute('insert into numbers (n) values (1)'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await readNumbers()).toEqual([]);
  });

  it('goes on after a transaction inside of it has failed', async () => {
    await runUnitOfWork(database.db, async (unit) => {
      await unit.query(INSERT, [1]);
      const failing = unit.transact(async (query) => {
        await query(INSERT, [2]);
        await query(INSERT, [2]);
      });
      await expect(failing).rejects.toMatchObject({ code: '23505' });
      await unit.query(INSERT, [3]);
    });
    expect(await readNumbers()).toEqual([1, 3]);
  });
});
