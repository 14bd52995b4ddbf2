import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventTypeName } from '../../contract/events';
import { MAX_WRITING_EVIDENCE_BYTES } from '../../contract/writing';
import { ingestInput } from '../../server/pipeline/facts';
import { Customer } from '../support/customer';
import { OpenApiDocument } from '../support/document';
import {
  alert,
  closed,
  failed,
  minutesAhead,
  report,
  scored,
  secondsAgo,
  started,
  writing,
  writingEvidence,
} from '../support/facts';
import { expectSigned, type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { hashTenantRows } from '../support/tenant-rows';

// Failures of scoring, writing scores, reports and alerts.

let server: TestServer;
/** A second process on the same database. */
let second: TestServer;
let receiver: Receiver;
let customer: Customer;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  second = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host }, server);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await second.stop();
  await server.stop();
  await receiver.stop();
});

/** Makes another customer for each test of a group. */
const renewCustomer = () =>
  beforeEach(async () => {
    customer = await Customer.create(server);
    receiver.received.length = 0;
  });

type Fact = Record<string, unknown> & { kind: string };

const statusOf = async (sessionId: string) => (await customer.session(sessionId)).status;
/** Reads the payloads of the recorded events of a type. */
async function readPayloads(type: EventTypeName, of = customer) {
  const rows = await server.database.db.sql`
    select payload from domain_events where integration_id = ${of.id} and type = ${type} order by natural_key`;
  return rows.map((row) => JSON.parse(row.payload));
}
async function subscribe(eventType: string, fields: Record<string, unknown> = {}) {
  const { status, body } = await customer.post('/v1/webhooks', { url: `${receiver.url}/hook`, eventType, ...fields });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as { id: string; secret: string };
}
const DUPLICATE = { accepted: 0, duplicates: 1, suppressed: 0 };

/** For each kind: a complete fact, another fact with the same key, and the payload of its event. */
const AT = '2026-01-31T11:02:00.000Z';
const CASES: {
  type: EventTypeName;
  table: string;
  id: string;
  fact: Fact;
  other: Fact;
  payload: object;
  threshold: object;
}[] = [
  {
    type: 'WritingSessionScored',
    table: 'writing_scores',
    id: 'w',
    fact: writing('w', 0.81, { scoredAt: AT, userId: 'u', documentId: 'essay-3', wordCount: 1_240 }),
    other: writing('w', 0.2, { scoredAt: AT }),
    payload: { sessionId: 'w', aiScore: 0.81, scoredAt: AT, userId: 'u', documentId: 'essay-3', wordCount: 1_240 },
    threshold: { field: 'aiScore', operator: 'gte', value: 0.81 },
  },
  {
    type: 'ReportReady',
    table: 'reports',
    id: 'r',
    fact: report('r', {
      ...{ format: 'pdf', recordCount: 240, fileSize: 5_000_000_000 },
      ...{ completedAt: AT, expiresAt: '2999-01-01T00:00:00Z', downloadUrl: '/reports/r?as=pdf' },
    }),
    other: report('r', { completedAt: AT, fileSize: 1 }),
    payload: {
      ...{ reportId: 'r', reportName: 'Weekly bots', templateId: 'weekly', format: 'pdf', recordCount: 240 },
      ...{ fileSize: 5_000_000_000, completedAt: AT, expiresAt: '2999-01-01T00:00:00.000Z' },
      downloadUrl: '/reports/r?as=pdf',
    },
    threshold: { field: 'fileSize', operator: 'gt', value: 4_999_999_999 },
  },
  {
    type: 'AlertTriggered',
    table: 'alerts',
    id: 'a',
    fact: alert('a', { severity: 'CRITICAL', triggeredAt: AT, alertUrl: 'https://dashboard.example.com/alerts/a' }),
    other: alert('a', { triggeredAt: AT, message: 'Another' }),
    payload: {
      ...{ alertId: 'a', severity: 'critical', message: '25 bot sessions within 10 minutes', triggeredAt: AT },
      alertUrl: 'https://dashboard.example.com/alerts/a',
    },
    threshold: { field: 'severity', operator: 'in', value: ['critical', 'warning'] },
  },
];

