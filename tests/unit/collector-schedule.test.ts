import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Database } from '../../db/client';
import type { Judge } from '../../server/collector/judge';
import { createSchedule } from '../../server/collector/schedule';
import { createSessions, type OpenSession, type OpenSessions } from '../../server/collector/session-state';

const JUDGEMENT_MS = 10;
const SESSIONS = 30;

const sessionOf = (integrationId: string) => (key: string | number) => ({ key: String(key), integrationId });
const own = sessionOf('int_1');

/** Notes the keys of the sessions that are judged. */
function recordJudgements(): { judge: Judge; judged: string[] } {
  const judged: string[] = [];
  const judge = async (key: string) => {
    judged.push(key);
    return { againInMs: null, isClosed: false };
  };
  return { judge: { judge }, judged };
}

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
    Array.from({ length: SESSIONS }, (_, n) => own(n)),
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
  const { judge, judged } = recordJudgements();
  const has = (key: string) => key.startsWith('kept') || judged.includes(key);
  const session = { judgedAtMs: 0, readingMs: 500, judgementMs: 500, usualJudgementMs: 500, debtMs: 0 } as OpenSession;
  const sessions = { has, get: (key: string) => (has(key) ? session : undefined) } as unknown as OpenSessions;
  const schedule = createSchedule(judge, sessions, true);
  for (let n = 0; n < 40; n++) schedule.notice(own(`read ${n}`), true);
  await sleep(200);
  // Those that began together, in the seconds that may be used at once.
  const begun = judged.length;
  expect(begun).toBeLessThan(40);
  schedule.notice(own('kept'), true);
  schedule.take([own('over')], Date.now());
  schedule.take([own('left behind')], null);
  await sleep(200);
  expect(judged.slice(begun)).toEqual(['kept', 'over']);
  expect([schedule.count(), [...schedule.countOver()]]).toEqual([41 - begun, []]);
  await schedule.stop();
});

it('sessions that are read again, because another process has cut them, use the time of those that are read', async () => {
  const { judge, judged } = recordJudgements();
  const before = { judgedAtMs: 0, readingMs: 500, judgementMs: 500, usualJudgementMs: 0, debtMs: 0 } as OpenSession;
  const has = (key: string) => key.startsWith('cut');
  const get = (key: string) => (judged.includes(key) ? { ...before } : has(key) ? before : undefined);
  const schedule = createSchedule(judge, { has, get } as unknown as OpenSessions, true);
  for (let n = 0; n < 10; n++) schedule.notice(own(`cut ${n}`), true);
  await sleep(200);
  expect(judged).toHaveLength(10);
  schedule.notice(own('read'), true);
  await sleep(200);
  expect(judged).not.toContain('read');
  await schedule.stop();
});

describe('many sessions of one integration', () => {
  const MANY = 300;
  const flood = Array.from({ length: MANY }, (_, n) => sessionOf('int_flooded')(`flood ${n}`));
  const others = ['int_1', 'int_2'].flatMap((id) => [0, 1, 2].map((n) => sessionOf(id)(`${id} ${n}`)));
  const sessions = { has: () => true, get: () => undefined } as unknown as OpenSessions;

  it.each(['over', 'noticed'])('delay none of another, whether they are %s', async (how) => {
    const judged: string[] = [];
    const judge: Judge = {
      async judge(key) {
        judged.push(key);
        await nextTurn();
        return { againInMs: null, isClosed: false };
      },
    };
    const schedule = createSchedule(judge, sessions, true);
    const plan = (all: typeof flood) => {
      if (how === 'over') schedule.take(all, Date.now());
      else for (const session of all) schedule.notice(session, true);
    };
    plan(flood);
    plan(others);
    expect([schedule.count('int_2'), schedule.count('int_3')]).toEqual([3, 0]);
    await vi.waitFor(() => expect(judged).toHaveLength(MANY + others.length), { timeout: 60_000 });
    // Those that had begun before, and three rounds of turns.
    const lastPlace = Math.max(...others.map(({ key }) => judged.indexOf(key)));
    expect(lastPlace).toBeLessThan(32 + 9);
    expect(judged.filter((key) => key.startsWith('flood'))).toEqual(flood.map(({ key }) => key));
    expect(schedule.count()).toBe(0);
    await schedule.stop();
  });

  it('that are over are counted for each', async () => {
    const judge = vi.fn(() => new Promise<never>(() => {}));
    const schedule = createSchedule({ judge }, sessions, true);
    schedule.take(flood, Date.now());
    schedule.take(others, Date.now());
    // 32 are under way, which are the first of each.
    expect(Object.fromEntries(schedule.countOver())).toEqual({ int_flooded: MANY - 32, int_1: 3, int_2: 3 });
  });
});

