import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Database } from '../../db/client';
import type { Judge } from '../../server/collector/judge';
import { createSchedule } from '../../server/collector/schedule';
import { createSessions, type OpenSession, type OpenSessions } from '../../server/collector/session-state';

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
  const session = { judgedAtMs: 0, judgementMs: JUDGEMENT_MS, usualJudgementMs: JUDGEMENT_MS };
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
  const session = { judgedAtMs: 0, readingMs: 500, judgementMs: 500, usualJudgementMs: 500 } as OpenSession;
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

describe('a session whose judgements take long', () => {
  const PAUSE_MS = 2_000;
  const LONG_MS = 400;

  /** A session that was judged just now and before, and took so long. Answers whether it is judged again after the usual pause. */
  async function isJudgedAfterPause(tookMs: number[]): Promise<boolean> {
    const sessions = createSessions({} as Database);
    const named = { integrationId: 'int_1', sessionId: 'ses_1', userAgent: '', country: null, location: null };
    const at = { day: '2026-11-22', isNewSession: true, createdAt: '2026-11-22T12:00:00.000Z', isClosed: false };
    const stored = { ...at, sessionKey: '1', receivedAt: at.createdAt };
    sessions.addBatch(named, stored, { d: 'a'.repeat(16), n: 0, c: [0, 0], events: '', receivedAtMs: 0 });
    for (const ms of tookMs) sessions.noteJudged(sessions.get('1')!, ms);
    sessions.get('1')!.judgedAtMs -= PAUSE_MS;
    const judge = vi.fn(async () => ({ againInMs: null, isClosed: false }));
    const schedule = createSchedule({ judge }, sessions, true);
    schedule.notice('1', false);
    await nextTurn();
    await nextTurn();
    await schedule.stop();
    return judge.mock.calls.length > 0;
  }

  it('is judged less often', async () => {
    expect(await isJudgedAfterPause([LONG_MS, LONG_MS])).toBe(false);
  });

  it.each([
    ['the first', [LONG_MS]],
    ['the latest', [1, LONG_MS]],
    ['the one before', [LONG_MS, 1]],
  ])('but not if only %s took long, which may have been interrupted', async (_, tookMs) => {
    expect(await isJudgedAfterPause(tookMs)).toBe(true);
  });
});
