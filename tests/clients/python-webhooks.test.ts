import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { createWebhookSecret, signPayload } from '../../server/webhooks/signature';
import { Customer } from '../support/customer';
import { scoredSession } from '../support/facts';
import { WAIT_LIMIT_MS } from '../support/limits.mjs';
import { findFreePort } from '../support/ports';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { installPythonClient, type PythonClient } from './python-environment';

// The receivers of the README, in Flask and in FastAPI, get what the real server signs and sends.

const KINDS = ['flask', 'fastapi'] as const;

/** What an application answered to a request; the server may have got another status. */
interface Answered {
  status: number;
  timestamp: string;
}
interface Application {
  answered: Answered[];
  /** What the application printed. */
  printed: string[];
  stop(): Promise<void>;
}

let server: TestServer;
let customer: Customer;
let directory: string;
let client: PythonClient | Error;
/** What runs, also if a test failed. */
const running = new Set<Application>();
const ports = {} as Record<(typeof KINDS)[number], number>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'python-receivers-'));
  for (const kind of KINDS) ports[kind] = await findFreePort();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: KINDS.map((kind) => `127.0.0.1:${ports[kind]}`).join(','),
    WEBHOOK_RETRY_DELAYS: '0s,2s,2s,2s,2s,2s',
  });
  customer = await Customer.create(server);
  client = await installPythonClient(directory).catch((error: Error) => error);
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

afterEach(async () => {
  for (const application of running) await application.stop();
  running.clear();
});

