import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Customer, pathOf } from '../support/customer';
import { closed, finding, happened, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const START = '2026-03-01T10:00:00.250Z';
/** A time some seconds after the start of the session. */
const at = (seconds: number) => new Date(Date.parse(START) + seconds * 1000).toISOString();
const begun = (fields: Record<string, unknown> = {}) => started('s', { startedAt: START, ...fields });
const closedAfter = (seconds: number) => closed('s', { closedAt: at(seconds) });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const detailsPath = (id: string) => `${pathOf('v1', 'sessions', id)}/details`;
const evidencePath = (id: string) => `${pathOf('v1', 'sessions', id)}/evidence`;
const eventsPath = (id: string) => `${pathOf('v1', 'sessions', id)}/events`;
/** Sends these facts in this order and reads the details of their session. */
async function detailsOf(facts: unknown[]) {
  return (await Customer.create(server, facts)).read(detailsPath('s'));
}

describe('the details of a session', () => {
  it('have every field', async () => {
    const facts = [
      begun({ pageUrl: 'https://lms.example.edu/start' }),
      happened('s', [
        { sequence: 1, type: 'keyboard', timestamp: at(0.5), eventCount: 3 },
        { sequence: 2, type: 'navigation', timestamp: at(1.5), url: 'https://lms.example.edu/next', durationMs: 40 },
      ]),
      closedAfter(2.5),
    ];
    expect(await detailsOf(facts)).toEqual({
      sessionId: 's',
      startTime: START,
      endTime: at(2.5),
      durationSeconds: 2.5,
      eventCounts: { total: 4, mouse: 0, scroll: 0, keyboard: 3, touch: 0, form: 0 },
      timeline: [
        { timestamp: START, eventCount: 3, dominantEventType: 'keyboard', activityLevel: 1 },
        { timestamp: at(1), eventCount: 1, dominantEventType: 'navigation', activityLevel: 1 / 3 },
        { timestamp: at(2), eventCount: 0, dominantEventType: 'none', activityLevel: 0 },
      ],
      pageHistory: [
        { url: 'https://lms.example.edu/start', timestamp: START, type: 'load', durationMs: null },
        { url: 'https://lms.example.edu/next', timestamp: at(1.5), type: 'navigation', durationMs: 40 },
      ],
      evidence: null,
    });
  });

  it('of a session without events have one empty stretch', async () => {
    expect(await detailsOf([begun({ pageUrl: 'https://lms.example.edu/' })])).toEqual({
      sessionId: 's',
      startTime: START,
      endTime: START,
      durationSeconds: 0,
      eventCounts: { total: 0, mouse: 0, scroll: 0, keyboard: 0, touch: 0, form: 0 },
      timeline: [{ timestamp: START, eventCount: 0, dominantEventType: 'none', activityLevel: 0 }],
      pageHistory: [{ url: 'https://lms.example.edu/', timestamp: START, type: 'load', durationMs: null }],
      evidence: null,
    });
  });

  it('are 404 for an unknown session and for another integration’s', async () => {
    const [owner, stranger] = [await Customer.create(server, [begun()]), await Customer.create(server)];
    expect((await owner.get(detailsPath('s'))).status).toBe(200);
    expectError(await stranger.get(detailsPath('s')), 'NOT_FOUND');
    expectError(await owner.get(detailsPath('unknown')), 'NOT_FOUND');
  });

  it('are found by an encoded id', async () => {
    const customer = await Customer.create(server, [started('a/b %😀')]);
    expect((await customer.read(detailsPath('a/b %😀'))).sessionId).toBe('a/b %😀');
  });
});

describe('endTime', () => {
  const event = (seconds: number, sequence = 1) => happened('s', [{ sequence, timestamp: at(seconds) }]);

  it.each<[string, unknown[], number]>([
    ['the close', [closedAfter(90)], 90],
    ['the close, with an event before it', [event(30), closedAfter(90)], 90],
    ['the close, with an event after it', [closedAfter(90), event(200)], 90],
    ['the close at the instant of the start', [event(30), closedAfter(0)], 0],
    ['the last event of an open session, whatever the order', [event(50, 3), event(70, 1), event(20, 2)], 70],
    ['the start of an open session without events', [], 0],
    ['the start of an open session whose events all lie before it', [event(-50)], 0],
  ])('is %s', async (_what, facts, seconds) => {
    const details = await detailsOf([begun(), ...facts]);
    expect([details.endTime, details.durationSeconds]).toEqual([at(seconds), seconds]);
  });

  it('moves from the last event to the close when the close arrives', async () => {
    const customer = await Customer.create(server, [begun(), event(70)]);
    expect((await customer.read(detailsPath('s'))).endTime).toBe(at(70));
    await customer.accept([closedAfter(60)]);
    expect(await customer.read(detailsPath('s'))).toMatchObject({ endTime: at(60), durationSeconds: 60 });
  });
});

describe('the timeline', () => {
  it.each([
    [0, 1, 1],
    [0.001, 1, 1],
    [1, 1, 1],
    [1.001, 2, 1],
    [59, 59, 1],
    [59.5, 60, 1],
    [60, 60, 1],
    [60.001, 31, 2],
    [61, 31, 2],
    [120, 60, 2],
    [121, 41, 3],
    [3_600, 60, 60],
    [86_400, 60, 1_440],
    [86_401, 60, 1_441],
  ])('of %d s has %i stretches of %i s, empty ones too', async (seconds, count, stretch) => {
    const { timeline, durationSeconds } = await detailsOf([begun(), closedAfter(seconds)]);
    expect(durationSeconds).toBe(seconds);
    expect(timeline).toEqual(
      Array.from({ length: count }, (_, n) => ({
        timestamp: at(n * stretch),
        eventCount: 0,
        dominantEventType: 'none',
        activityLevel: 0,
      })),
    );
  });

  const countsOf = (timeline: { eventCount: number }[]) =>
    timeline.flatMap(({ eventCount }, n) => (eventCount > 0 ? [[n, eventCount]] : []));

  it('counts an event in its stretch; a stretch begins with its first instant', async () => {
    const times = [0, 59.999, 60, 119.999, 120, 3_539.999, 3_540, 3_599.999];
    const list = times.map((seconds, sequence) => ({ sequence, timestamp: at(seconds) }));
    const { timeline } = await detailsOf([begun(), happened('s', list), closedAfter(3_600)]);
    expect(countsOf(timeline)).toEqual([
      [0, 2],
      [1, 2],
      [2, 1],
      [58, 1],
      [59, 2],
    ]);
  });

  it('counts events before the start in the first stretch, and events at or after the close in the last', async () => {
    const times = [-86_400, -0.001, 5, 9.999, 10, 10.001, 86_400];
    const list = times.map((seconds, sequence) => ({ sequence, timestamp: at(seconds), eventCount: sequence + 1 }));
    const { timeline, eventCounts } = await detailsOf([begun(), closedAfter(10), happened('s', list)]);
    expect(timeline).toHaveLength(10);
    expect(countsOf(timeline)).toEqual([
      [0, 3],
      [5, 3],
      [9, 22],
    ]);
    expect(eventCounts.total).toBe(28);
  });

  it('names the type with the most single events; of equal ones the first in the contract’s order', async () => {
    const list = [
      [0, 'mouse', 1],
      [0, 'mouse', 1],
      [0, 'clipboard', 3],
      [1, 'visibility', 5],
      [1, 'scroll', 5],
      [1, 'touch', 4],
      [2, 'form', 0],
    ].map(([seconds, type, eventCount], sequence) => ({ sequence, type, eventCount, timestamp: at(Number(seconds)) }));
    const { timeline } = await detailsOf([begun(), happened('s', list), closedAfter(4)]);
    expect(timeline).toMatchObject([
      { eventCount: 5, dominantEventType: 'clipboard', activityLevel: 5 / 14 },
      { eventCount: 14, dominantEventType: 'scroll', activityLevel: 1 },
      { eventCount: 0, dominantEventType: 'none', activityLevel: 0 },
      { eventCount: 0, dominantEventType: 'none', activityLevel: 0 },
    ]);
  });
});

describe('eventCounts', () => {
  it('add up what the events stand for, and the total counts every type', async () => {
    const types = ['mouse', 'scroll', 'keyboard', 'touch', 'form', 'navigation', 'visibility', 'clipboard'];
    const list = types.flatMap((type, n) => [
      { sequence: 2 * n, type, eventCount: 10 ** n % 97 },
      { sequence: 2 * n + 1, type },
    ]);
    const weight = (n: number) => (10 ** n % 97) + 1;
    const { eventCounts } = await detailsOf([begun(), happened('s', list)]);
    expect(eventCounts).toEqual({
      total: types.reduce((total, _, n) => total + weight(n), 0),
      mouse: weight(0),
      scroll: weight(1),
      keyboard: weight(2),
      touch: weight(3),
      form: weight(4),
    });
  });
});

describe('pageHistory', () => {
  it('is the first page, then every navigation by time, whatever the order of arrival', async () => {
    const go = (sequence: number, seconds: number, fields: Record<string, unknown> = {}) =>
      happened('s', [
        { sequence, type: 'navigation', timestamp: at(seconds), url: `https://x.edu/${sequence}`, ...fields },
      ]);
    const facts = [
      begun({ pageUrl: 'https://x.edu/0?q#h' }),
      go(5, 30, { durationMs: 1_800 }),
      go(9, 20),
      go(7, 20),
      happened('s', [{ sequence: 8, type: 'mouse', timestamp: at(25), url: 'https://x.edu/no' }]),
      // A navigation without an address has no page to show.
      go(10, 26, { url: null }),
      go(11, -5),
      closedAfter(25),
    ];
    const { pageHistory } = await detailsOf(facts);
    const page = (sequence: number, seconds: number, durationMs: number | null = null) => ({
      url: `https://x.edu/${sequence}`,
      timestamp: at(seconds),
      type: 'navigation',
      durationMs,
    });
    expect(pageHistory).toEqual([
      { url: 'https://x.edu/0?q#h', timestamp: START, type: 'load', durationMs: null },
      page(11, -5),
      page(7, 20),
      page(9, 20),
      page(5, 30, 1_800),
    ]);
  });
});

describe('the page history', () => {
  it('has the first 500 pages, however often a visitor navigates', async () => {
    const navigations = Array.from({ length: 700 }, (_, n) => {
      return { sequence: n, type: 'navigation', timestamp: at(n / 10), url: `https://x.edu/${n + 1}` };
    });
    const customer = await Customer.create(server, [begun(), happened('s', navigations.toReversed())]);
    const { pageHistory, eventCounts } = await customer.read(detailsPath('s'));
    expect(pageHistory).toHaveLength(500);
    expect(pageHistory.at(-1)).toMatchObject({ url: 'https://x.edu/499', timestamp: at(49.8) });
    expect(eventCounts.total).toBe(700);
  });
});

describe('the events of a session', () => {
  it('have every field, with null for what the pipeline did not say', async () => {
    const metadata = { trusted: false, nested: [{ deep: { empty: {} } }, null, 'ä😀'], '': 0 };
    const full = { type: 'form', url: 'https://x.edu/a', durationMs: 0, eventCount: 12, metadata };
    const customer = await Customer.create(server, [
      begun(),
      happened('s', [
        { sequence: 3, timestamp: '2026-03-01T11:00:01.5+01:00', ...full },
        { sequence: 0, timestamp: at(0), type: 'clipboard' },
        {
          sequence: 1,
          timestamp: at(0),
          type: 'scroll',
          url: null,
          durationMs: null,
          eventCount: null,
          metadata: null,
        },
      ]),
    ]);
    const bare = { url: null, durationMs: null, eventCount: 1, metadata: null };
    expect((await customer.get(eventsPath('s'))).body).toEqual({
      data: [
        { id: 's:0', sessionId: 's', sequence: 0, type: 'clipboard', timestamp: at(0), ...bare },
        { id: 's:1', sessionId: 's', sequence: 1, type: 'scroll', timestamp: at(0), ...bare },
        { id: 's:3', sessionId: 's', sequence: 3, timestamp: '2026-03-01T10:00:01.500Z', ...full },
      ],
      pagination: { hasMore: false, limit: 50 },
    });
  });

  it('are listed by sequence, whatever their times, order of arrival and gaps', async () => {
    const sequences = [2_147_483_647, 7, 0, 1_000, 9, 10, 8, 100];
    const facts = sequences.map((sequence, n) => happened('s', [{ sequence, timestamp: at(n) }]));
    const customer = await Customer.create(server, [begun(), ...facts]);
    const inOrder = sequences.toSorted((a, b) => a - b);
    const all = await customer.read(eventsPath('s'));
    expect(all.map(({ sequence }: { sequence: number }) => sequence)).toEqual(inOrder);
    const first = (await customer.get(`${eventsPath('s')}?pageSize=3`)).body;
    expect(first.pagination).toEqual({ nextCursor: expect.any(String), hasMore: true, limit: 3 });
    const rest = await customer.read(`${eventsPath('s')}?cursor=${first.pagination.nextCursor}`);
    expect([...first.data, ...rest]).toEqual(all);
  });

  it('are one empty page for a session without events, and 404 for an unknown session or another integration’s', async () => {
    const [owner, stranger] = [await Customer.create(server, [begun()]), await Customer.create(server)];
    expect((await owner.get(eventsPath('s'))).body).toEqual({ data: [], pagination: { hasMore: false, limit: 50 } });
    expectError(await owner.get(eventsPath('unknown')), 'NOT_FOUND');
    expectError(await stranger.get(eventsPath('s')), 'NOT_FOUND');
  });

  it('of two integrations with the same session id stay apart', async () => {
    const [one, other] = [await Customer.create(server, [begun()]), await Customer.create(server, [begun()])];
    await one.accept([happened('s', [{ sequence: 1, eventCount: 5 }])]);
    await other.accept([happened('s', [{ sequence: 2 }])]);
    expect(await one.read(eventsPath('s'))).toMatchObject([{ sequence: 1 }]);
    expect(await other.read(eventsPath('s'))).toMatchObject([{ sequence: 2 }]);
    expect((await one.read(detailsPath('s'))).eventCounts.total).toBe(5);
    expect((await other.read(detailsPath('s'))).eventCounts.total).toBe(1);
  });
});

describe('the evidence of a session', () => {
  const score = (second: number, botScore: number, fields: Record<string, unknown> = {}) =>
    scored('s', botScore, { scoredAt: at(second), ...fields });

  it('is that of its latest score, in the order of weight; the scores are in the order of time', async () => {
    const findings = [
      finding('act-think', { weight: 0.2, measured: 'steady' }),
      finding('webdriver', { weight: 4, moments: [at(1), at(2)] }),
      finding('off-grid-times', { weight: 0, state: 'notMeasured', measured: null, expected: null }),
      finding('page-jumps', { weight: 0.2, state: 'notFound', group: 'flow' }),
    ];
    const customer = await Customer.create(server, [
      begun(),
      score(1, 0.2, { evidence: [finding('webdriver')], ruleSetVersion: '2026.0' }),
      score(3, 0.9, { evidence: findings, ruleSetVersion: '2026.1', detectionFlags: ['webdriver'] }),
    ]);
    const [thinking, webdriver, times, jumps] = findings;
    const evidence = {
      ...{ sessionId: 's', botScore: 0.9, ruleSetVersion: '2026.1', scoredAt: at(3) },
      findings: [webdriver, thinking, jumps, times],
    };
    const scores = [
      { scoredAt: at(1), botScore: 0.2, detectionFlags: [] },
      { scoredAt: at(3), botScore: 0.9, detectionFlags: ['webdriver'] },
    ];
    expect(await customer.read(evidencePath('s'))).toEqual({ ...evidence, scores });
    // An older score that arrives late is listed, but explains nothing.
    const late = { scoredAt: at(2), botScore: 0.5, detectionFlags: [] };
    await customer.accept([score(2, 0.5, { evidence: [finding('late')], ruleSetVersion: '2025.9' })]);
    expect(await customer.read(evidencePath('s'))).toEqual({ ...evidence, scores: [scores[0], late, scores[1]] });
  });

  it('is empty if the latest score brings none, and before scoring', async () => {
    const customer = await Customer.create(server, [begun()]);
    const none = { sessionId: 's', botScore: null, ruleSetVersion: null, scoredAt: null, findings: [], scores: [] };
    expect(await customer.read(evidencePath('s'))).toEqual(none);
    await customer.accept([score(1, 0.3, { evidence: [finding('webdriver')] }), score(2, 0.4)]);
    expect(await customer.read(evidencePath('s'))).toMatchObject({ botScore: 0.4, scoredAt: at(2), findings: [] });
  });

  it('has the latest 500 scores', async () => {
    const scores = Array.from({ length: 510 }, (_, n) => score(n, n / 1_000));
    const customer = await Customer.create(server, [begun(), ...scores.slice(0, 400)]);
    await customer.accept(scores.slice(400));
    const evidence = await customer.read(evidencePath('s'));
    expect(evidence.scores.map(({ scoredAt }: { scoredAt: string }) => scoredAt)).toEqual(
      scores.slice(10).map(({ scoredAt }) => scoredAt),
    );
    expect(evidence.botScore).toBe(0.509);
  });

  it('is summed up in its details: what the latest score found, the ten that count most', async () => {
    const found = Array.from({ length: 12 }, (_, n) => finding(`rule-${n}`, { weight: n % 6, moments: [at(1)] }));
    const others = [
      finding('quiet', { weight: 9, state: 'notFound' }),
      finding('silent', { weight: 9, state: 'notMeasured', measured: null, expected: null }),
    ];
    const customer = await Customer.create(server, [
      begun(),
      score(1, 0.2, { evidence: [finding('webdriver')], ruleSetVersion: '2026.0' }),
      score(3, 0.9, { evidence: [...others, ...found], ruleSetVersion: '2026.1' }),
    ]);
    const readSummary = async () => (await customer.read(detailsPath('s'))).evidence;
    // By weight; those of one weight in the order in which they came.
    const flags = [5, 11, 4, 10, 3, 9, 2, 8, 1, 7].map((n) => `rule-${n}`);
    const summary = {
      ...{ ruleSetVersion: '2026.1', scoredAt: at(3) },
      findings: flags.map((flag) => {
        const { state: _, moments: __, ...rest } = found.find((one) => one.flag === flag)!;
        return rest;
      }),
    };
    expect(await readSummary()).toEqual(summary);
    await customer.accept([score(2, 0.5, { evidence: [finding('late')] })]);
    expect(await readSummary()).toEqual(summary);
    await customer.accept([score(4, 0.1, { evidence: others })]);
    expect(await readSummary()).toEqual({ ruleSetVersion: null, scoredAt: at(4), findings: [] });
    await customer.accept([score(5, 0.1)]);
    expect(await readSummary()).toBeNull();
  });

  it('of an unknown session is 404', async () => {
    const customer = await Customer.create(server, []);
    expectError(await customer.get(evidencePath('unknown')), 'NOT_FOUND');
  });
});
