import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Customer } from '../support/customer';
import { anomaly, correlated, minutesAhead, secondsAgo, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
let customer: Customer;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  customer = await Customer.create(server);
});
afterAll(() => server.stop());

/** Reads the payloads of a type of event by natural key: anomalies by id, correlations by time and session. */
async function readPayloads(type: 'SessionAnomaly' | 'SessionCorrelated', of = customer) {
  const rows = await server.database.db.sql`
    select payload from domain_events where integration_id = ${of.id} and type = ${type} order by natural_key`;
  return rows.map((row) => JSON.parse(row.payload));
}
const readStats = (of = customer) => of.read('/v1/stats');

async function expectRefused(facts: unknown[], factIndex: number, of = customer) {
  const { status, body } = await of.ingest(facts);
  expect([status, body.error.data]).toEqual([
    400,
    { code: 'BAD_REQUEST', httpStatus: 400, path: 'pipeline.ingest', factIndex },
  ]);
  expect(body.error.message).toMatch(/\S/);
}

describe('a correlation or anomaly', () => {
  const CORRELATION = { user: { id: 'u', name: 'Ada' }, confidence: 0.5 };
  const match = (fields: Record<string, unknown>) => correlated('s', 'u', { ...CORRELATION, ...fields });
  const user = (fields: Record<string, unknown>) => match({ user: { id: 'u', name: 'Ada', ...fields } });
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

  it.each<[string, unknown]>([
    ['of an unknown session', correlated('unknown', 'u')],
    ['of a session that starts later', correlated('later', 'u')],
    ['without a user', match({ user: undefined })],
    ['with a user that is text', match({ user: 'u' })],
    ['with a user without id', user({ id: undefined })],
    ['with an empty user id', user({ id: '' })],
    ['with a user id of 257', user({ id: 'x'.repeat(257) })],
    ['with the user id ..', user({ id: '..' })],
    ['with a control character in the user id', user({ id: 'a\n' })],
    ['without a name', user({ name: undefined })],
    ['with an empty name', user({ name: '' })],
    ['with a name of null', user({ name: null })],
    ['with U+0000 in the name', user({ name: 'a\0' })],
    ['with an email that is a number', user({ email: 5 })],
    ['with a script as url', user({ url: 'javascript:alert(1)' })],
    ['with a file as url', user({ url: 'file:///etc/passwd' })],
    ['with a path as url', user({ url: '/users/1' })],
    ['with an endless url', user({ url: `https://x.edu/${'x'.repeat(8_179)}` })],
    ['with a lone surrogate in the url', user({ url: '\ud800' })],
    ['without a confidence', match({ confidence: undefined })],
    ['with a confidence of null', match({ confidence: null })],
    ['with a confidence over 1', match({ confidence: 1.0001 })],
    ['with a confidence under 0', match({ confidence: -0.1 })],
    ['with a confidence in text', match({ confidence: '0.5' })],
    ['with an empty contextId', match({ contextId: '' })],
    ['with a contextId that is a number', match({ contextId: 42 })],
    ['without its time', match({ correlatedAt: undefined })],
    ['at a time without an offset', match({ correlatedAt: '2026-01-01T00:00:00' })],
    ['6 minutes ahead', match({ correlatedAt: minutesAhead(6) })],
    ['(an anomaly) of an unknown session', anomaly('a', { sessionId: 'unknown' })],
    ['(an anomaly) without id', anomaly('a', { anomalyId: undefined })],
    ['(an anomaly) with the id .', anomaly('.')],
    ['(an anomaly) without type', anomaly('a', { anomalyType: undefined })],
    ['(an anomaly) with an empty type', anomaly('a', { anomalyType: '' })],
    ['(an anomaly) without severity', anomaly('a', { severity: undefined })],
    ['(an anomaly) with an unknown severity', anomaly('a', { severity: 'critical' })],
    ['(an anomaly) with a severity of null', anomaly('a', { severity: null })],
    ['(an anomaly) with a severity in a number', anomaly('a', { severity: 3 })],
    ['(an anomaly) without its time', anomaly('a', { detectedAt: undefined })],
    ['(an anomaly) with endless metadata', anomaly('a', { metadata: { a: 'x'.repeat(16_384 - 7) } })],
    ['(an anomaly) 6 minutes ahead', anomaly('a', { detectedAt: minutesAhead(6) })],
    ['(an anomaly) with a user id of a number', anomaly('a', { userId: 5 })],
    ['(an anomaly) with an empty fingerprint', anomaly('a', { deviceFingerprint: '' })],
    ['(an anomaly) with metadata in text', anomaly('a', { metadata: 'x' })],
    ['(an anomaly) with metadata in a list', anomaly('a', { metadata: [{}] })],
    ['(an anomaly) with U+0000 in the metadata', anomaly('a', { metadata: { a: ['\0'] } })],
    ['(an anomaly) with metadata nested 100 deep', anomaly('a', { metadata: nested(100) })],
  ])('%s refuses its batch and is named by its index; nothing is stored', async (_what, bad) => {
    await customer.accept([started('s')]);
    const good = [correlated('s', 'good', { correlatedAt: secondsAgo(3) }), anomaly('good', { sessionId: 's' })];
    await expectRefused([started('new'), ...good, bad, started('later')], 3);
    expect(await readStats()).toMatchObject({ totalSessions: 1, totalUsers: 0, matchedSessions: 0, anomalies: 0 });
    expect(await customer.session('s')).toMatchObject({ userId: null, updatedAt: null });
    expect([await readPayloads('SessionCorrelated'), await readPayloads('SessionAnomaly')]).toEqual([[], []]);
  });

  it('of another integration’s session is refused like that of an unknown session', async () => {
    await customer.accept([started('s')]);
    const stranger = await Customer.create(server);
    await expectRefused([correlated('s', 'u')], 0, stranger);
    await expectRefused([anomaly('a', { sessionId: 's' })], 0, stranger);
  });

  it('may be up to 5 minutes ahead, and long ago', async () => {
    await customer.accept([
      started('s'),
      correlated('s', 'u', { correlatedAt: minutesAhead(4) }),
      anomaly('a', { detectedAt: minutesAhead(4) }),
      anomaly('b', { detectedAt: '1999-12-31T23:59:59Z' }),
    ]);
    expect(await customer.session('s')).toMatchObject({ userId: 'u' });
  });

  it('may arrive in one batch with the start of its session', async () => {
    await customer.accept([started('s'), correlated('s', 'u'), anomaly('a', { sessionId: 's' })]);
    expect(await readStats()).toMatchObject({ matchedSessions: 1, anomalies: 1 });
  });
});

