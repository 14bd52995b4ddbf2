import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Database } from '../../db/client';
import { chooseRetrySeconds, createMinuteCounter, createTimeBudget } from '../../server/collector/limits';
import { type KeptBatch, packBatch, packTrace } from '../../server/collector/packing';
import { createSessions } from '../../server/collector/session-state';
import { createSiteFinder } from '../../server/collector/site-access';
import { type PackedNumbers, packNumbers } from '../../server/detection/varints';
import type { Secrets } from '../../server/platform/secrets';
import { moved, pageShown, typed } from '../support/beacon';
import { seedRandom } from '../support/trace';

// Anyone may send anything to the collector, so nothing that it remembers may grow with the number of requests.

const CREATED_AT = '2026-11-22T12:00:00.000Z';
const named = { integrationId: 'int_1', sessionId: 'ses_1', userAgent: '', country: null, location: null };
const addSession = (
  sessions: ReturnType<typeof createSessions>,
  key: string,
  events: PackedNumbers,
  more: Partial<KeptBatch> = {},
) => {
  const stored = {
    day: '2026-11-22',
    isNewSession: true,
    createdAt: CREATED_AT,
    isClosed: false,
    receivedAt: CREATED_AT,
  };
  const batch: KeptBatch = {
    d: 'a'.repeat(16),
    n: 0,
    c: [0, 0],
    events,
    receivedAtMs: Date.parse(CREATED_AT),
    ...more,
  };
  sessions.addBatch(named, { ...stored, sessionKey: key }, batch);
};
const openSessions = () => createSessions({ query: async () => [] } as unknown as Database);

const MAX_BYTES = 64 * 1024 * 1024;
const SESSION_BYTES = 9_000;

it('about 7,000 sessions are kept, the ones that were used last', () => {
  const sessions = openSessions();
  for (let n = 0; n < 10_000; n++) addSession(sessions, String(n), '');
  const kept = sessions.count();
  expect(kept).toBeGreaterThan(7_000);
  expect(kept).toBeLessThan(MAX_BYTES / SESSION_BYTES);
  const oldest = 10_000 - kept;
  expect([oldest - 1, oldest, 9_999].map((n) => sessions.get(String(n))?.key)).toEqual([
    undefined,
    String(oldest),
    '9999',
  ]);
});

describe('large sessions are fewer, so that all together stay below 64 MB', () => {
  /** With how many bytes their batches take at least: packed, and for what is measured. */
  it.each([
    ['moves', moved(0, 4_990), 4_990 * 5],
    ['keys, of which more is measured', typed(0, 2_000), 2_000 * (9 + 200)],
    ['pages, of which a thousand are segments', Array(5_000).fill(pageShown(10)).flat(), 5_000 * 4 + 1_000 * 2_800],
    ['signs of life, thirty of which are a segment', Array(5_000).fill([17, 20_000]).flat(), 5_000 * (4 + 2_800 / 30)],
  ])('with nothing but %s', (_, ev, bytes) => {
    const sessions = openSessions();
    const events = packNumbers(ev);
    const most = Math.floor(MAX_BYTES / (SESSION_BYTES + bytes));
    for (let n = 0; n < 1.2 * most; n++) addSession(sessions, String(n), events);
    expect(sessions.count()).toBeLessThanOrEqual(most);
    expect(sessions.count()).toBeGreaterThan(0.7 * most);
  });
});

it('one session with all the pages that it may have takes no more than its segments do, and pushes out no others', () => {
  const sessions = openSessions();
  for (let n = 0; n < 1_000; n++) addSession(sessions, String(n), '');
  const pages = packNumbers(Array(5_000).fill(pageShown(10)).flat());
  for (let n = 0; n < 25; n++) addSession(sessions, 'pages', pages, { n });
  expect(sessions.count()).toBe(1_001);
});

it.each([
  ['begins a document', (n: number) => ({ d: n.toString(16).padStart(16, '0') }), 3_400],
  ['has as many marks as it may have', (n: number) => ({ n, m: Array(64).fill(3) }), 64 * 70],
])(
  'sessions are fewer if each of their batches %s, which takes more than the batch itself',
  (_, describeBatch, bytes) => {
    const sessions = openSessions();
    const batches = 100;
    for (let key = 0; key < 400; key++)
      for (let n = 0; n < batches; n++) addSession(sessions, String(key), '', describeBatch(n));
    expect(sessions.count()).toBeLessThan(MAX_BYTES / ((batches - 1) * bytes));
    expect(sessions.count()).toBeGreaterThan((0.7 * MAX_BYTES) / (batches * bytes));
  },
);

