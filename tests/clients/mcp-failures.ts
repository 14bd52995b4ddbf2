import { beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../support/customer';
import { scoredSession } from '../support/facts';
import type { TestServer } from '../support/server';
import type { FaultyRelay } from './faulty-relay';
import { type Assistant, type InstalledMcp, readText } from './installed-mcp';

export interface FailureContext {
  mcp: InstalledMcp;
  /** With a quota of three requests a minute for the plan free. */
  server: TestServer;
  relay: FaultyRelay;
  open(key: string, parameters?: string[], baseUrl?: string, env?: Record<string, string>): Promise<Assistant>;
  /** Mints another key. */
  mint(integrationId: string, scopes: ('read' | 'webhooks:write')[]): Promise<string>;
}

/** A customer with the session `s`, and an assistant behind the relay, with every scope. */
export async function openRelayed({ server, relay, open }: FailureContext) {
  const customer = await Customer.create(server, scoredSession(0.9, 's').facts);
  return { customer, relayed: await open(customer.key, ['--allow-writes'], relay.url) };
}

/** Changes and who may make them, and errors in one sentence. */
export function describeFailures(getContext: () => FailureContext): void {
  let context: FailureContext;
  let customer: Customer;
  let relayed: Assistant;
  beforeAll(async () => {
    context = getContext();
    ({ customer, relayed } = await openRelayed(context));
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
        /^NO_CONNECTION: .* \((ECONNRESET|UND_ERR_SOCKET)\); call again in a moment; if it stays so, check BOT_DETECTION_BASE_URL\.$/,
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
      expect(result.isError, JSON.stringify(result.content)?.slice(0, 500)).toBeFalsy();
      expect(JSON.stringify(result.structuredContent?.untrustedData).length).toBeLessThanOrEqual(30_000);
      if (data.includes('proto')) expect(JSON.stringify(result.structuredContent?.untrustedData)).toBe(data);
    }
  });
}