it('large sessions that must be read are judged one at a time, and hold up no others', async () => {
  const begun: string[] = [];
  const ended: string[] = [];
  let release = () => {};
  const judge: Judge = {
    async judge(key, _, mayBeLarge) {
      if (key.startsWith('large')) {
        if (!mayBeLarge()) return { againInMs: null, isClosed: false, isPutOff: true };
        begun.push(key);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      ended.push(key);
      return { againInMs: null, isClosed: false };
    },
  };
  const sessions = { has: () => false, get: () => undefined } as unknown as OpenSessions;
  const schedule = createSchedule(judge, sessions, true);
  const large = Array.from({ length: 40 }, (_, n) => own(`large ${n}`));
  schedule.take(large, Date.now());
  await vi.waitFor(() => expect(begun).toHaveLength(1), { timeout: 60_000 });
  const small = Array.from({ length: 100 }, (_, n) => own(`small ${n}`));
  schedule.take(small, Date.now());
  await vi.waitFor(() => expect(ended).toHaveLength(small.length), { timeout: 60_000 });
  expect([begun.length, schedule.count(), schedule.countOver().get('int_1')]).toEqual([1, 39, 39]);
  for (let n = 1; n <= large.length; n++) {
    await vi.waitFor(() => expect(begun).toHaveLength(n), { timeout: 60_000 });
    release();
  }
  await vi.waitFor(() => expect(ended).toHaveLength(small.length + large.length), { timeout: 60_000 });
  expect(new Set(begun)).toEqual(new Set(large.map(({ key }) => key)));
  expect(schedule.count()).toBe(0);
  await schedule.stop();
});

describe('a session whose judgements take long', () => {
  const PAUSE_MS = 2_000;
  const LONG_MS = 400;

  /** A session that was judged just now and before, and took so long. Answers whether it is judged again after the usual pause. */
  async function isJudgedAfterPause(tookMs: number[], isLast = false): Promise<boolean> {
    const sessions = createSessions({} as Database);
    const named = { integrationId: 'int_1', sessionId: 'ses_1', userAgent: '', country: null, location: null };
    const at = { day: '2026-11-22', isNewSession: true, createdAt: '2026-11-22T12:00:00.000Z', isClosed: false };
    const stored = { ...at, sessionKey: '1', receivedAt: at.createdAt };
    sessions.addBatch(named, stored, { d: 'a'.repeat(16), n: 0, c: [0, 0], events: '', receivedAtMs: 0 });
    for (const ms of tookMs) sessions.noteJudged(sessions.get('1')!, ms);
    sessions.get('1')!.judgedAtMs -= PAUSE_MS;
    const judge = vi.fn(async () => ({ againInMs: null, isClosed: false }));
    const schedule = createSchedule({ judge }, sessions, true);
    schedule.notice(own(1), isLast);
    await nextTurn();
    await nextTurn();
    await schedule.stop();
    return judge.mock.calls.length > 0;
  }

  it('is judged less often', async () => {
    expect(await isJudgedAfterPause([LONG_MS, LONG_MS])).toBe(false);
  });

  it('is judged less often also if a page makes only every other one long', async () => {
    expect(await isJudgedAfterPause([LONG_MS, 1, LONG_MS, 1])).toBe(false);
  });

  it('is judged less often also if each batch says that it is the last one', async () => {
    expect(await isJudgedAfterPause([LONG_MS], true)).toBe(true);
    expect(await isJudgedAfterPause([LONG_MS, LONG_MS], true)).toBe(false);
  });

  it.each([
    ['the first', [LONG_MS]],
    ['the latest', [1, LONG_MS]],
    ['the one before', [LONG_MS, 1]],
  ])('but not if only %s took long, which may have been interrupted', async (_, tookMs) => {
    expect(await isJudgedAfterPause(tookMs)).toBe(true);
  });
});
