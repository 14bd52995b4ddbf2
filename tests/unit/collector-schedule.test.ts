import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Judge } from '../../server/collector/judge';
import { createSchedule } from '../../server/collector/schedule';
import type { OpenSession, OpenSessions } from '../../server/collector/session-state';

const JUDGEMENT_MS = 10;
const SESSIONS = 30;

it('requests are answered between judgements, however many sessions are ready', async () => {
  let judged = 0;
  const judge = async () => {
    const until = performance.now() + JUDGEMENT_MS;
    while (performance.now() < until);
    judged++;
    return { againInMs: null, isClosed: false };
  };
  const session = { judgedAtMs: 0, judgementMs: JUDGEMENT_MS };
  const sessions = { has: () => true, get: () => session } as unknown as OpenSessions;
  const schedule = createSchedule({ judge }, sessions, true);
  schedule.take(
    Array.from({ length: SESSIONS }, (_, n) => String(n)),
    null,
  );
  const perTurn: number[] = [];
  while (judged < SESSIONS) {
    const before = judged;
    await nextTurn();
    perTurn.push(judged - before);
  }
  expect(Math.max(...perTurn)).toBe(1);
  await schedule.stop();
});

it('sessions that do not fit into memory are judged later, but neither those that fit nor those that are over', async () => {
  const judged: string[] = [];
  const judge: Judge = {
    async judge(key) {
      judged.push(key);
      return { againInMs: null, isClosed: false };
    },
  };
  const has = (key: string) => key.startsWith('kept');
  const session = { judgedAtMs: 0, readingMs: 500, judgementMs: 500 } as OpenSession;
  const sessions = { has, get: () => session } as unknown as OpenSessions;
  const schedule = createSchedule(judge, sessions, true);
  for (let n = 0; n < 40; n++) schedule.notice(`read ${n}`, true);
  await sleep(200);
  // Those that began together, in the seconds that may be used at once.
  const begun = judged.length;
  expect(begun).toBeLessThan(40);
  schedule.notice('kept', true);
  schedule.take(['over'], Date.now());
  schedule.take(['left behind'], null);
  await sleep(200);
  expect(judged.slice(begun)).toEqual(['kept', 'over']);
  expect([schedule.count(), schedule.countOver()]).toEqual([41 - begun, 0]);
  await schedule.stop();
});