describe.each(CASES)('$type', ({ type, table, id, fact, other, payload, threshold }) => {
  renewCustomer();
  const countRows = async (of = customer) => {
    const { sql } = server.database.db;
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from ${sql(table)} where integration_id = ${of.id}`;
    return row!.count;
  };

  it('arrives signed, with the payload that the document describes', async () => {
    const document = new OpenApiDocument((await server.call('GET', '/openapi/v3.json')).body);
    const { secret } = await subscribe(type);
    await customer.accept([fact]);
    const [received] = await receiver.waitFor(1);
    expectSigned(received!, secret);
    expect(received!.headers['x-webhook-event']).toBe(type);
    expect(JSON.parse(received!.body)).toEqual(payload);
    document.expectValid(payload, 'webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema');
  });

  it('is sent if it passes the threshold, and skipped if it does not', async () => {
    const passed = await subscribe(type, { threshold });
    const missed = await subscribe(type, { threshold: { ...threshold, field: 'unknown' } });
    await customer.accept([fact]);
    const [received] = await receiver.waitFor(1);
    expect(received!.headers['x-webhook-id']).toBe(passed.id);
    const [event] = await server.database.db.sql`
      select skips from domain_events where integration_id = ${customer.id} and type = ${type}`;
    expect(event!.skips).toEqual({ [missed.id]: 'threshold' });
  });

  it('has null for fields that the fact leaves out', async () => {
    const { kind, ...rest } = other;
    await customer.accept([other]);
    const [sent] = await readPayloads(type);
    const left = Object.keys(payload).filter((name) => !(name in rest));
    expect(left.length).toBeGreaterThan(0);
    expect(sent).toEqual({ ...rest, ...Object.fromEntries(left.map((name) => [name, null])) });
    const spelled = { kind, ...sent };
    expect(await customer.tell([spelled])).toEqual(DUPLICATE);
  });

  it('fires once if its fact is sent again, alone, in one batch, and with other content, which is logged', async () => {
    const warn = vi.spyOn(server.service.log, 'warn');
    await subscribe(type);
    expect(await customer.tell([fact, fact])).toEqual({ accepted: 1, duplicates: 1, suppressed: 0 });
    const rows = await hashSettled(customer.id);
    expect(await customer.tell([fact])).toEqual(DUPLICATE);
    expect(warn).not.toHaveBeenCalled();
    expect(await customer.tell([other])).toEqual(DUPLICATE);
    expect(warn.mock.calls).toEqual([
      [{ integrationId: customer.id, kind: fact.kind, id }, 'a fact came again with other content and was ignored'],
    ]);
    await receiver.waitFor(1);
    const now = await hashSettled(customer.id);
    expect([now[table], now.domain_events]).toEqual([rows[table], rows.domain_events]);
    expect(await readPayloads(type)).toEqual([payload]);
    expect(receiver.received).toHaveLength(1);
  });

  it('that the product found again, with other content, is no conflict to log', async () => {
    const warn = vi.spyOn(server.service.log, 'warn');
    const find = (found: Fact) =>
      server.service.ingester.ingestFacts({
        ...ingestInput.parse({ integrationId: customer.id, facts: [found] }),
        isOurs: true,
      });
    await find(fact);
    expect(await find(other)).toEqual(DUPLICATE);
    expect(warn).not.toHaveBeenCalled();
    expect(await readPayloads(type)).toEqual([payload]);
  });

  it('fires once if its fact is sent over many connections and processes at once', async () => {
    await subscribe(type);
    const send = async (n: number) => {
      const { status, body } = await (n % 2 ? server : second).ingest(customer.id, [fact]);
      expect([status, body.error]).toEqual([200, undefined]);
      return body.result.data.accepted;
    };
    const accepted = await Promise.all(Array.from({ length: 16 }, (_, n) => send(n)));
    expect(accepted.filter((count) => count === 1)).toHaveLength(1);
    await receiver.waitFor(1);
    expect([await countRows(), await readPayloads(type)]).toEqual([1, [payload]]);
    expect(receiver.received).toHaveLength(1);
  });

  it('with the same key in another integration is a separate one', async () => {
    const neighbour = await Customer.create(server, [other]);
    const before = await hashSettled(neighbour.id);
    await customer.accept([fact]);
    expect(await readPayloads(type)).toEqual([payload]);
    expect(await countRows(neighbour)).toBe(1);
    expect(await hashSettled(neighbour.id)).toEqual(before);
  });
});

/** Hashes a customer's rows when nothing is written in the background any more. */
async function hashSettled(integrationId: string) {
  await server.service.findings.flush();
  return hashTenantRows(server.database.db, integrationId);
}

describe('a writing score', () => {
  renewCustomer();

  it('may bring its browsing session and its evidence, which are a duplicate when they come again', async () => {
    const fact = writing('w', 0.45, { scoredAt: AT, browsingSessionId: 's', evidence: writingEvidence() });
    await customer.accept([fact]);
    expect(await customer.tell([fact])).toEqual(DUPLICATE);
    const warn = vi.spyOn(server.service.log, 'warn');
    const { evidence, ...bare } = fact as typeof fact & { evidence: object };
    expect(await customer.tell([{ ...bare, evidence: { ...evidence, finalLength: 1 } }])).toEqual(DUPLICATE);
    expect(await customer.tell([bare])).toEqual(DUPLICATE);
    expect(warn).toHaveBeenCalledTimes(2);
    const [row] = await server.database.db.sql`
      select browsing_session_id as session, evidence from writing_scores where integration_id = ${customer.id}`;
    expect(row).toEqual({ session: 's', evidence: writingEvidence() });
    expect(JSON.stringify(evidence).length).toBeLessThan(MAX_WRITING_EVIDENCE_BYTES);
    // What is told stays as it is specified.
    expect(Object.keys((await readPayloads('WritingSessionScored'))[0]).sort()).toEqual(
      ['aiScore', 'documentId', 'scoredAt', 'sessionId', 'userId', 'wordCount'].sort(),
    );
  });

  it('fires for each time, whatever was sent before, for a session that exists or not', async () => {
    await customer.accept([started('s'), writing('s', 0.5), writing('none', 0.5)]);
    await customer.accept([writing('s', 0.1, { scoredAt: secondsAgo(60) }), writing('s', 0.9, { scoredAt: AT })]);
    const payloads = await readPayloads('WritingSessionScored');
    expect(payloads.map(({ sessionId, aiScore }) => `${sessionId} ${aiScore}`).sort()).toEqual([
      'none 0.5',
      's 0.1',
      's 0.5',
      's 0.9',
    ]);
    expect(await customer.session('s')).toMatchObject({ status: 'Active', botScore: null });
    expect((await customer.get('/v1/sessions/none')).status).toBe(404);
  });
});

describe('a failure', () => {
  renewCustomer();

  const permute = <T>(items: T[]): T[][] =>
    items.length < 2
      ? [items]
      : items.flatMap((item, n) => permute(items.toSpliced(n, 1)).map((rest) => [item, ...rest]));
  const facts = { failed: failed('s'), closed: closed('s'), scored: scored('s', 0.9) };
  const ENDS: [(keyof typeof facts)[], string, number][] = [
    [['failed'], 'Failed', 0],
    [['failed', 'closed'], 'Failed', 0],
    [['failed', 'scored'], 'Active', 0],
    [['failed', 'closed', 'scored'], 'Scored', 1],
  ];

  it.each(
    ENDS.flatMap(([kinds, status, detections]) =>
      permute(kinds).map((order): [string, string, number] => [order.join(', '), status, detections]),
    ),
  )('in the order %s ends as %s, with %i BotDetected', async (order, status, detections) => {
    for (const inOneBatch of [true, false]) {
      customer = await Customer.create(server, [started('s')]);
      const all = order.split(', ').map((kind) => facts[kind as keyof typeof facts]);
      if (inOneBatch) await customer.accept(all);
      else for (const fact of all) await customer.accept([fact]);
      expect(await statusOf('s')).toBe(status);
      expect(await readPayloads('BotDetected')).toHaveLength(detections);
      expect(await customer.tell(all)).toEqual({ accepted: 0, duplicates: all.length, suppressed: 0 });
      expect(await statusOf('s')).toBe(status);
    }
  });

  it('is found by its status', async () => {
    await customer.accept([started('s'), started('t'), failed('s')]);
    const { body } = await customer.get('/v1/sessions?status=failed');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['s']);
  });

  it('is recorded once: another time or reason is a duplicate, and logged', async () => {
    const warn = vi.spyOn(server.service.log, 'warn');
    const failedAt = secondsAgo(30);
    await customer.accept([started('s'), failed('s', { failedAt, reason: 'no model' })]);
    const before = await customer.session('s');
    expect(await customer.tell([failed('s', { failedAt, reason: 'no model' })])).toEqual(DUPLICATE);
    expect(warn).not.toHaveBeenCalled();
    for (const other of [failed('s', { failedAt }), failed('s', { reason: 'no model' })])
      expect(await customer.tell([other])).toEqual(DUPLICATE);
    expect(warn).toHaveBeenCalledTimes(2);
    expect(await customer.session('s')).toEqual(before);
  });
});

describe('a batch', () => {
  /** The rows of the customer whose batches are refused. */
  let before: Awaited<ReturnType<typeof hashSettled>>;
  beforeAll(async () => {
    customer = await Customer.create(server, [started('s'), started('t')]);
    before = await hashSettled(customer.id);
  });

  const ahead = minutesAhead(6);
  const ODD_IDS = ['', '.', '..', 'a\0b', 'a\nb', 'a\u007f', '\ud800', 'x'.repeat(257), 1, null, undefined];
  const ids = (make: (id: never) => Fact): [string, Fact][] =>
    ODD_IDS.map((id) => [`the id ${JSON.stringify(id)}`, make(id as never)]);
  const show = (value: unknown) => (value === ahead ? '6 minutes ahead' : JSON.stringify(value)?.slice(0, 40));
  const each = (make: (fields: Record<string, unknown>) => Fact, name: string, values: unknown[]): [string, Fact][] =>
    values.map((value) => [`${name} ${show(value)}`, make({ [name]: value })]);
  const failure = (fields: Record<string, unknown>) => failed('s', fields);
  const score = (fields: Record<string, unknown>) => writing('w', 0.5, fields);
  const ready = (fields: Record<string, unknown>) => report('r', fields);
  const fired = (fields: Record<string, unknown>) => alert('a', fields);
  const TIMES = [
    undefined,
    null,
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-02-30T00:00:00Z',
    1_700_000_000_000,
    ahead,
  ];
  const COUNTS = [-1, 0.5, '7'];
  const OPTIONAL_IDS = ODD_IDS.slice(0, -2);
  const [reason] = writingEvidence().reasons;
  const LONG_EVIDENCE = writingEvidence({
    reasons: Array.from({ length: 20 }, () => ({ ...reason!, expected: 'ü'.repeat(200) })),
  });

  it.each([
    ...ids((id) => failed(id)),
    ['an unknown session', failed('unknown')] as [string, Fact],
    ...each(failure, 'failedAt', TIMES),
    ...each(failure, 'reason', ['', 5, '\0', 'x'.repeat(1_025)]),
    ...ids((id) => writing(id, 0.5)),
    ...each(score, 'aiScore', [undefined, null, '0.5', -0.0001, 1.0001, 81]),
    ...each(score, 'scoredAt', TIMES),
    ...each(score, 'userId', OPTIONAL_IDS),
    ...each(score, 'documentId', OPTIONAL_IDS),
    ...each(score, 'wordCount', [...COUNTS, 2 ** 31]),
    ...each(score, 'browsingSessionId', OPTIONAL_IDS),
    ...each(score, 'evidence', ['pasted', [], {}, LONG_EVIDENCE, { ...writingEvidence(), pastes: { count: -1 } }]),
    ...each(score, 'evidence', [{ ...writingEvidence(), finalLength: Infinity }]),
    ...each(score, 'evidence', [{ ...writingEvidence(), formulaVersion: '\ud800' }]),
    ...ids((id) => report(id, { downloadUrl: '/x' })),
    ...each(ready, 'reportName', [undefined, null, '', 5, '\0', 'x'.repeat(513)]),
    ...each(ready, 'templateId', ODD_IDS),
    ...each(ready, 'format', [undefined, null, '', 'xlsx', 'CSV', 1]),
    ...each(ready, 'recordCount', [...COUNTS, 2 ** 31]),
    ...each(ready, 'fileSize', [...COUNTS, 2 ** 53]),
    ...each(ready, 'completedAt', TIMES),
    ...each(ready, 'expiresAt', ['', '2026-01-01', 1_700_000_000_000]),
    ...each(ready, 'downloadUrl', [undefined, null, '', 5, 'reports/r', 'https://evil.example/r', '//evil.example/r']),
    ...each(ready, 'downloadUrl', ['/\\evil.example', '/a b', '/a\n', '/\0', '/\ud800', `/${'x'.repeat(8_192)}`]),
    ...ids((id) => alert(id)),
    ...each(fired, 'severity', [undefined, null, '', 3, '\0', 'x'.repeat(65)]),
    ...each(fired, 'message', [undefined, null, '', 5, '\0', 'x'.repeat(4_097)]),
    ...each(fired, 'triggeredAt', TIMES),
    ...each(fired, 'alertUrl', ['', 5, '\0', `https://x.edu/${'x'.repeat(8_179)}`]),
    ...each(fired, 'alertUrl', ['javascript:alert(1)', 'JavaScript:alert(1)', 'data:,x', 'alerts/a', '//x.edu/a']),
  ])('with %s is 400 and names the fact', async (_what, bad) => {
    const good = [failed('t'), writing('new', 0.5), report('new'), alert('new')];
    const answer = await customer.ingest([...good, bad, alert('newer')]);
    expect([answer.status, answer.body.error?.data?.factIndex]).toEqual([400, good.length]);
    expect(answer.body.error.message).toMatch(/\S/);
  });

  it('that is refused leaves nothing behind', async () => {
    expect(await hashSettled(customer.id)).toEqual(before);
  });

  it('holds what is just within the limits', async () => {
    const id = '😀'.repeat(256);
    const soon = minutesAhead(4);
    await customer.accept([
      started(id),
      failed(id, { failedAt: soon, reason: '😀'.repeat(1_024) }),
      writing(id, 0, { scoredAt: soon, userId: id, documentId: id, wordCount: 0 }),
      writing('w', 1, { wordCount: 2 ** 31 - 1 }),
      report(id, {
        ...{ reportName: '😀'.repeat(512), templateId: id, format: 'json', recordCount: 2 ** 31 - 1 },
        ...{ fileSize: Number.MAX_SAFE_INTEGER, completedAt: soon, expiresAt: '0001-01-01T00:00:00Z' },
        downloadUrl: `/${'x'.repeat(8_191)}`,
      }),
      alert(id, {
        ...{ severity: 'Ä'.repeat(64), message: '😀'.repeat(4_096), triggeredAt: soon },
        alertUrl: `https://x.edu/${'x'.repeat(8_178)}`,
      }),
    ]);
    expect(await readPayloads('ReportReady')).toMatchObject([{ reportId: id, fileSize: Number.MAX_SAFE_INTEGER }]);
    expect(await readPayloads('AlertTriggered')).toMatchObject([{ alertId: id, severity: 'ä'.repeat(64) }]);
    const [row] = await server.database.db.sql`select file_size from reports where integration_id = ${customer.id}`;
    expect(row!.file_size).toBe(Number.MAX_SAFE_INTEGER);
  });
});
