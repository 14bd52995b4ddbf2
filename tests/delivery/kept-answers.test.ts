import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookClient, type PostResult } from '../../server/webhooks/http-client';
import { createAnswerKeeper, MAX_KEPT_BYTES, showBody } from '../../server/webhooks/kept-answers';
import { pruneAnswers, pruneDeliveries } from '../../server/webhooks/retention';
import { scoredSession } from '../support/facts';
import { answer, type RawReceiver, type Reply, startRawReceiver } from '../support/raw-receiver';
import { waitUntil } from '../support/receiver';
import { listRouteCalls } from '../support/route-calls';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';

// What is kept of the answers of receivers: little, without secrets, for staff, for seven days, and without any effect on deliveries.

let reply: Reply = () => {};
let receiver: RawReceiver;
let server: TestServer;
beforeAll(async () => {
  receiver = await startRawReceiver((...given) => reply(...given));
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}`,
    WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
  });
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

const says =
  (text: string | Buffer): Reply =>
  (socket) =>
    socket.write(text);
const sql = () => server.database.db.sql;

/** Subscribes a new tenant, causes one event and waits for its first attempt. */
async function deliver(at: TestServer = server) {
  const tenant = await at.createTenant('enterprise');
  const body = { url: `http://127.0.0.1:${receiver.port}/hook`, eventType: 'BotDetected' };
  const { id, secret } = (await at.call('POST', '/v1/webhooks', { key: tenant.key, body })).body.data;
  const { sessionId, facts } = scoredSession(0.9);
  expect((await at.ingest(tenant.id, facts)).status).toBe(200);
  const staff = await createCaller(at, tenant.key);
  const read = async () => {
    const [delivery] = (await staff.deliveries.list({ id })).data;
    return staff.deliveries.get({ id: delivery!.id });
  };
  await waitUntil(async () => (await read()).attemptLog.length > 0);
  return { tenant, id, secret, sessionId, staff, read };
}

