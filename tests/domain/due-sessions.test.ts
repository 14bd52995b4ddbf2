import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schedule } from '../../server/collector/schedule';
import type { OpenSessions } from '../../server/collector/session-state';
import { createSweeps } from '../../server/collector/sweeps';
import { createWaitingSessions } from '../../server/collector/waiting-sessions';
import type { Logger } from '../../server/platform/log';
import { createTestDatabase, type TestDatabase } from '../support/database';

// Which of the sessions that are over a process takes first.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Writes sessions that are over: the first of them for `minutes`. */
const writeOver = (integrationId: string, count: number, minutes: number) =>
  database.db.query(
    `insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, due_at)
     select $1, $1 || n, 'site', now(), '2026-01-01', '', now() - make_interval(mins => $3::int) + n * interval '1 ms'
       from generate_series(1, $2::int) n`,
    [integrationId, count, minutes],
  );

it('a flood of sessions of one integration that are over holds up those of no other', async () => {
  await writeOver('int_flooded', 2_000, 5);
  await writeOver('int_other', 3, 1);
  const waiting = createWaitingSessions();
  const schedule = {
    take: (sessions, nowMs) => {
      for (const session of sessions) waiting.add(session, { atMs: 0, nowMs, isDue: true });
    },
    countOver: waiting.countOver,
  } as Schedule;
  const sessions = {} as OpenSessions;
  const sweeps = createSweeps({ db: database.db, log: {} as Logger, sessions, schedule });
  expect(await sweeps.sweep()).toBe(503);
  expect(Object.fromEntries(schedule.countOver())).toEqual({ int_flooded: 500, int_other: 3 });
  // While these wait, no more are taken.
  await writeOver('int_late', 2, 1);
  expect(await sweeps.sweep()).toBe(2);
});

it('a start has few of the sessions judged at a time that were left behind, so that pages are not refused meanwhile', async () => {
  const count = 10_500;
  await database.db.query(
    `with written as (
       insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, due_at)
       select 'int_left', 'left ' || n, 'site', now(), '2026-01-01', '', now() + interval '1 h' from generate_series(1, $1::int) n
       returning day, key)
     insert into session_batches (day, session_key, document, sequence, received_at, body)
     select day, key, 1, 0, now(), '' from written`,
    [count],
  );
  const waiting = createWaitingSessions();
  const schedule: Schedule = {
    notice: (session) => waiting.add(session, { atMs: 0, nowMs: null, isDue: false }),
    take: () => {},
    count: waiting.count,
    countOver: waiting.countOver,
    flush: async () => {},
    stop: async () => {},
  };
  const sweeps = createSweeps({ db: database.db, log: {} as Logger, sessions: {} as OpenSessions, schedule });
  sweeps.start();
  await expect.poll(() => waiting.count()).toBeGreaterThan(0);
  expect(waiting.count()).toBe(10_000);
  const judged = [...waiting.take(() => true)];
  await expect.poll(() => waiting.count()).toBe(count - judged.length);
  await sweeps.stop();
});