describe('a correlation sent again', () => {
  const correlatedAt = secondsAgo(20);
  const first = correlated('s', 'u', {
    correlatedAt,
    user: { id: 'u', name: 'Ada', email: 'a@x.edu' },
    contextId: 'c',
  });

  it('is a duplicate, within its batch too', async () => {
    expect(await customer.tell([started('s'), first, first])).toEqual({ accepted: 2, duplicates: 1, suppressed: 0 });
    expect(await customer.tell([first])).toEqual({ accepted: 0, duplicates: 1, suppressed: 0 });
    expect(await readPayloads('SessionCorrelated')).toHaveLength(1);
  });

  it.each([
    ['another user', { user: { id: 'v', name: 'Grace' } }],
    ['another confidence', { confidence: 0.1 }],
    ['another context', { contextId: 'd' }],
    ['no context', { contextId: undefined }],
    ['another name of the user', { user: { id: 'u', name: 'Grace' } }],
    ['the same instant in another spelling', { correlatedAt: correlatedAt.replace('Z', '+00:00') }],
  ])('with %s is a duplicate and changes nothing', async (_what, fields) => {
    await customer.accept([started('s'), first]);
    const before = [await customer.session('s'), await customer.read('/v1/users')];
    expect(await customer.tell([{ ...first, ...fields }])).toEqual({ accepted: 0, duplicates: 1, suppressed: 0 });
    expect([await customer.session('s'), await customer.read('/v1/users')]).toEqual(before);
    expect(await readPayloads('SessionCorrelated')).toMatchObject([{ userId: 'u', contextId: 'c' }]);
  });

  it('with another time, or of another session, is a new one', async () => {
    await customer.accept([started('s'), started('t'), first, { ...first, sessionId: 't' }]);
    await customer.accept([{ ...first, correlatedAt: secondsAgo(19) }]);
    expect(await readPayloads('SessionCorrelated')).toHaveLength(3);
  });
});

