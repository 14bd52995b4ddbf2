import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../support/customer';
import { POLL_LIMIT_MS } from '../support/limits.mjs';
import { waitUntil } from '../support/receiver';
import { startRaw } from './installed-mcp';
import type { FailureContext } from './mcp-failures';

/** Cancellation and time limits, what is no message of the protocol, settings, and the end of the process. */
export function describeProcess(getContext: () => FailureContext): void {
  let context: FailureContext;
  let customer: Customer;
  beforeAll(async () => {
    context = getContext();
    customer = await Customer.create(context.server);
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
        POLL_LIMIT_MS,
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
        POLL_LIMIT_MS,
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
        POLL_LIMIT_MS,
        () => output.stderr,
      );
      const at = Date.now();
      child.stdin.end();
      expect(await ended).toBe(0);
      expect(Date.now() - at).toBeLessThan(3_000);
      expect(output.stderr).not.toContain(customer.key);
    });

    it('goes on when nobody reads its log any more, as after the terminal of its program was closed', async () => {
      const { output, ended, send, child } = await startHere();
      child.stderr.destroy();
      send(initialize);
      for (const id of [2, 3])
        send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'get_stats', arguments: { unknown: 1 } } });
      await waitUntil(
        () => output.stdout.includes('"id":3'),
        POLL_LIMIT_MS,
        () => output.stdout,
      );
      child.stdin.end();
      expect(await ended).toBe(0);
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
