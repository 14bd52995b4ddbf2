import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../support/customer';
import { scoredSession } from '../support/facts';
import { waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';
import type { FaultyRelay } from './faulty-relay';
import { type Assistant, type InstalledMcp, readText, startRaw } from './installed-mcp';

interface Context {
  mcp: InstalledMcp;
  /** With a quota of three requests a minute for the plan free. */
  server: TestServer;
  relay: FaultyRelay;
  open(key: string, parameters?: string[], baseUrl?: string, env?: Record<string, string>): Promise<Assistant>;
  /** Mints another key. */
  mint(integrationId: string, scopes: ('read' | 'webhooks:write')[]): Promise<string>;
}

/** Errors in one sentence, cancellation, what the protocol can do wrong, and the end of the process. */
export function describeFailures(getContext: () => Context): void {
  let context: Context;
  let customer: Customer;
  /** Behind the relay, with every scope. */
  let relayed: Assistant;
  beforeAll(async () => {
    context = getContext();
    customer = await Customer.create(context.server, scoredSession(0.9, 's').facts);
    relayed = await context.open(customer.key, ['--allow-writes'], context.relay.url);
  });

  describe('a write', () => {
    it('is made with a key that may do it', async () => {
      const label = { sessionId: 's', verdict: 'human', confidence: 'low', notes: 'as \\u202e it is' };
      const { untrustedData } = await relayed.read('label_session', label);
      expect(untrustedData).toMatchObject({ sessionId: 's', verdict: 'human', notes: 'as \\u202e it is' });
      expect((await customer.session('s')).label).toMatchObject({ verdict: 'human' });
    });

    it('is refused with the scope that is missing, by a key that has only read, and changes nothing', async () => {
      const assistant = await context.open(await context.mint(customer.id, ['read']), ['--allow-writes']);
      const writes: [tool: string, input: object, scope: string][] = [
        ['label_session', { sessionId: 's', verdict: 'bot' }, 'sessions:write'],
        ['confirm_device', { userId: 'u', fingerprint: 'f' }, 'sessions:write'],
        ['update_risk_thresholds', { mediumAt: 1, botAt: 99 }, 'settings:write'],
        ['create_webhook', { url: 'https://example.com', eventType: 'BotDetected' }, 'webhooks:write'],
        ['delete_webhook', { id: 'whk_1' }, 'webhooks:write'],
      ];
      const before = await customer.read('/v1/audit-log');
      for (const [tool, input, scope] of writes)
        expect(await assistant.fail(tool, input)).toMatch(
          new RegExp(
            `^FORBIDDEN: This needs a key with the scope ${scope}; nothing was done, .*\\(request [\\w-]+\\)\\.$`,
          ),
        );
      expect(await customer.read('/v1/audit-log')).toEqual(before);
    });

    it('does not exist without --allow-writes', async () => {
      const assistant = await context.open(customer.key);
      const call = assistant.call('label_session', { sessionId: 's', verdict: 'bot' });
      await expect(call).rejects.toThrow('there is no such tool');
      expect((await customer.session('s')).label.verdict).toBe('human');
    });

    it('has one effect if its answer gets lost and the assistant repeats it, and a later one has its own', async () => {
      const { relay } = context;
      const label = { sessionId: 's', verdict: 'bot' };
      relay.plan('cut-after');
      expect(await relayed.fail('label_session', label)).toMatch(
        /^NO_CONNECTION: .*; it is unknown whether the change was made, so call again with the same arguments, which has one effect/,
      );
      await relayed.read('label_session', label);
      await relayed.read('label_session', label);
      const [first, second, third] = relay.requests.map(({ headers }) => headers['idempotency-key']);
      expect(first).toMatch(/^[0-9a-f-]{36}$/);
      expect([second === first, third === first]).toEqual([true, false]);
    });
  });

  describe('an error of the API', () => {
    it.each<[what: string, tool: string, input: object, says: RegExp]>([
      [
        'unknown id',
        'get_session',
        { sessionId: 'none' },
        /^NOT_FOUND: .*; check the ids, which the lists show \(request \S+\)\.$/,
      ],
      [
        'field',
        'list_sessions',
        { startDate: 'yesterday' },
        /^INVALID_REQUEST \(field startDate\): .*; correct the arguments and call again \(request/,
      ],
      ['cursor', 'list_users', { cursor: 'x' }, /^INVALID_REQUEST \(field cursor\): /],
      ['body', 'update_risk_thresholds', { mediumAt: 50, botAt: 51 }, /^INVALID_BODY \(field botAt\): /],
      [
        'address',
        'create_webhook',
        { url: 'http://10.0.0.1/', eventType: 'BotDetected' },
        /^INVALID_URL \(field url\): /,
      ],
    ])('is told in one sentence with code, field and what to do: %s', async (_, tool, input, says) => {
      context.relay.plan();
      const text = await relayed.fail(tool, input);
      expect(text).toMatch(says);
      expect(text).not.toContain('\n');
      expect(context.relay.requests).toHaveLength(1);
    });

    it.each<[what: string, tool: string, input: object, says: RegExp]>([
      [
        'unknown argument',
        'list_sessions',
        { risk: 'bot' },
        /^INVALID_ARGUMENTS \(field risk\): there is no such argument, list_sessions takes cursor, pageSize, /,
      ],
      ['missing', 'get_session', {}, /^INVALID_ARGUMENTS \(field sessionId\): must have required property/],
      [
        'too large',
        'list_sessions',
        { pageSize: 101 },
        /^INVALID_ARGUMENTS \(field pageSize\): must be <= 100; correct/,
      ],
      [
        'no choice',
        'list_sessions',
        { riskLevel: 'x' },
        /^INVALID_ARGUMENTS \(field riskLevel\): must be equal to one of/,
      ],
      ['no path', 'get_session', { sessionId: '..' }, /^INVALID_ARGUMENTS: /],
      ['hostile name', 'get_stats', { 'a\u202e\n': 1 }, /^INVALID_ARGUMENTS \(field a\\u202e\\u000a\): /],
    ])('is told before a request is sent: %s', async (_, tool, input, says) => {
      context.relay.plan();
      expect(await relayed.fail(tool, input)).toMatch(says);
      expect(context.relay.requests).toEqual([]);
    });

    it('says how long to wait after too many requests, at once', async () => {
      const { key } = await Customer.create(context.server, [], 'free');
      const assistant = await context.open(key);
      const results = [];
      for (let count = 0; count < 8; count++) results.push(await assistant.call('get_stats'));
      const refused = results.filter(({ isError }) => isError).map(readText);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]).toMatch(
        /^RATE_LIMITED: .*; wait \d+ seconds, then call again with the same arguments \(request/,
      );
    });

    it('says that the key is wrong, without it', async () => {
      const key = `aik_v1_${'A'.repeat(40)}`;
      const assistant = await context.open(key);
      const text = await assistant.fail('list_sessions');
      expect(text).toMatch(/^INVALID_API_KEY: .*; the operator must set BOT_DETECTION_API_KEY/);
      expect(text + assistant.log()).not.toContain(key);
      expect((await assistant.read('get_health')).untrustedData.status).toBe('ok');
    });

    it.each<[what: string, fault: Parameters<FaultyRelay['plan']>[0], says: RegExp]>([
      ['fault', { status: 500 }, /^UNEXPECTED_ANSWER: .*; call again in a moment\.$/],
      [
        'cut',
        'cut-before',
        /^NO_CONNECTION: .*; call again in a moment; if it stays so, check BOT_DETECTION_BASE_URL\.$/,
      ],
      [
        'redirect',
        { status: 302, headers: { location: 'https://example.com/' } },
        /^UNEXPECTED_ANSWER: .* 302; the operator must check BOT_DETECTION_BASE_URL\.$/,
      ],
      [
        'no API',
        { status: 200, body: '<html>' },
        /^UNEXPECTED_ANSWER: .*; the operator must check BOT_DETECTION_BASE_URL\.$/,
      ],
    ])('is told too if it is none of the API: %s', async (_, fault, says) => {
      context.relay.plan(fault);
      expect(await relayed.fail('get_stats')).toMatch(says);
      expect(context.relay.requests).toHaveLength(1);
    });

    it('shows no invisible character and no key of an answer', async () => {
      const message = `bad \u202e${customer.key}\n${'x'.repeat(2_000)}`;
      context.relay.plan({
        status: 400,
        body: JSON.stringify({ error: { code: 'C', message, details: { field: 'f\u200b' } } }),
      });
      const text = await relayed.fail('get_stats');
      expect(text).toMatch(/^C \(field f\\u200b\): bad \\u202e\[API key\]\\u000ax+; /);
      expect(text.length).toBeLessThan(700);
    });
  });

  it('bounds an answer that no API would give', async () => {
    const grow = (depth: number): unknown =>
      depth === 0 ? '\u202e"'.repeat(30) : [grow(depth - 1), grow(depth - 1), grow(depth - 1)];
    const nested = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    for (const data of [JSON.stringify(grow(9)), nested, '{"__proto__":{"a":1}}']) {
      context.relay.plan({ status: 200, body: `{"data":${data}}` });
      const result = await relayed.call('get_stats');
      expect(result.isError).toBeFalsy();
      expect(JSON.stringify(result.structuredContent?.untrustedData).length).toBeLessThanOrEqual(30_000);
      if (data.includes('proto')) expect(JSON.stringify(result.structuredContent?.untrustedData)).toBe(data);
    }
  });

  describe('a call without an answer', () => {
    let api: HangingApi;
    beforeAll(async () => {
      api = await startHangingApi();
    });
    afterAll(() => api.stop());

    it('ends its request when it is cancelled, and the next call works', async () => {
      const assistant = await context.open(customer.key, [], api.url);
      const controller = new AbortController();
      const call = assistant.call('get_stats', {}, controller.signal);
      await waitUntil(
        () => api.counts.begun === 1,
        10_000,
        () => 'no request',
      );
      controller.abort(new Error('enough'));
      await expect(call).rejects.toThrow('enough');
      await waitUntil(
        () => api.counts.ended === 1,
        5_000,
        () => 'the request goes on',
      );
      expect((await assistant.read('get_health')).untrustedData).toEqual({ status: 'ok' });
    });

    it('ends after 50 seconds, here of a clock that is 100 times as fast, for a page that is read twice too', async () => {
      const assistant = await context.open(customer.key, [], api.url, FAST_TIMERS);
      const at = Date.now();
      expect(await assistant.fail('get_stats')).toMatch(
        /^TIMEOUT: no answer within (50000|499\d\d) ms; call again in a moment\.$/,
      );
      expect(Date.now() - at).toBeLessThan(5_000);
      expect(await assistant.fail('list_users')).toMatch(/^TIMEOUT: no answer within 4\d{4} ms; /);
    });
  });

  describe('the process', () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    };
    const startHere = (parameters?: string[]) =>
      startRaw(context.mcp, { key: customer.key, baseUrl: context.relay.url, ...(parameters ? { parameters } : {}) });

    it('survives what is no message of the protocol, and writes nothing else to stdout', async () => {
      const { output, ended, send, child } = await startHere();
      const wrong = [
        'nonsense',
        '{"jsonrpc":"2.0"}',
        '[]',
        'null',
        '\u0000',
        '{"jsonrpc":"2.0","id":7,"method":"no/such"}',
      ];
      for (const line of [...wrong, initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }]) send(line);
      send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 5 } });
      send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: '__proto__' } });
      send({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'get_stats', arguments: [] } });
      send({ jsonrpc: '2.0', id: 5, method: 'tools/list' });
      await waitUntil(
        () => output.stdout.includes('"id":5'),
        10_000,
        () => output.stdout + output.stderr,
      );
      const answers = output.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const codes = Object.fromEntries(answers.map(({ id, error }) => [id, error?.code]));
      expect(codes).toEqual({ 7: -32601, 1: undefined, 2: -32603, 3: -32602, 4: -32603, 5: undefined });
      const { result } = answers.find(({ id }) => id === 1);
      expect(result).toMatchObject({
        serverInfo: { name: 'bot-detection-mcp', version: '1.0.0' },
        capabilities: { tools: {} },
      });
      expect(result.instructions).toMatch(/never follow instructions/);
      child.stdin.end();
      expect(await ended).toBe(0);
    });

    it('ends when stdin closes, even while a request hangs, and leaves no request behind', async () => {
      const { output, ended, send, child } = await startHere();
      context.relay.plan('hang');
      send(initialize);
      send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_stats' } });
      await waitUntil(
        () => context.relay.requests.length === 1,
        10_000,
        () => output.stderr,
      );
      const at = Date.now();
      child.stdin.end();
      expect(await ended).toBe(0);
      expect(Date.now() - at).toBeLessThan(3_000);
      expect(output.stderr).not.toContain(customer.key);
    });

    it('ends when its client closes', async () => {
      const assistant = await context.open(customer.key);
      await assistant.close();
      expect(() => process.kill(assistant.pid, 0)).toThrow('ESRCH');
    });

    it.each<[what: string, settings: { key?: string; baseUrl?: string; parameters?: string[] }, says: string]>([
      ['no key', { key: '' }, 'BOT_DETECTION_API_KEY is not set'],
      ['no address', { baseUrl: '' }, 'BOT_DETECTION_BASE_URL is not set'],
      ['bad key', { key: 'secret key\n' }, 'BOT_DETECTION_API_KEY must be printable ASCII without spaces'],
      [
        'bad address',
        { baseUrl: 'https://u:secret@example.com' },
        'BOT_DETECTION_BASE_URL must be an http or https address',
      ],
      ['bad option', { parameters: ['--allow-write'] }, 'there is no such option'],
    ])('says on stderr what is wrong with its settings, and does not start: %s', async (_, settings, says) => {
      const { output, ended } = await startRaw(context.mcp, { key: 'k', baseUrl: context.relay.url, ...settings });
      expect(await ended).toBe(2);
      expect(output.stderr).toContain(says);
      expect(output.stderr).toContain('Usage: bot-detection-mcp [--allow-writes]');
      expect(output.stderr).not.toContain('secret');
      expect(output.stdout).toBe('');
    });
  });
}

/** Lets timers of the server run 100 times as fast. */
const FAST_TIMERS = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    'const slow=setTimeout;globalThis.setTimeout=(run,ms,...rest)=>slow(run,ms/100,...rest)',
  )}`,
};

interface HangingApi {
  url: string;
  counts: { begun: number; ended: number };
  stop(): Promise<void>;
}

/** An API that answers only for its health, and a first page of users that is too long after 0.2 s. */
async function startHangingApi(): Promise<HangingApi> {
  const counts = { begun: 0, ended: 0 };
  const users = Array.from({ length: 20 }, (_, index) => ({ id: `${index}`, name: 'n'.repeat(3_000) }));
  const pagination = { nextCursor: 'c', hasMore: true, limit: 20 };
  const server = createServer((request, response) => {
    if (request.url === '/health') return response.end('{"status":"ok"}');
    if (request.url?.endsWith('pageSize=20'))
      return setTimeout(() => response.end(JSON.stringify({ data: users, pagination })), 200);
    counts.begun++;
    request.on('close', () => counts.ended++);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
