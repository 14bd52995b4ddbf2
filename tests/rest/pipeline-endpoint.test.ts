import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EVENTS } from '../../contract/events';
import { Connection, sendRaw } from '../support/connection';
import { closed, failed, finding, minutesAhead, scored, scoredSession, secondsAgo, started } from '../support/facts';
import { type Answer, PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';

const ENDPOINT = '/api/trpc/pipeline.ingest';
const MIB = 1024 * 1024;

let server: TestServer;
/** A second process on the same database. */
let second: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  second = await startTestServer({}, server);
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});

type Tenant = { id: string; key: string };
const sql = () => server.database.db.sql;
const authorized = { Authorization: `Bearer ${PIPELINE_TOKEN}`, 'Content-Type': 'application/json' };
const post = (body: string | Uint8Array, headers: Record<string, string> = authorized, url = server.url) =>
  sendRaw(url, 'POST', ENDPOINT, { headers, body });

const events = (sessionId: string, sequences: number[], fields: Record<string, unknown> = {}) => ({
  kind: 'sessionEvents',
  sessionId,
  events: sequences.map((sequence) => ({ sequence, type: 'mouse', timestamp: secondsAgo(30), ...fields })),
});

function expectCounts(answer: Pick<Answer, 'status' | 'body'>, accepted: number, duplicates: number) {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { result: { data: { accepted, duplicates, suppressed: 0 } } },
  });
}
async function accept(tenant: Tenant, facts: unknown[]) {
  expectCounts(await server.ingest(tenant.id, facts), facts.length, 0);
}
async function readSession({ key }: Tenant, id: string) {
  const { status, body } = await server.call('GET', `/v1/sessions/${encodeURIComponent(id)}`, { key });
  return status === 200 ? body.data : null;
}
async function countSessions({ id }: Tenant): Promise<number> {
  const [row] = await sql()<{ count: number }[]>`select count(*)::int from sessions where integration_id = ${id}`;
  return row!.count;
}
async function readEventCount({ id }: Tenant, sessionId: string) {
  const [row] = await sql()<{ total: number; rows: number; sum: number }[]>`
    select s.event_count as total, count(e.sequence)::int as rows, coalesce(sum(e.event_count), 0)::int as sum
      from sessions s left join session_events e on e.integration_id = s.integration_id and e.session_id = s.id
     where s.integration_id = ${id} and s.id = ${sessionId} group by s.event_count`;
  return row;
}
/** Reads the payloads of the recorded BotDetected events. */
async function readDetections({ id }: Tenant, sessionId?: string) {
  const rows = await sql()<{ payload: string; natural_key: string }[]>`
    select payload, natural_key from domain_events where integration_id = ${id} and type = 'BotDetected' order by id`;
  return rows
    .filter((row) => sessionId === undefined || row.natural_key === sessionId)
    .map((row) => JSON.parse(row.payload));
}

describe('the authentication of the pipeline’s endpoint', () => {
  const noToken = { 'Content-Type': 'application/json' };
  const facts = async () => JSON.stringify({ integrationId: (await server.createTenant()).id, facts: [started('s')] });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['a wrong token', { Authorization: 'Bearer wrong' }],
    ['a token cut short', { Authorization: `Bearer ${PIPELINE_TOKEN.slice(0, -1)}` }],
    ['a token with more at its end', { Authorization: `Bearer ${PIPELINE_TOKEN}x` }],
    ['a token without a scheme', { Authorization: PIPELINE_TOKEN }],
    ['another scheme', { Authorization: `Basic ${PIPELINE_TOKEN}` }],
    ['an empty one', { Authorization: 'Bearer ' }],
    ['the token as x-api-key', { 'x-api-key': PIPELINE_TOKEN }],
  ])('answers 401 to %s', async (_what, headers) => {
    const answer = await post(await facts(), { ...noToken, ...headers });
    expect([answer.status, answer.body.error.data]).toMatchObject([401, { code: 'UNAUTHORIZED', httpStatus: 401 }]);
  });

  it('refuses a customer’s key', async () => {
    const { key } = await server.createTenant();
    expect((await post(await facts(), { ...noToken, Authorization: `Bearer ${key}` })).status).toBe(401);
  });

  it('accepts the token, with its scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await post(await facts(), { ...noToken, Authorization: `${scheme} ${PIPELINE_TOKEN}` })).status).toBe(
        200,
      );
  });

  it('does not make the token a key of the public API', async () => {
    expect((await server.call('GET', '/v1/sessions', { key: PIPELINE_TOKEN })).status).toBe(401);
  });

  it('answers 503 to everyone if no token is configured', async () => {
    const closedServer = await startTestServer({ PIPELINE_TOKEN: '' }, server);
    for (const authorization of ['', `Bearer ${PIPELINE_TOKEN}`, 'Bearer undefined', 'Bearer ']) {
      const answer = await post('{', { ...noToken, Authorization: authorization }, closedServer.url);
      expect([answer.status, answer.body.error.data]).toMatchObject([
        503,
        { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
      ]);
    }
    await closedServer.stop();
  });

  it('comes before the body is checked', async () => {
    expect((await post('{', noToken)).status).toBe(401);
    expect((await post(' '.repeat(MIB + 1), noToken)).status).toBe(401);
    expect((await post(JSON.stringify({ integrationId: 'unknown', facts: [] }), noToken)).status).toBe(401);
  });
});