describe('keeping an answer', () => {
  const dripping =
    (head: string): Reply =>
    (socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    };
  const flooding =
    (head: string): Reply =>
    (socket) => {
      const write = () => {
        for (let room = true; room && !socket.destroyed; ) room = socket.write('a'.repeat(4_096));
      };
      socket.write(head);
      socket.on('drain', write);
      write();
    };

  it.each<[string, Reply]>([
    ['a body that comes slowly', dripping('HTTP/1.1 200 X\r\ncontent-length: 9000\r\n\r\n')],
    ['a body that stops', says('HTTP/1.1 500 X\r\ncontent-length: 9\r\n\r\nok')],
    ['a body without end', flooding('HTTP/1.1 200 X\r\n\r\n')],
    ['a body that is cut off', (socket) => socket.end('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nok')],
    ['a chunk of no size', says('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n')],
    ['bytes', says(Buffer.concat([Buffer.from('HTTP/1.1 404 X\r\ncontent-length: 256\r\n\r\n'), allBytes()]))],
    ['a large header', says(answer(410, 'gone', `x-large: ${'b'.repeat(8_000)}\r\n`))],
    ['a body for a 204', says(answer(204, 'hello'))],
  ])('changes neither outcome nor duration: %s', async (_what, given) => {
    reply = given;
    const post = async (keepsAnswers: boolean) => {
      const client = createWebhookClient({ allowedHosts: new Set([`127.0.0.1:${receiver.port}`]), keepsAnswers });
      const from = performance.now();
      const url = `http://127.0.0.1:${receiver.port}/`;
      const result = await client.post({ url, headers: {}, body: '{}', timeoutMs: 1_500 });
      const durationMs = performance.now() - from;
      await client.close();
      return { result, durationMs };
    };
    const [kept, unkept] = [await post(true), await post(false)];
    const { answer: found, ...result } = kept.result as PostResult & { kind: 'response' };
    expect(result).toEqual(unkept.result);
    expect(unkept.result).not.toHaveProperty('answer');
    expect(found!.body.length).toBeLessThanOrEqual(MAX_KEPT_BYTES);
    expect(kept.durationMs).toBeLessThan(unkept.durationMs + 700);
  });

  it('replaces what is secret by its name, and what looks like it', () => {
    const keeper = createAnswerKeeper();
    keeper.takeHeaders({
      'content-type': 'text/plain',
      'Set-Cookie': ['sid=abc', 'theme=dark'],
      'www-authenticate': 'Bearer realm="x"',
      'proxy-authenticate': 'Basic',
      'proxy-status': 'x',
      authorization: 'Bearer abcdefgh',
      'x-csrf-token': 'abc',
      'x-api-key': 'abc',
      'x-webhook-signature': 'sha256=0123456789abcdef',
      'x-session-id': 'abc',
      location: 'https://example.com/login?next=/hook&access_token=abc#x',
      'x-echo': 'got whsec_abc+/= and sha256=0123456789abcdef and Bearer abcdefghijk',
      'x-request-id': 'req-1',
    });
    const body = [
      '{"error":"invalid signature: mismatch","access_token": "abc,def","hint":"password"}',
      `secret whsec_${'A'.repeat(43)}= key aik_v1_abc idsec_abc`,
      'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc x',
      'form a=1&client_secret=abc&b=2',
      'cannot connect to postgres://app:abc@db:5432/x, see https://example.com/a@b',
      '{Authorization=[Bearer abcdefgh]}',
    ].join('\n');
    keeper.takeData(Buffer.from(body));
    const { headers, body: kept } = keeper.read()!;
    expect(headers).toEqual({
      'content-type': 'text/plain',
      ...Object.fromEntries(
        ['set-cookie', 'www-authenticate', 'proxy-authenticate', 'proxy-status', 'authorization', 'x-csrf-token']
          .concat('x-api-key', 'x-webhook-signature', 'x-session-id')
          .map((name) => [name, '[redacted]']),
      ),
      location: 'https://example.com/login?next=/hook&access_token=[redacted]',
      'x-echo': 'got whsec_[redacted] and sha256=[redacted] and Bearer [redacted]',
      'x-request-id': 'req-1',
    });
    expect(kept.toString()).toBe(
      [
        '{"error":"invalid signature: mismatch","access_token": "[redacted]","hint":"password"}',
        'secret whsec_[redacted] key aik_v1_[redacted] idsec_[redacted]',
        'jwt [redacted] x',
        'form a=1&client_secret=[redacted]&b=2',
        'cannot connect to postgres://[redacted]@db:5432/x, see https://example.com/a@b',
        '{Authorization=[Bearer [redacted]',
      ].join('\n'),
    );
  });

  it.each([
    ['{"password":"a\\"bc","hint":"x"}', '{"password":"[redacted]","hint":"x"}'],
    ['{"password":"abc\\\\","hint":"x"}', '{"password":"[redacted]","hint":"x"}'],
    [
      '{"body":"{\\"token\\":\\"a\\\\\\"bc\\",\\"n\\":\\"x\\"}"}',
      '{"body":"{\\"token\\":\\"[redacted]\\",\\"n\\":\\"x\\"}"}',
    ],
    ['{"token":"abc', '{"token":"[redacted]'],
    ["{'token': 'abc', 'hint': 'x'}", "{'token': '[redacted]', 'hint': 'x'}"],
    [`{'token': "it's", 'hint': 'x'}`, `{'token': "[redacted]", 'hint': 'x'}`],
    ["{\"error\":\"{'token': 'abc', 'n': 'x'}\"}", "{\"error\":\"{'token': '[redacted]', 'n': 'x'}\"}"],
    [`{"error":"bad config {\\"token\\": 'abc'}"}`, `{"error":"bad config {\\"token\\": '[redacted]'}"}`],
    ['{:password=>"abc", "api_key" => \'abc\'}', '{:password=>"[redacted]", "api_key" => \'[redacted]\'}'],
    ["host=db password='a b' user='x'", "host=db password='[redacted]' user='x'"],
    ['password="a b" user="x"', 'password="[redacted]" user="x"'],
    ["{ apiKey: 'abc', hint: 'x' }", "{ apiKey: '[redacted]', hint: 'x' }"],
    [
      String.raw`{"error":"{'token': 'it\\'s \"abc\"', 'n': 'x'}"}`,
      String.raw`{"error":"{'token': '[redacted]', 'n': 'x'}"}`,
    ],
    [`set password = 'it''s', hint = ''`, `set password = '[redacted]', hint = ''`],
    [
      '<pre>{&quot;token&quot;: &quot;a &amp; b&quot;, &quot;n&quot;: &quot;x&quot;}</pre>',
      '<pre>{&quot;token&quot;: &quot;[redacted]&quot;, &quot;n&quot;: &quot;x&quot;}</pre>',
    ],
    ['{&#39;token&#39;: &#39;a b&#39;, n: &#39;x&#39;}', '{&#39;token&#39;: &#39;[redacted]&#39;, n: &#39;x&#39;}'],
    ['token=&#039;a b&#039; n=&#039;x&#039;', 'token=&#039;[redacted]&#039; n=&#039;x&#039;'],
    ['{:password=&gt;&#34;a b&#34;, :n=&gt;&#34;x&#34;}', '{:password=&gt;&#34;[redacted]&#34;, :n=&gt;&#34;x&#34;}'],
    ['password=&#x27;a b&#x27; user=&apos;x&apos;', 'password=&#x27;[redacted]&#x27; user=&apos;x&apos;'],
    [`It's no token, and the hint: 'x' isn't one.`, `It's no token, and the hint: 'x' isn't one.`],
  ])('replaces all of a secret in quotes, whatever quotes are in it: %s', (body, kept) => {
    const keeper = createAnswerKeeper();
    keeper.takeHeaders({});
    keeper.takeData(Buffer.from(body));
    expect(keeper.read()!.body.toString()).toBe(kept);
  });

  it('keeps the headers bounded in number and length, and nothing that Postgres refuses', () => {
    const keeper = createAnswerKeeper();
    keeper.takeHeaders(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`x-${n}`, '\0é\ud800'.repeat(500)])));
    const { headers } = keeper.read()!;
    expect(Object.keys(headers)).toHaveLength(41);
    expect(headers['…']).toBe('160 more');
    for (const value of Object.values(headers)) {
      expect(value.length).toBeLessThanOrEqual(257);
      expect(value.isWellFormed() && !value.includes('\0')).toBe(true);
    }
  });

  it('keeps no more of a body if what replaces its secrets is longer than they were', () => {
    const keeper = createAnswerKeeper();
    keeper.takeHeaders({});
    keeper.takeData(Buffer.from('token=a&'.repeat(256)));
    const { body } = keeper.read()!;
    expect(body.length).toBe(MAX_KEPT_BYTES);
    expect(body.toString()).toMatch(/^(token=\[redacted\]&)+/);
  });

  it('shows a body as harmless text', () => {
    const show = (body: string | Buffer, isCut = false) => showBody({ body: Buffer.from(body as string), isCut });
    expect(show('a\r\nb\tc')).toBe('a\nb\tc');
    expect(show('\x1b[2J\0\x7f\u0085')).toBe('\u241b[2J\u2400\ufffd\ufffd');
    expect(show('left \u202etfel\u2069 \u200f')).toBe('left <U+202E>tfel<U+2069> <U+200F>');
    expect(show('<script>alert(1)</script>')).toBe('<script>alert(1)</script>');
    expect(show(Buffer.from([0xff, 0x61]))).toBe('\ufffda');
    // Cut within the character é.
    expect(show(Buffer.from('aé').subarray(0, 2), true)).toBe('a');
    expect(show(Buffer.from('aé').subarray(0, 2))).toBe('a\ufffd');
  });
});

