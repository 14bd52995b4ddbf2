import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSchedule } from '../../server/collector/schedule';
import type { OpenSessions } from '../../server/collector/session-state';

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
  const sessions = { get: () => ({ judgedAtMs: 0, judgementMs: JUDGEMENT_MS }) } as unknown as OpenSessions;
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