describe('the input', () => {
  it.each(['', '{', 'null', '[]', '1', '"x"', '{}', '{"facts":[]}', '{"integrationId":"x"}'])(
    'that is %j is 400 without a factIndex',
    async (body) => {
      const answer = await post(body);
      expect([answer.status, answer.body.error.data.httpStatus]).toEqual([400, 400]);
      expect(answer.body.error.data).not.toHaveProperty('factIndex');
    },
  );

  it('that is not UTF-8 is 400', async () => {
    expect((await post(Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400);
  });

  it('may begin with a byte order mark', async () => {
    const { id } = await server.createTenant();
    const text = `\ufeff${JSON.stringify({ integrationId: id, facts: [started('s')] })}`;
    expect([(await post(text)).status, (await post(`\ufeff${text}`)).status]).toEqual([200, 400]);
  });

  it('never shows a stack', async () => {
    for (const body of ['{', '{}', JSON.stringify({ integrationId: 'unknown', facts: [started('s')] })])
      expect((await post(body)).text).not.toMatch(/stack|node_modules|\.ts/);
  });

  it('for an unknown integration is 404', async () => {
    const answer = await server.ingest('int_unknown', [started('s')]);
    expect([answer.status, answer.body.error.data]).toMatchObject([404, { code: 'NOT_FOUND', httpStatus: 404 }]);
    expect(answer.body.error.data).not.toHaveProperty('factIndex');
  });

  it('of 1 MiB is taken, one byte more is 413', async () => {
    const { id } = await server.createTenant();
    const text = JSON.stringify({ integrationId: id, facts: [started('s')] });
    expect((await post(text + ' '.repeat(MIB - text.length))).status).toBe(200);
    const answer = await post(text + ' '.repeat(MIB - text.length + 1));
    expect([answer.status, answer.body.error.data]).toMatchObject([
      413,
      { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 },
    ]);
  });

  it('is treated the same, whatever query follows the path', async () => {
    const { id } = await server.createTenant();
    const text = JSON.stringify({ integrationId: id, facts: [started('s')] });
    for (const query of ['?', '?x=1', '?batch=1', '?origin=%zz']) {
      const ask = (body: string, headers = authorized) =>
        sendRaw(server.url, 'POST', `${ENDPOINT}${query}`, { headers, body });
      expect((await ask(text, { ...authorized, Authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await ask(text + ' '.repeat(MIB))).status).toBe(413);
      expect((await ask(text)).body.result.data).toMatchObject({ suppressed: 0 });
    }
  });

  it('of much more than 1 MiB is 413, and then the connection closes', async () => {
    const connection = await Connection.open(server.url);
    connection.writeHead('POST', ENDPOINT, { ...authorized, 'Content-Length': String(50 * MIB) });
    connection.write(' '.repeat(2 * MIB));
    expect((await connection.read()).status).toBe(413);
    await connection.closed;
  });

  it('holds 1 to 500 facts', async () => {
    const tenant = await server.createTenant();
    const facts = Array.from({ length: 501 }, (_, n) => started(`s-${n}`));
    for (const wrong of [[], facts]) {
      const answer = await server.ingest(tenant.id, wrong);
      expect(answer.status).toBe(400);
      expect(answer.body.error.data).not.toHaveProperty('factIndex');
    }
    expect(await countSessions(tenant)).toBe(0);
    expectCounts(await server.ingest(tenant.id, facts.slice(0, 1)), 1, 0);
    expectCounts(await server.ingest(tenant.id, facts.slice(0, 500)), 499, 1);
    expect(await countSessions(tenant)).toBe(500);
  });

  it('may have unknown fields', async () => {
    const { id } = await server.createTenant();
    const facts = [started('s', { unknown: { a: [1] }, nothing: null })];
    expect((await post(JSON.stringify({ integrationId: id, facts, unknown: 1 }))).status).toBe(200);
  });
});

/** Makes findings that take so many bytes as JSON. */
function fillEvidence(bytes: number) {
  const findings = Array.from({ length: 90 }, (_, n) => ({ ...finding(`flag-${n}`), measured: '' }));
  let left = bytes - Buffer.byteLength(JSON.stringify(findings));
  for (const each of findings) {
    const length = Math.min(256, left);
    left -= length;
    each.measured = 'x'.repeat(length);
  }
  expect(Buffer.byteLength(JSON.stringify(findings))).toBe(bytes);
  return findings;
}

describe('a fact', () => {
  const ID = 's-known';
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await server.createTenant();
    await accept(tenant, [started(ID, { startedAt: secondsAgo(120) })]);
  });

  const event = (fields: Record<string, unknown>) => events(ID, [7], fields);
  const located = (fields: Record<string, unknown>) =>
    started('new', { location: { latitude: 51.5, longitude: -0.12, accuracyKm: 50, ...fields } });
  const segment = (fields: Record<string, unknown>) => ({ startedAt: secondsAgo(9), logOdds: -3.5, ...fields });
  const evidence = (fields: Record<string, unknown>) =>
    scored(ID, 0.5, { evidence: [finding('f'), finding('g', fields)] });
  const ODD_IDS = [
    '',
    '.',
    '..',
    'a\0b',
    'a\u0001',
    'a\nb',
    '\t',
    'a\u007f',
    'a\u0085',
    '\ud800',
    'x'.repeat(257),
    1,
    null,
  ];

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a string', 'sessionStarted'],
    ['an array', []],
    ['no kind', { sessionId: ID }],
    ['an unknown kind', { ...closed(ID), kind: 'sessionPaused' }],
    ['a kind in another case', { ...closed(ID), kind: 'SessionClosed' }],
    ['the kind __proto__', { ...closed(ID), kind: '__proto__' }],
    ...ODD_IDS.map((id): [string, unknown] => [`the id ${JSON.stringify(id)}`, started(id as string)]),
    ['the id 257 emoji', started('😀'.repeat(257))],
    ['no id', { ...started(ID), sessionId: undefined }],
    ['no start', started('new', { startedAt: undefined })],
    ['a start without an offset', started('new', { startedAt: '2026-01-01T00:00:00' })],
    ['a start that is a date', started('new', { startedAt: '2026-01-01' })],
    ['a start that is no date', started('new', { startedAt: '2026-02-30T00:00:00Z' })],
    ['a start in milliseconds', started('new', { startedAt: 1_700_000_000_000 })],
    ['no page', started('new', { pageUrl: undefined })],
    ['an empty page', started('new', { pageUrl: '' })],
    ['a page that is no URL', started('new', { pageUrl: 'lms.example.edu/x' })],
    ['a page of another scheme', started('new', { pageUrl: 'javascript:alert(1)' })],
    ['a page with an endless origin', started('new', { pageUrl: `https://${'x'.repeat(300)}.edu/` })],
    ['a page with U+0000', started('new', { pageUrl: 'https://x.edu/\0' })],
    ['no user agent', started('new', { userAgent: undefined })],
    ['a user agent that is a number', started('new', { userAgent: 5 })],
    ['a user agent with a lone surrogate', started('new', { userAgent: '\ud800' })],
    ['a fingerprint of control characters', started('new', { deviceFingerprint: '\u0001' })],
    ['the fingerprint ..', started('new', { deviceFingerprint: '..' })],
    ['a country that is a number', started('new', { country: 49 })],
    ['a location without an accuracy', located({ accuracyKm: undefined })],
    ['a location beyond the pole', located({ latitude: 90.01 })],
    ['a location beyond the date line', located({ longitude: -180.01 })],
    ['a location in text', located({ latitude: '51.5' })],
    ['a location with a negative accuracy', located({ accuracyKm: -1 })],
    ['a location somewhere on the Earth', located({ accuracyKm: 20_041 })],
    ['a location that is a list', started('new', { location: [51.5, -0.12, 50] })],
    ['no events', { kind: 'sessionEvents', sessionId: ID, events: [] }],
    ['events that are an object', { kind: 'sessionEvents', sessionId: ID, events: {} }],
    ['an event without a sequence', event({ sequence: undefined })],
    ['a negative sequence', event({ sequence: -1 })],
    ['a broken sequence', event({ sequence: 1.5 })],
    ['a sequence in text', event({ sequence: '7' })],
    ['a sequence beyond 32 bits', event({ sequence: 2 ** 31 })],
    ['an unknown event type', event({ type: 'keypress' })],
    ['an event type that is a number', event({ type: 1 })],
    ['an event without a time', event({ timestamp: undefined })],
    ['a negative duration', event({ durationMs: -1 })],
    ['a negative count', event({ eventCount: -1 })],
    ['a broken count', event({ eventCount: 0.5 })],
    ['a count over 100,000', event({ eventCount: 100_001 })],
    ['an event at a script', event({ url: 'javascript:alert(1)' })],
    ['an event at a disguised script', event({ url: ' java\nscript:alert(1)' })],
    ['an event at data', event({ url: 'data:text/html,x' })],
    ['an event at a path', event({ url: '/x' })],
    ['an event at an address of 8,193 characters', event({ url: `https://x.edu/${'x'.repeat(8_179)}` })],
    ['metadata of 16 KiB and a byte', event({ metadata: { a: 'x'.repeat(16_384 - 7) } })],
    ['metadata of large numbers, of 31 KB without exponents', event({ metadata: { a: Array(100).fill(1e308) } })],
    ['metadata of small numbers, of 33 KB without exponents', event({ metadata: { a: Array(100).fill(5e-324) } })],
    ['metadata that is text', event({ metadata: 'x' })],
    ['metadata that is a list', event({ metadata: [1] })],
    ['metadata with U+0000', event({ metadata: { a: { b: ['\0'] } } })],
    ['metadata with U+0000 in a name', event({ metadata: { 'a\0': 1 } })],
    ['metadata with a lone surrogate', event({ metadata: { a: '\udfff' } })],
    ['metadata nested a hundred deep', event({ metadata: nest(100) })],
    ['metadata nested 2,000 deep', event({ metadata: nest(2_000) })],
    ['no close', closed(ID, { closedAt: undefined })],
    ['no score', scored(ID, 0.5, { botScore: undefined })],
    ['a score over 1', scored(ID, 1.0001)],
    ['a score under 0', scored(ID, -0.0001)],
    ['a score in text', scored(ID, 0.5, { botScore: '0.5' })],
    ['a score in percent', scored(ID, 70)],
    ['a score of null', scored(ID, 0.5, { botScore: null })],
    ['no flags', scored(ID, 0.5, { detectionFlags: undefined })],
    ['a flag that is a number', scored(ID, 0.5, { detectionFlags: [1] })],
    ['a flag with U+0000', scored(ID, 0.5, { detectionFlags: ['\0'] })],
    ['no time of a score', scored(ID, 0.5, { scoredAt: undefined })],
    ['a version of the rules without a character', scored(ID, 0.5, { ruleSetVersion: '' })],
    ['a version of the rules of 65 characters', scored(ID, 0.5, { ruleSetVersion: 'x'.repeat(65) })],
    ['a version of the rules that is a number', scored(ID, 0.5, { ruleSetVersion: 2026.1 })],
    ['121 segments', scored(ID, 0.5, { segments: Array(121).fill(segment({})) })],
    ['a segment without a start', scored(ID, 0.5, { segments: [segment({ startedAt: undefined })] })],
    ['a segment that starts at no date', scored(ID, 0.5, { segments: [segment({ startedAt: 'soon' })] })],
    ['a segment with log odds in text', scored(ID, 0.5, { segments: [segment({ logOdds: '1' })] })],
    [
      'a segment with endless log odds',
      JSON.parse(JSON.stringify(scored(ID, 0.5, { segments: [segment({ logOdds: 7_001 })] })).replace('7001', '1e400')),
    ],
    ['segments that are one', scored(ID, 0.5, { segments: segment({}) })],
    ['evidence that is an object', scored(ID, 0.5, { evidence: {} })],
    ['101 findings', scored(ID, 0.5, { evidence: Array(101).fill(finding('f')) })],
    ['a finding of nothing', scored(ID, 0.5, { evidence: [null] })],
    ['a finding without a flag', evidence({ flag: undefined })],
    ['a finding with a flag of 257 characters', evidence({ flag: 'x'.repeat(257) })],
    ['a finding with a flag with U+0000', evidence({ flag: '\0' })],
    ['a finding of an unknown group', evidence({ group: 'mood' })],
    ['a finding in an unknown state', evidence({ state: 'Found' })],
    ['a finding that measured a list', evidence({ measured: [1] })],
    ['a finding that measured nothing it names', evidence({ measured: undefined })],
    ['a finding that measured 257 characters', evidence({ measured: 'x'.repeat(257) })],
    ['a finding that measured a lone surrogate', evidence({ measured: '\ud800' })],
    ['a finding that expected a number', evidence({ expected: 0.5 })],
    ['a finding with a weight in text', evidence({ weight: '1' })],
    [
      'a finding with an infinite weight',
      JSON.parse(JSON.stringify(evidence({ weight: 7_001 })).replace('7001', '1e400')),
    ],
    ['a finding with 21 moments', evidence({ moments: Array(21).fill(secondsAgo(1)) })],
    ['a finding with a moment that is no date', evidence({ moments: ['2026-02-30T00:00:00Z'] })],
    ['a finding with a moment in milliseconds', evidence({ moments: [1_700_000_000_000] })],
    ['evidence of more than 16 KiB', scored(ID, 0.5, { evidence: fillEvidence(16_385) })],
    ['events of an unknown session', events('unknown', [1])],
    ['the close of an unknown session', closed('unknown')],
    ['the score of an unknown session', scored('unknown', 0.5)],
    ['a close before the start', closed(ID, { closedAt: secondsAgo(121) })],
    ['a start 6 minutes ahead', started('new', { startedAt: minutesAhead(6) })],
    ['an event 6 minutes ahead', event({ timestamp: minutesAhead(6) })],
    ['a close 6 minutes ahead', closed(ID, { closedAt: minutesAhead(6) })],
    ['a score 6 minutes ahead', scored(ID, 0.5, { scoredAt: minutesAhead(6) })],
  ])('with %s is 400 and named by its index; nothing of its batch is kept', async (_what, bad) => {
    const before = await countSessions(tenant);
    const good = (n: number) => started(`never-${n}`);
    const answer = await server.ingest(tenant.id, [good(1), good(2), events(ID, [1, 2]), bad, good(3)]);
    expect({ status: answer.status, data: answer.body.error.data }).toEqual({
      status: 400,
      data: { code: 'BAD_REQUEST', httpStatus: 400, path: 'pipeline.ingest', factIndex: 3 },
    });
    expect(answer.body.error.message).toMatch(/\S/);
    expect(await countSessions(tenant)).toBe(before);
    expect(await readEventCount(tenant, ID)).toEqual({ total: 0, rows: 0, sum: 0 });
    expect(await readSession(tenant, ID)).toMatchObject({ status: 'Active', botScore: null });
  });

  it('about a session that starts only later in the batch is refused', async () => {
    const answer = await server.ingest(tenant.id, [closed('later'), started('later')]);
    expect([answer.status, answer.body.error.data.factIndex]).toEqual([400, 0]);
  });

  it('about another tenant’s session is refused like one about an unknown session', async () => {
    const other = await server.createTenant();
    expect((await server.ingest(other.id, [closed(ID)])).body.error).toEqual(
      (await server.ingest(other.id, [closed('unknown')])).body.error,
    );
  });

  it('may be up to 5 minutes ahead', async () => {
    const one = await server.createTenant();
    await accept(one, [
      started('s', { startedAt: minutesAhead(4) }),
      events('s', [1], { timestamp: minutesAhead(4) }),
      closed('s', { closedAt: minutesAhead(4.5) }),
      scored('s', 0.5, { scoredAt: minutesAhead(4) }),
    ]);
  });

  it('may close a session at the instant of its start', async () => {
    const one = await server.createTenant();
    const at = secondsAgo(60);
    await accept(one, [started('s', { startedAt: at }), closed('s', { closedAt: at })]);
  });

  it.each([
    'x'.repeat(256),
    '😀'.repeat(256),
    ' ',
    '...',
    'a b',
    'ä/%2F',
    '\u200d',
    "'; drop table sessions; --",
    '{"a":1}',
  ])('may have the id %s', async (id) => {
    const one = await server.createTenant();
    await accept(one, [started(id, { deviceFingerprint: id }), events(id, [1]), closed(id), scored(id, 0.9)]);
    expect(await readSession(one, id)).toMatchObject({ id, deviceFingerprint: id, status: 'Scored' });
    expect(await readDetections(one)).toMatchObject([{ sessionId: id }]);
  });

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T02:30:00+02:30', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00.9999Z', '2026-01-01T00:00:00.999Z'],
    ['2024-02-29T23:59:59.999-00:00', '2024-02-29T23:59:59.999Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['0999-01-01T00:00:00.001Z', '0999-01-01T00:00:00.001Z'],
    ['0099-01-01T00:00:00.000Z', '0099-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
  ])('dated %s comes back as %s', async (startedAt, createdAt) => {
    const one = await server.createTenant();
    expect((await server.ingest(one.id, [started('s', { startedAt })])).status).toBe(200);
    expect((await readSession(one, 's')).createdAt).toBe(createdAt);
    // The same instant, spelled as the API answers it, is the same fact.
    expectCounts(await server.ingest(one.id, [started('s', { startedAt })]), 0, 1);
  });

  function nest(depth: number): unknown {
    let value: unknown = { end: 1 };
    for (let n = 1; n < depth; n++) value = { a: value };
    return value;
  }
});