describe('the answer to an attempt', () => {
  it('is shown to staff: status, headers and the first 2 KiB of the body', async () => {
    reply = says(answer(500, `${'x'.repeat(MAX_KEPT_BYTES)}never`, 'x-trace: t-1\r\nset-cookie: sid=abc\r\n'));
    const { read } = await deliver();
    const { attemptLog, status } = await read();
    expect(status).toBe('Pending');
    expect(attemptLog).toMatchObject([
      {
        ...{ httpStatus: 500, failureClass: '5xx', errorCode: 'HTTP_500' },
        answer: {
          receivedAt: expect.stringMatching(/Z$/),
          headers: { 'x-trace': 't-1', 'set-cookie': '[redacted]', 'content-length': `${MAX_KEPT_BYTES + 5}` },
          body: 'x'.repeat(MAX_KEPT_BYTES),
          isCut: true,
        },
      },
    ]);
  });

  it('is shown with all its headers, whatever their names', async () => {
    reply = says(answer(500, '', 'constructor: c\r\n__proto__: p\r\n'));
    const [attempt] = (await (await deliver()).read()).attemptLog;
    expect(Object.entries(attempt!.answer!.headers)).toEqual(expect.arrayContaining([['__proto__', 'p']]));
  });

  it('is kept of a delivered one too, whatever bytes it has', async () => {
    reply = says(Buffer.concat([Buffer.from('HTTP/1.1 200 X\r\ncontent-length: 256\r\n\r\n'), allBytes()]));
    const { read } = await deliver();
    const { attemptLog, status } = await read();
    expect([status, attemptLog[0]!.errorCode]).toEqual(['Delivered', null]);
    expect(attemptLog[0]!.answer!.body).toContain('␀␁␂');
    expect(attemptLog[0]!.answer!.isCut).toBe(false);
  });

  it('is null if nothing answered', async () => {
    reply = (socket) => socket.resetAndDestroy();
    const { read } = await deliver();
    const [attempt] = (await read()).attemptLog;
    expect(attempt).toMatchObject({ failureClass: 'Network', answer: null });
    expect(attempt!.errorCode).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/);
  });

  it('is in no answer of the API', async () => {
    const CANARY = 'canary-of-the-receiver';
    reply = says(answer(200, CANARY, `x-canary: ${CANARY}\r\n`));
    const { tenant, id, sessionId, read } = await deliver();
    const delivery = await read();
    expect(delivery.attemptLog[0]!.answer!.body).toBe(CANARY);
    const subject = {
      ...{ sessionId, webhookId: id, userId: 'u', fingerprint: 'f', courseId: 'c', origin: 'https://o.example' },
      ...{ deliveryId: delivery.id, eventId: delivery.eventId! },
      ...{ detectionFlag: 'webdriver', webhookUrl: `http://127.0.0.1:${receiver.port}/hook` },
    };
    let calls = 0;
    for (const { method, path, body } of [...listRouteCalls(subject).values()].flat()) {
      const given = await server.call(method, path, { key: tenant.key, body });
      expect(`${given.text}${JSON.stringify([...given.headers])}`).not.toContain(CANARY);
      calls++;
    }
    expect(calls).toBeGreaterThan(30);
  });

  it('is removed after seven days, and with its delivery', async () => {
    reply = says(answer(200, 'short'));
    const [old, young, gone] = [await deliver(), await deliver(), await deliver()];
    const age = (days: number, { tenant }: typeof old) => sql()`
      update webhook_answers set received_at = now() - ${days} * interval '1 day' where integration_id = ${tenant.id}`;
    await age(7.01, old);
    await age(6.99, young);
    await sql()`update webhook_deliveries set finished_at = now() - interval '31 days' where integration_id = ${gone.tenant.id}`;
    expect(await pruneAnswers(server.service.db, true)).toBe(1);
    expect((await old.read()).attemptLog).toMatchObject([{ httpStatus: 200, answer: null }]);
    expect((await young.read()).attemptLog[0]!.answer).toMatchObject({ body: 'short' });
    await pruneDeliveries(server.service.db);
    const left = await sql()`select 1 from webhook_answers where integration_id = ${gone.tenant.id}`;
    expect(left).toHaveLength(0);
  });

  it('is not kept if the setting says so, and what was kept is removed', async () => {
    reply = says(answer(200, 'short'));
    const off = await startTestServer({
      WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}`,
      WEBHOOK_KEEP_ANSWERS: '0',
    });
    try {
      const { read } = await deliver(off);
      expect((await read()).attemptLog).toMatchObject([{ httpStatus: 200, answer: null }]);
      const { sql: rows } = off.database.db;
      expect(await rows`select 1 from webhook_answers`).toHaveLength(0);
      await rows`insert into webhook_answers values ('i', 'd', 0, 1, now(), '{}', '', false)`;
      await sleep(5);
      expect(await pruneAnswers(off.service.db, false)).toBe(1);
    } finally {
      await off.stop();
    }
  });
});

function allBytes(): Buffer {
  return Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
}
