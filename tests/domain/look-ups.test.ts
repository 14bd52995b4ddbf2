import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { createTestDatabase, type TestDatabase, waitForLocks } from '../support/database';

/** After a shorter silence the connection is not taken for one that is busy. */
const SILENCE_MS = 20;

const PID = 'select pg_backend_pid() as pid';
/** Answers when nobody holds the lock. */
const LOCKED_PID = `${PID}, pg_advisory_xact_lock(1) is null as "isLocked"`;

let database: TestDatabase;
const opened: Database[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => Promise.all(opened.splice(0).map((db) => db.close())));
afterAll(() => database.drop());

function open(maxConnections: number): Database {
  const db = openDatabase({ url: database.url, maxConnections });
  opened.push(db);
  return db;
}
const findPid = async (send: Database['query'], text = PID) => (await send<{ pid: number }>(text, []))[0]!.pid;
const findPids = async (count: number, send: Database['query']) =>
  new Set(await Promise.all(Array.from({ length: count }, () => findPid(send))));

describe('look-ups', () => {
  it('share one connection, which is none of those of other statements', async () => {
    const { query, lookUp, load } = open(2);
    const own = new Set<number>();
    for (let n = 0; n < 10; n++) own.add(await findPid(lookUp));
    const others = await findPids(16, query);
    expect(own.size).toBe(1);
    expect(others.size).toBe(2);
    expect([...own, ...others]).toHaveLength(new Set([...own, ...others]).size);
    expect(load().connections).toBe(3);
  });

  it('use the other connections too when more wait than one answers', async () => {
    const { lookUp } = open(2);
    expect((await findPids(50, lookUp)).size).toBeGreaterThan(1);
  });

  it('do not wait for one that takes long', async () => {
    const { lookUp } = open(2);
    const usual = await findPid(lookUp);
    const slow = await open(1).transact(async (query) => {
      await query(LOCKED_PID, []);
      const locked = findPid(lookUp, LOCKED_PID);
      await waitForLocks(database.db.sql, 1);
      await sleep(SILENCE_MS);
      expect(await findPids(5, lookUp)).not.toContain(usual);
      // In an object, because a promise would be awaited while the lock is held.
      return { locked };
    });
    expect(await slow.locked).toBe(usual);
    expect(await findPid(lookUp)).toBe(usual);
  });

  it('go on after one that fails', async () => {
    const { lookUp } = open(2);
    const usual = await findPid(lookUp);
    for (let n = 0; n < 20; n++) await expect(lookUp('select 1 / 0', [])).rejects.toMatchObject({ code: '22012' });
    expect(await findPid(lookUp)).toBe(usual);
  });

  it('write and read values as other statements do', async () => {
    const { query, lookUp } = open(2);
    const text = `select $1::timestamptz < now() as past, $2::jsonb as json, '2026-01-31 09:30+00'::timestamptz as at, '{a,b}'::text[] as list`;
    const values = ['-infinity', '{"a":1}'];
    expect(await lookUp(text, values)).toEqual(await query(text, values));
    expect(await lookUp(text, values)).toEqual([
      { past: true, json: { a: 1 }, at: '2026-01-31T09:30:00.000Z', list: ['a', 'b'] },
    ]);
  });
});