describe('metadata', () => {
  it.each<[string, Record<string, unknown>]>([
    ['empty', {}],
    ['empty names', { '': '' }],
    ['names of the language', JSON.parse('{"constructor":{"prototype":1},"toString":"x","hasOwnProperty":null}')],
    ['emoji and combining characters', { '😀': 'e\u0301', text: '\u200d\ufeff' }],
    ['what looks like an escape', { a: '\\u0000', b: '\\ud800', c: "'", d: '"', e: '\\' }],
    [
      'numbers',
      { big: 9_007_199_254_740_991, small: 5e-324, negative: -1.5, large: 1e300, many: Array(50).fill(1e308) },
    ],
    ['all kinds of values', { a: null, b: true, c: [1, 'x', [null, {}]], d: { e: { f: [] } } }],
    ['U+2028 and control characters', { a: '\u2028\u2029\u0001\u001f\u007f' }],
  ])('of %s is kept as it is, and known again', async (_what, metadata) => {
    const tenant = await server.createTenant();
    const facts = [started('s'), events('s', [1], { metadata, timestamp: '2026-01-01T00:00:00Z' })];
    await accept(tenant, facts);
    const [row] = await sql()`select metadata from session_events where integration_id = ${tenant.id}`;
    expect(row!.metadata).toEqual(metadata);
    expectCounts(await server.ingest(tenant.id, facts), 0, 2);
  });

  it('keeps what a visitor made too long up to a limit, and knows it again', async () => {
    const tenant = await server.createTenant();
    const pageUrl = `https://x.edu/courses/7?${'p'.repeat(5_000)}`;
    const facts = [
      started('s', { pageUrl, userAgent: `Chrome/142.0 ${'😀'.repeat(3_000)}` }),
      started('t', { pageUrl: `https://x.edu/ultra/courses/${'c'.repeat(600)}/outline` }),
      events('s', [1], { url: pageUrl }),
    ];
    await accept(tenant, facts);
    const [row] = await sql()`
      select length(page_url) as page, length(user_agent) as agent, length(user_agent_summary) as summary, browser,
             (select array_agg(name) from courses c where c.integration_id = s.integration_id) as courses,
             (select length(url) from session_events e where e.integration_id = s.integration_id) as event
        from sessions s where integration_id = ${tenant.id} and id = 's'`;
    expect(row).toEqual({
      page: 2_048,
      agent: 2_048,
      summary: 10,
      browser: 'Chrome',
      courses: ['Course 7'],
      event: 2_048,
    });
    const repeated = await server.ingest(tenant.id, facts);
    expect(repeated.body.result.data).toEqual({ accepted: 0, duplicates: 3, suppressed: 0 });
  });

  it('of null is no metadata', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), events('s', [1], { metadata: null, url: null, durationMs: null })]);
    const [row] = await sql()`select metadata, url from session_events where integration_id = ${tenant.id}`;
    expect(row).toMatchObject({ metadata: null, url: null });
  });
});