it('a session takes less once it was judged, because what was measured of segments that are over is forgotten', () => {
  const sessions = openSessions();
  // About five minutes, each of which is a segment. The last one is open.
  const keys = 1_200;
  addSession(sessions, '1', packNumbers(typed(0, keys)));
  const session = sessions.get('1')!;
  const before = session.bytes;
  session.score();
  for (const _ of [1, 2]) {
    sessions.noteJudged(session, 1);
    const freedKeys = (before - session.bytes) / 200;
    expect(freedKeys).toBeGreaterThan(keys / 2);
    expect(freedKeys).toBeLessThan(keys);
  }
});

it('sessions whose batches name a user with long texts are fewer, too', () => {
  const sessions = openSessions();
  const user = { id: 'x', name: null, email: null, url: '\u{1F600}'.repeat(8_000), context: null, isSigned: false };
  for (let n = 0; n < 3_000; n++) addSession(sessions, String(n), '', { user });
  expect(sessions.count()).toBeLessThan(MAX_BYTES / (SESSION_BYTES + 2 * user.url.length));
  expect(sessions.count()).toBeGreaterThan(1_000);
});

it('invented keys share one count once 50,000 are counted in a minute', () => {
  let nowMs = 0;
  const counter = createMinuteCounter(2, () => nowMs);
  const first = Array.from({ length: 50_000 }, (_, n) => counter.take(`key ${n}`));
  expect(first.every(Boolean)).toBe(true);
  const others = Array.from({ length: 100 }, (_, n) => counter.take(`another ${n}`));
  expect(others.filter(Boolean)).toHaveLength(2);
  // Keys that were there before still have their own counts.
  expect([counter.take('key 1'), counter.take('key 1')]).toEqual([true, false]);
  nowMs = 60_000;
  expect(counter.take('another 5')).toBe(true);
});

it('work with a tenth of the process goes on when ten times what it took in excess is over, and saves no more than its burst', () => {
  let nowMs = 0;
  const budget = createTimeBudget(0.1, 1_000, () => nowMs);
  const hasTimeAt = (ms: number) => {
    nowMs = ms;
    return budget.hasTime();
  };
  expect(hasTimeAt(60_000)).toBe(true);
  budget.spend(1_500);
  expect([60_000, 64_999, 65_001].map(hasTimeAt)).toEqual([false, false, true]);
});

it('invented site keys are looked up a few at a time and push out one another, not everything', async () => {
  let asked = 0;
  const query = async () => {
    asked++;
    return [];
  };
  const sites = createSiteFinder({ query } as unknown as Database, {} as Secrets);
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, (_, n) => sites.find(`site_${String(n).padStart(24, '0')}`)),
  );
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
  expect(asked).toBe(32);
});

it('sites are found while so many invented keys are looked up', async () => {
  const siteKey = `site_${'a'.repeat(24)}`;
  const query = (_: string, [key]: unknown[]) =>
    key === siteKey ? Promise.resolve([{ siteId: 'ste_1', sealed: null }]) : new Promise(() => {});
  const sites = createSiteFinder({ query } as unknown as Database, {} as Secrets);
  expect(await sites.find(siteKey)).toMatchObject({ siteId: 'ste_1' });
  for (let n = 0; n < 100; n++) sites.find(`site_${String(n).padStart(24, '0')}`).catch(() => {});
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    for (let n = 0; n < 3; n++) {
      vi.advanceTimersByTime(10_000);
      expect(await sites.find(siteKey)).toMatchObject({ siteId: 'ste_1' });
    }
  } finally {
    vi.useRealTimers();
  }
});

describe('addresses of two letters at random, of which zlib can try many matches', () => {
  const random = seedRandom(5);
  const address = () =>
    `https://lms.example.edu/${Array.from({ length: 2_000 }, () => (random() < 0.5 ? 'a' : 'b')).join('')}`;
  const content = () => ({ c: [0, 0] as [number, number], events: '', p: Array.from({ length: 29 }, address) });
  /** Whether fewer matches were tried than zlib tries by default. More would have made it smaller. */
  const isQuick = (body: Buffer, options = {}) =>
    body.length > deflateRawSync(inflateRawSync(body.subarray(1)), options).length;

  it('are deflated with little effort as a batch', () => {
    expect(isQuick(packBatch(content()), { windowBits: 12, memLevel: 5 })).toBe(true);
  });

  it('are deflated with little effort as a trace, while the process answers requests', async () => {
    const batches = [0, 1, 2, 3].map((n) => ({ d: 'a'.repeat(16), n, receivedAtMs: n, ...content() }));
    let turns = 0;
    const count = () => {
      turns++;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    const body = await packTrace(batches);
    clearImmediate(turning);
    expect([turns > 0, isQuick(body)]).toEqual([true, true]);
  });
});

it('pages that are refused come back after 2 to 10 seconds, not all at once', () => {
  const chosen = new Set(Array.from({ length: 2_000 }, chooseRetrySeconds));
  // With chance, the probability that one of nine is missing is below one in ten to the hundredth.
  expect([...chosen].sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
});