describe.each(KINDS)('a receiver in %s', (kind) => {
  const url = () => `http://127.0.0.1:${ports[kind]}/hooks`;

  async function startApplication({ skip }: Pick<TestContext, 'skip'>, secrets: string[], failFirst = 0) {
    if (client instanceof Error) return skip(`no Python client: ${client.message.trim().split('\n').at(-1)}`);
    const { python, programs } = client.receivers;
    const env = {
      NODE_ENV: 'test' as const,
      PATH: process.env.PATH,
      WEBHOOK_SECRETS: secrets.join(','),
      FAIL_FIRST: String(failFirst),
    };
    const parameters = [join(programs, 'serve.py'), `${kind}_receiver`, String(ports[kind])];
    const child = spawn(python, parameters, { cwd: programs, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const application = follow(child);
    running.add(application);
    await waitUntil(
      () =>
        fetch(url()).then(
          () => true,
          () => false,
        ),
      WAIT_LIMIT_MS,
    );
    // That was a GET.
    await waitUntil(() => application.answered.length > 0);
    application.answered.length = 0;
    return application;
  }

  const post = async (path: string, body: object = {}) => {
    const answer = await customer.post(`/v1/webhooks${path}`, body);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body.data;
  };
  const subscribe = () => post('', { url: url(), eventType: 'BotDetected' });

  it('takes an event that it failed at first, and whose next attempt has a new signature, once', async (context) => {
    const { id, secret } = await subscribe();
    // A list of secrets, of which the last is the right one.
    const application = await startApplication(context, [createWebhookSecret(), secret], 1);
    const { sessionId, facts } = scoredSession(0.97);
    await customer.accept(facts);
    await waitUntil(() => application.answered.length === 2);
    const [first, second] = application.answered;
    expect([first!.status, second!.status]).toEqual([204, 204]);
    expect(Number(second!.timestamp)).toBeGreaterThan(Number(first!.timestamp));
    await waitUntil(async () => (await customer.read(`/v1/webhooks/${id}`)).lastDeliveryStatus === 'Delivered');
    expect(application.printed).toEqual([`bot ${sessionId} 0.97`]);
    await server.call('DELETE', `/v1/webhooks/${id}`, { key: customer.key });
  });

  it('takes deliveries in the grace period of a rotation by either secret, and refuses others', async (context) => {
    const { id, secret } = await subscribe();
    const old = await startApplication(context, [secret]);
    expect(await post(`/${id}/test`)).toMatchObject({ status: 'Delivered', responseCode: 204 });
    const rotated = (await post(`/${id}/rotate-secret`, { gracePeriodSeconds: 60 })).secret;
    expect(await post(`/${id}/test`), 'by the previous secret').toMatchObject({ responseCode: 204 });
    expect(old.printed).toHaveLength(2);
    expect(old.printed[0]).toMatch(/^test ./);
    await old.stop();
    await startApplication(context, [rotated]);
    expect(await post(`/${id}/test`), 'by the new secret').toMatchObject({ responseCode: 204 });
    await post(`/${id}/rotate-secret`);
    expect(await post(`/${id}/test`), 'by another secret').toMatchObject({ responseCode: 401, errorClass: '4xx' });
    await server.call('DELETE', `/v1/webhooks/${id}`, { key: customer.key });
  });

  it('refuses what is stale, changed, signed by another secret, lacks a header or is too large', async (context) => {
    const secret = createWebhookSecret();
    const application = await startApplication(context, [secret]);
    const body = JSON.stringify({ sessionId: 's', botScore: 1, scoredAt: 'now', later: { field: 'ö' } });
    const now = Math.floor(Date.now() / 1000);
    const sign = (at: number, by = secret) => ({
      ...{ 'content-type': 'application/json', 'x-webhook-event': 'BotDetected', 'x-webhook-id': 'whk_1' },
      ...{ 'x-webhook-delivery-id': 'dlv_1', 'x-webhook-timestamp': String(at) },
      'x-webhook-signature': signPayload(by, String(at), body),
    });
    const without = (name: string) => Object.fromEntries(Object.entries(sign(now)).filter(([one]) => one !== name));
    const wrong = sign(now, createWebhookSecret());
    const cases: [string, Record<string, string>, string, number][] = [
      ['genuine', sign(now), body, 204],
      ['a little old', sign(now - 290), body, 204],
      ['a little early', sign(now + 290), body, 204],
      ['stale', sign(now - 310), body, 401],
      ['of the future', sign(now + 310), body, 401],
      ['a changed byte', sign(now), body.replace('"s"', '"t"'), 401],
      ['another form of the same JSON', sign(now), JSON.stringify(JSON.parse(body), null, 1), 401],
      ['another secret', wrong, body, 401],
      [
        'the previous secret',
        { ...wrong, 'x-webhook-signature-previous': sign(now)['x-webhook-signature'] },
        body,
        204,
      ],
      ['a wrong previous one', { ...wrong, 'x-webhook-signature-previous': wrong['x-webhook-signature'] }, body, 401],
      ['another time', { ...sign(now), 'x-webhook-timestamp': String(now - 1) }, body, 401],
      ['no number', { ...sign(now), 'x-webhook-timestamp': '-1' }, body, 401],
      [
        'upper case',
        { ...sign(now), 'x-webhook-signature': sign(now)['x-webhook-signature'].toUpperCase() },
        body,
        401,
      ],
      ['an odd signature', { ...sign(now), 'x-webhook-signature': 'sha256=\u00e9' }, body, 401],
      ...Object.keys(sign(now))
        .filter((name) => name.startsWith('x-'))
        .map((name): [string, Record<string, string>, string, number] => [`no ${name}`, without(name), body, 401]),
    ];
    for (const [name, headers, text, status] of cases) {
      const answer = await fetch(url(), { method: 'POST', headers, body: text });
      expect([name, answer.status]).toEqual([name, status]);
      expect(await answer.text()).not.toContain('whsec_');
    }
    const large = ' '.repeat(2 ** 20 - body.length + 1) + body;
    const refused = await fetch(url(), {
      ...{ method: 'POST', body: large },
      headers: { ...sign(now), 'x-webhook-signature': signPayload(secret, String(now), large) },
    });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('larger than 1 MiB')]);
    const unsigned = signPayload(secret, String(now), 'no JSON');
    const answer = await fetch(url(), {
      ...{ method: 'POST', body: 'no JSON', headers: { ...sign(now), 'x-webhook-signature': unsigned } },
    });
    expect(answer.status, 'signed, but no JSON').toBe(401);
    if (kind === 'flask') {
      const early = await fetch(`${url()}?early`, { method: 'POST', headers: sign(now), body });
      expect(early.status, 'read before: a fault of the receiver, so it is sent again').toBe(500);
    }
    expect(application.printed).toEqual(['bot s 1']);
  });
});

/** Sorts the lines of a process: what the application answered, and what it printed. */
function follow(child: ChildProcess): Application {
  const application: Application = {
    answered: [],
    printed: [],
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
  let rest = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines)
      if (line.startsWith('{')) application.answered.push(JSON.parse(line));
      else application.printed.push(line);
  });
  return application;
}