describe('a fact that is sent again', () => {
  it('is a duplicate of every kind and changes nothing', async () => {
    const tenant = await server.createTenant();
    const facts = [started('s'), events('s', [1, 2]), closed('s'), scored('s', 0.9)];
    await accept(tenant, facts);
    const before = await readSession(tenant, 's');
    expectCounts(await server.ingest(tenant.id, facts), 0, 4);
    for (const fact of facts) expectCounts(await server.ingest(tenant.id, [fact]), 0, 1);
    expect(await readSession(tenant, 's')).toEqual(before);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 2, rows: 2, sum: 2 });
    expect(await readDetections(tenant)).toHaveLength(1);
  });

  it('with other content is a duplicate, and the first content stays', async () => {
    const tenant = await server.createTenant();
    const [closedAt, scoredAt] = [secondsAgo(20), secondsAgo(10)];
    await accept(tenant, [
      started('s', { country: 'DE' }),
      events('s', [1], { eventCount: 3 }),
      closed('s', { closedAt }),
      scored('s', 0.2, { scoredAt, detectionFlags: ['a'] }),
    ]);
    const before = await readSession(tenant, 's');
    const others = [
      started('s', { country: 'FR', startedAt: secondsAgo(3_600), pageUrl: 'https://other.example.edu/' }),
      events('s', [1], { eventCount: 9, type: 'touch' }),
      closed('s', { closedAt: secondsAgo(1) }),
      scored('s', 0.9, { scoredAt, detectionFlags: ['b'] }),
    ];
    expectCounts(await server.ingest(tenant.id, others), 0, 4);
    expect(await readSession(tenant, 's')).toEqual(before);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 3, rows: 1, sum: 3 });
    expect(await readDetections(tenant)).toEqual([]);
  });

  const START = started('s', { country: 'DE', deviceFingerprint: 'device' });
  const EVENT = events('s', [1]);
  const FAILURE = failed('s', { reason: 'timeout' });
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['start', START, { startedAt: secondsAgo(3_600) }],
    ['page', START, { pageUrl: 'https://other.example.edu/' }],
    ['user agent', START, { userAgent: 'Other/1.0' }],
    ['fingerprint', START, { deviceFingerprint: 'other' }],
    ['country', START, { country: 'FR' }],
    ['event type', EVENT, { events: [{ ...EVENT.events[0], type: 'touch' }] }],
    ['close', closed('s'), { closedAt: secondsAgo(1) }],
    ['score', scored('s', 0.2), { botScore: 0.3 }],
    ['failure', FAILURE, { failedAt: secondsAgo(1) }],
    ['reason of the failure', FAILURE, { reason: 'other' }],
  ])('with another %s is logged as a conflict', async (_what, fact, change) => {
    const tenant = await server.createTenant();
    expect((await server.ingest(tenant.id, [START, fact])).status).toBe(200);
    const warn = vi.spyOn(server.service.log, 'warn');
    try {
      expectCounts(await server.ingest(tenant.id, [fact]), 0, 1);
      expect(warn).not.toHaveBeenCalled();
      expectCounts(await server.ingest(tenant.id, [{ ...fact, ...change }]), 0, 1);
      expect(warn.mock.calls).toEqual([
        [
          { integrationId: tenant.id, kind: fact.kind, id: 's' },
          'a fact came again with other content and was ignored',
        ],
      ]);
    } finally {
      warn.mockRestore();
    }
  });

  it('with other evidence or another version of the rules is a duplicate, and the first evidence stays', async () => {
    const tenant = await server.createTenant();
    const read = async () => (await server.call('GET', '/v1/sessions/s/evidence', { key: tenant.key })).body.data;
    const scoredAt = secondsAgo(10);
    const score = (fields: Record<string, unknown>) => scored('s', 0.9, { scoredAt, ...fields });
    const first = {
      evidence: [finding('a', { weight: 7_001, moments: ['2026-01-01T01:00:00+01:00'] })],
      ruleSetVersion: '1',
    };
    // JSON.stringify writes no minus zero, other languages do.
    const body = JSON.stringify({ integrationId: tenant.id, facts: [score(first)] }).replace('7001', '-0.0');
    await accept(tenant, [started('s')]);
    expectCounts(await post(body), 1, 0);
    const before = await read();
    expect(before).toMatchObject({
      ruleSetVersion: '1',
      findings: [{ weight: 0, moments: ['2026-01-01T00:00:00.000Z'] }],
    });
    const warn = vi.spyOn(server.service.log, 'warn');
    expectCounts(await post(body), 0, 1);
    expect(warn).toHaveBeenCalledTimes(0);
    for (const other of [{ ...first, evidence: [] }, { ...first, ruleSetVersion: '2' }, {}])
      expectCounts(await server.ingest(tenant.id, [score(other)]), 0, 1);
    expect(warn).toHaveBeenCalledTimes(3);
    warn.mockRestore();
    expect(await read()).toEqual(before);
  });

  it('with 100 findings in 16 KiB is accepted', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [
      started('s'),
      scored('s', 0.5, { evidence: fillEvidence(16_384), scoredAt: secondsAgo(9) }),
      scored('s', 0.5, { evidence: Array(100).fill(finding('f')), ruleSetVersion: 'x'.repeat(64) }),
    ]);
    const { body } = await server.call('GET', '/v1/sessions/s/evidence', { key: tenant.key });
    expect(body.data.findings).toHaveLength(100);
  });

  it('within its batch is a duplicate too', async () => {
    const tenant = await server.createTenant();
    const facts = [started('s'), events('s', [1]), closed('s'), scored('s', 0.9)];
    expectCounts(
      await server.ingest(
        tenant.id,
        facts.flatMap((fact) => [fact, fact]),
      ),
      4,
      4,
    );
    expect(await readEventCount(tenant, 's')).toEqual({ total: 1, rows: 1, sum: 1 });
    expect(await readDetections(tenant)).toHaveLength(1);
  });

  it('with the same instant spelled differently is a duplicate', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), scored('s', 0.9, { scoredAt: '2026-01-01T00:00:00Z' })]);
    expectCounts(
      await server.ingest(tenant.id, [scored('s', 0.1, { scoredAt: '2026-01-01T01:00:00.000+01:00' })]),
      0,
      1,
    );
  });

  it('with new events among known ones is accepted for those', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), events('s', [0, 1, 2], { eventCount: 2 })]);
    expectCounts(await server.ingest(tenant.id, [events('s', [1, 2, 3], { eventCount: 5 })]), 1, 0);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 11, rows: 4, sum: 11 });
    expectCounts(await server.ingest(tenant.id, [events('s', [0, 3])]), 0, 1);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 11, rows: 4, sum: 11 });
  });

  it('with one sequence twice counts it only once', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), events('s', [1, 1, 2])]);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 2, rows: 2, sum: 2 });
  });

  it('counts 1 if eventCount is missing, and eventCount otherwise', async () => {
    const tenant = await server.createTenant();
    const counts = [0, 40, undefined, 100_000].map((eventCount, n) => events('s', [n], { eventCount }));
    await accept(tenant, [started('s'), ...counts]);
    expect(await readEventCount(tenant, 's')).toEqual({ total: 100_041, rows: 4, sum: 100_041 });
  });

  it('in two identical batches at once is accepted in one and a duplicate in the other', async () => {
    for (let round = 0; round < 10; round++) {
      const tenant = await server.createTenant();
      const facts = Array.from({ length: 5 }, () => scoredSession(0.9).facts).flat();
      const answers = await Promise.all([
        server.ingest(tenant.id, facts),
        (round % 2 ? server : second).ingest(tenant.id, facts),
      ]);
      const counts = answers.map(({ body }) => body.result?.data).sort((a, b) => a?.accepted - b?.accepted);
      expect(counts).toEqual([
        { accepted: 0, duplicates: 15, suppressed: 0 },
        { accepted: 15, duplicates: 0, suppressed: 0 },
      ]);
      expect(await readDetections(tenant)).toHaveLength(5);
    }
  });
});