describe('an anomaly sent again', () => {
  const first = anomaly('a', { sessionId: 's', metadata: { n: 1 } });

  it('is a duplicate, within its batch too', async () => {
    expect(await customer.tell([started('s'), first, first])).toEqual({ accepted: 2, duplicates: 1, suppressed: 0 });
    expect(await customer.tell([first])).toEqual({ accepted: 0, duplicates: 1, suppressed: 0 });
    expect((await readStats()).anomalies).toBe(1);
  });

  it.each([
    ['another type', { anomalyType: 'DeviceSwitch' }],
    ['another severity', { severity: 'low' }],
    ['another time', { detectedAt: secondsAgo(100) }],
    ['another user', { userId: 'u' }],
    ['no session', { sessionId: null }],
    ['another fingerprint', { deviceFingerprint: 'fp' }],
    ['other metadata', { metadata: { n: 2 } }],
  ])('with %s is a duplicate and changes nothing', async (_what, fields) => {
    await customer.accept([started('s'), first, started('t'), correlated('t', 'u')]);
    const before = [await readPayloads('SessionAnomaly'), await customer.read('/v1/users')];
    expect(await customer.tell([{ ...first, ...fields }])).toEqual({ accepted: 0, duplicates: 1, suppressed: 0 });
    expect([await readPayloads('SessionAnomaly'), await customer.read('/v1/users')]).toEqual(before);
    expect((await readStats()).anomalies).toBe(1);
  });

  it('by another integration is a new one', async () => {
    const other = await Customer.create(server);
    await customer.accept([anomaly('a')]);
    await other.accept([anomaly('a')]);
    expect([(await readStats()).anomalies, (await readStats(other)).anomalies]).toEqual([1, 1]);
  });

  it('in ten batches at once is recorded once and fires once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => customer.tell([anomaly('a')])));
    expect(answers.filter(({ accepted }) => accepted === 1)).toHaveLength(1);
    expect(answers.filter(({ duplicates }) => duplicates === 1)).toHaveLength(9);
    expect([(await readStats()).anomalies, (await readPayloads('SessionAnomaly')).length]).toEqual([1, 1]);
  });
});

describe('a field that an anomaly leaves out', () => {
  it('comes from its session: user and fingerprint, even if the correlation comes earlier in the same batch', async () => {
    await customer.accept([
      started('s', { deviceFingerprint: 'fp-of-the-session' }),
      anomaly('before', { sessionId: 's', anomalyType: 'SharedDevice' }),
      correlated('s', 'u'),
      anomaly('after', { sessionId: 's', anomalyType: 'SharedDevice' }),
      anomaly('own', { sessionId: 's', anomalyType: 'SharedDevice', userId: 'v', deviceFingerprint: 'other-fp-1' }),
      anomaly('bare', { anomalyType: 'SharedDevice' }),
    ]);
    await customer.accept([anomaly('later', { sessionId: 's', anomalyType: 'SharedDevice' })]);
    expect(await readPayloads('SessionAnomaly')).toMatchObject([
      { anomalyId: 'after', sessionId: 's', userId: 'u', metadata: { deviceFingerprint: 'fp-of-th' } },
      { anomalyId: 'bare', sessionId: null, userId: null, metadata: null },
      { anomalyId: 'before', sessionId: 's', userId: null, metadata: { deviceFingerprint: 'fp-of-th' } },
      { anomalyId: 'later', sessionId: 's', userId: 'u', metadata: { deviceFingerprint: 'fp-of-th' } },
      { anomalyId: 'own', sessionId: 's', userId: 'v', metadata: { deviceFingerprint: 'other-fp' } },
    ]);
    expect(await customer.read('/v1/users')).toMatchObject([{ id: 'u', anomalyCount: 2 }]);
  });

  it('stays the same when the session moves to another user', async () => {
    await customer.switchOffFindings();
    await customer.accept([started('s'), correlated('s', 'u'), anomaly('a', { sessionId: 's' })]);
    await customer.accept([started('t'), correlated('t', 'u'), correlated('s', 'v', { correlatedAt: secondsAgo(1) })]);
    expect(await customer.read('/v1/users')).toMatchObject([
      { id: 'u', anomalyCount: 1 },
      { id: 'v', anomalyCount: 0 },
    ]);
  });
});