describe('a score', () => {
  const times = [secondsAgo(30), secondsAgo(20), secondsAgo(10)];
  const score = (n: number, botScore: number) =>
    scored('s', botScore, { scoredAt: times[n], detectionFlags: [`flag-${n}`] });
  const ORDERS = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ];

  it.each(ORDERS)('that is the latest is the current one, in the order %i %i %i', async (...order) => {
    for (const inOneBatch of [true, false]) {
      const tenant = await server.createTenant();
      const facts = [started('s'), closed('s'), ...order.map((n) => score(n, [0.1, 0.2, 0.3][n]!))];
      if (inOneBatch) await accept(tenant, facts);
      else for (const fact of facts) await accept(tenant, [fact]);
      expect(await readSession(tenant, 's')).toMatchObject({
        botScore: 0.3,
        detectionFlags: ['flag-2'],
        status: 'Scored',
        riskLevel: 'human',
      });
    }
  });

  it('before the close leaves the session Active', async () => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), score(0, 0.9)]);
    expect(await readSession(tenant, 's')).toMatchObject({ status: 'Active', botScore: 0.9, riskLevel: 'bot' });
    expect(await readDetections(tenant)).toEqual([]);
    await accept(tenant, [closed('s')]);
    expect(await readSession(tenant, 's')).toMatchObject({ status: 'Scored' });
    expect(await readDetections(tenant)).toHaveLength(1);
  });
});

describe('BotDetected', () => {
  it('fires when a session is closed and scored at or over 70, with the payload of the contract', async () => {
    const tenant = await server.createTenant();
    const fact = scored('s', 0.7);
    await accept(tenant, [started('s'), closed('s'), fact]);
    const [payload, ...rest] = await readDetections(tenant);
    expect(rest).toEqual([]);
    expect(payload).toEqual({
      sessionId: 's',
      botScore: 0.7,
      scoredAt: fact.scoredAt,
      userId: null,
      contextId: (await readSession(tenant, 's')).courseId,
      sessionUrl: null,
    });
    expect(EVENTS.BotDetected.payload.safeParse(payload).success).toBe(true);
  });

  it.each([0, 0.5, 0.69, 0.6999999999])('does not fire at %d', async (botScore) => {
    const tenant = await server.createTenant();
    await accept(tenant, [started('s'), closed('s'), scored('s', botScore)]);
    expect(await readDetections(tenant)).toEqual([]);
  });

  it('follows the integration’s own threshold', async () => {
    const tenant = await server.createTenant();
    await sql()`update integrations set bot_at = 90 where id = ${tenant.id}`;
    await accept(tenant, [...scoredSession(0.89, 'under').facts, ...scoredSession(0.9, 'at').facts]);
    expect(await readDetections(tenant)).toMatchObject([{ sessionId: 'at' }]);
  });

  it('fires once, whatever the order of close and scores, and never for a later score', async () => {
    const bot = (n: number) => scored('s', 0.9, { scoredAt: secondsAgo(n) });
    const human = (n: number) => scored('s', 0.1, { scoredAt: secondsAgo(n) });
    const cases: [unknown[], number][] = [
      [[closed('s'), bot(9)], 1],
      [[bot(9), closed('s')], 1],
      [[closed('s'), bot(9), bot(8), bot(7)], 1],
      [[bot(9), bot(8), closed('s'), bot(7)], 1],
      [[closed('s'), bot(9), human(8), bot(7)], 1],
      // The first moment at which the session is closed and scored decides.
      [[closed('s'), human(9), bot(8)], 0],
      [[human(9), closed('s'), bot(8)], 0],
      [[human(9), bot(8), closed('s')], 1],
      [[bot(9), human(8), closed('s')], 0],
      // An earlier score that arrives late is not the score of the session.
      [[human(8), bot(9), closed('s')], 0],
    ];
    for (const [facts, count] of cases)
      for (const inOneBatch of [true, false]) {
        const tenant = await server.createTenant();
        const all = [started('s'), ...facts];
        if (inOneBatch) await accept(tenant, all);
        else for (const fact of all) await accept(tenant, [fact]);
        expect([facts, await readDetections(tenant)]).toEqual([facts, count ? [expect.anything()] : []]);
        await server.ingest(tenant.id, all);
        expect(await readDetections(tenant)).toHaveLength(count);
      }
  });
});