describe('a confirmed device', () => {
  const shared = (id: string, fields: Record<string, unknown> = {}) =>
    anomaly(id, { anomalyType: 'SharedDevice', userId: 'u', deviceFingerprint: 'fp', ...fields });
  beforeEach(() => customer.confirm('u', 'fp'));

  it('suppresses SharedDevice and DeviceSwitch of the pair, and nothing else', async () => {
    const facts = [
      shared('a'),
      shared('b', { anomalyType: 'DeviceSwitch' }),
      shared('c', { anomalyType: 'ImpossibleTravel' }),
      shared('d', { userId: 'v' }),
      shared('e', { deviceFingerprint: 'fp-2' }),
      shared('f', { userId: null }),
      shared('g', { deviceFingerprint: null }),
      shared('h', { userId: 'U' }),
      shared('i', { anomalyType: 'SharedDeviceX' }),
      started('s'),
      shared('c', { anomalyType: 'ImpossibleTravel' }),
    ];
    expect(await customer.tell(facts)).toEqual({ accepted: 8, duplicates: 1, suppressed: 2 });
    const ids = (await readPayloads('SessionAnomaly')).map(({ anomalyId }) => anomalyId);
    expect(ids).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect((await readStats()).anomalies).toBe(7);
  });

  it('leaves no record, neither in stats nor of the user, and no event', async () => {
    await customer.accept([started('s'), correlated('s', 'u')]);
    expect(await customer.tell([shared('a', { sessionId: 's' })])).toMatchObject({ suppressed: 1 });
    expect((await readStats()).anomalies).toBe(0);
    expect(await customer.read('/v1/users')).toMatchObject([{ anomalyCount: 0 }]);
    expect(await readPayloads('SessionAnomaly')).toEqual([]);
  });

  it('suppresses it again when it is sent again, in the same batch too', async () => {
    const again = { accepted: 0, duplicates: 0, suppressed: 2 };
    expect(await customer.tell([shared('a'), shared('a')])).toEqual(again);
    expect(await customer.tell([shared('a'), shared('a', { severity: 'low' })])).toEqual(again);
  });

  it('suppresses by the session’s user and device if the fact names none', async () => {
    await customer.accept([started('s', { deviceFingerprint: 'fp' }), started('t', { deviceFingerprint: 'fp' })]);
    const silent = (id: string, sessionId: string) =>
      shared(id, { sessionId, userId: undefined, deviceFingerprint: undefined });
    // In one batch with the correlation, and after it.
    const counts = await customer.tell([silent('a', 's'), correlated('s', 'u'), silent('b', 's')]);
    expect(counts).toEqual({ accepted: 2, duplicates: 0, suppressed: 1 });
    await customer.accept([correlated('t', 'u')]);
    expect(await customer.tell([silent('c', 't')])).toEqual({ accepted: 0, duplicates: 0, suppressed: 1 });
    expect((await readPayloads('SessionAnomaly')).map(({ anomalyId }) => anomalyId)).toEqual(['a']);
  });

  it('does not hide an anomaly that was recorded before', async () => {
    const early = shared('early', { userId: 'w' });
    await customer.accept([early]);
    await customer.confirm('w', 'fp');
    expect(await customer.tell([early, shared('late', { userId: 'w' })])).toEqual({
      accepted: 0,
      duplicates: 1,
      suppressed: 1,
    });
    expect((await readStats()).anomalies).toBe(1);
  });

  it('does not excuse an invalid fact', async () => {
    await expectRefused([shared('a', { sessionId: 'unknown' })], 0);
    await expectRefused([shared('a', { detectedAt: minutesAhead(6) })], 0);
    await expectRefused([shared('a'), shared('b', { severity: 'none' })], 1);
  });
});