describe('16 connections with overlapping sessions', () => {
  it('end in one correct state', async () => {
    const tenant = await server.createTenant();
    const SESSIONS = 20;
    const SEQUENCES = 12;
    const time = secondsAgo(30);
    const scoreTimes = [secondsAgo(20), secondsAgo(15), secondsAgo(10)];
    /** Every fact about a session, by its natural key. All its scores are those of a bot. */
    const factsOf = (id: string) => [
      ...Array.from({ length: SEQUENCES }, (_, n) => events(id, [n], { eventCount: n + 1, timestamp: time })),
      ...scoreTimes.map((scoredAt, n) => scored(id, 0.8 + n / 20, { scoredAt })),
      closed(id, { closedAt: time }),
    ];
    const ids = Array.from({ length: SESSIONS }, (_, n) => `s-${n}`);
    const random = createRandom(7);
    const shuffle = <T>(items: T[]) =>
      items
        .map((item) => [random(), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item);
    // Each connection sends every fact, in a random order and in random batches.
    const answered = await Promise.all(
      Array.from({ length: 16 }, async (_, connection) => {
        const totals = { accepted: 0, duplicates: 0, facts: 0 };
        const facts = shuffle(ids.flatMap(factsOf));
        while (facts.length > 0) {
          const batch = facts.splice(0, 1 + Math.floor(random() * 40));
          const starts = shuffle([...new Set(batch.map(({ sessionId }) => sessionId))]);
          const all = [...starts.map((id) => started(id, { startedAt: secondsAgoFixed })), ...batch];
          const { status, body } = await (connection % 2 ? server : second).ingest(tenant.id, all);
          expect([status, body.error]).toEqual([200, undefined]);
          expect(body.result.data.accepted + body.result.data.duplicates).toBe(all.length);
          totals.accepted += body.result.data.accepted;
          totals.duplicates += body.result.data.duplicates;
          totals.facts += all.length;
        }
        return totals;
      }),
    );
    const accepted = answered.reduce((sum, totals) => sum + totals.accepted, 0);
    expect(accepted).toBe(SESSIONS * (1 + SEQUENCES + scoreTimes.length + 1));
    for (const id of ids) {
      expect(await readSession(tenant, id)).toMatchObject({ status: 'Scored', botScore: 0.9, riskLevel: 'bot' });
      const sum = (SEQUENCES * (SEQUENCES + 1)) / 2;
      expect(await readEventCount(tenant, id)).toEqual({ total: sum, rows: SEQUENCES, sum });
      expect(await readDetections(tenant, id)).toHaveLength(1);
    }
    expect(await readDetections(tenant)).toHaveLength(SESSIONS);
  });

  it('that send the same new sessions in opposite orders, to two servers, do not block each other', async () => {
    for (let round = 0; round < 30; round++) {
      const tenant = await server.createTenant();
      const ids = Array.from({ length: 160 }, (_, n) => `s-${n}`);
      const send = (on: TestServer, order: string[]) =>
        on.ingest(
          tenant.id,
          order.flatMap((id) => scoredSession(0.9, id).facts),
        );
      const answers = await Promise.all([send(server, ids), send(second, ids.toReversed())]);
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
        [200, undefined],
        [200, undefined],
      ]);
      expect(await countSessions(tenant)).toBe(160);
      expect(await readDetections(tenant)).toHaveLength(160);
    }
  });

  const secondsAgoFixed = secondsAgo(300);

  function createRandom(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state / 2 ** 32;
    };
  }

  it('of many tenants at once keep their rows apart', async () => {
    const tenants = await Promise.all(Array.from({ length: 16 }, () => server.createTenant()));
    await Promise.all(
      tenants.map((tenant, n) => accept(tenant, scoredSession(0.9, 'same').facts.concat(started(`own-${n}`) as never))),
    );
    for (const [n, tenant] of tenants.entries()) {
      expect(await countSessions(tenant)).toBe(2);
      expect(await readSession(tenant, `own-${n}`)).not.toBeNull();
      expect(await readDetections(tenant)).toHaveLength(1);
    }
  });

  it('with one refused batch among them refuse only that batch', async () => {
    const tenant = await server.createTenant();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        server.ingest(tenant.id, [started(`s-${n}`), ...(n === 5 ? [closed('unknown')] : [])]),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, (_, n) => (n === 5 ? 400 : 200)));
    expect(await countSessions(tenant)).toBe(15);
  });
});
