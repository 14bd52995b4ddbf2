import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Customer } from '../support/customer';
import { waitUntil } from '../support/receiver';
import type { Assistant } from './installed-mcp';
import { type FailureContext, openRelayed } from './mcp-failures';

/** Changes whose answer got lost, and that the assistant makes again. */
export function describeRepeats(getContext: () => FailureContext): void {
  let context: FailureContext;
  let customer: Customer;
  let relayed: Assistant;
  beforeAll(async () => {
    context = getContext();
    ({ customer, relayed } = await openRelayed(context));
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

  it('is made again after another one to the same thing, and minutes later, and shows no old answer', async () => {
    const { relay, mcp } = context;
    const verdict = async () => (await customer.session('s')).label.verdict;
    relay.plan('cut-after');
    await relayed.fail('label_session', { sessionId: 's', verdict: 'bot' });
    await relayed.read('label_session', { sessionId: 's', verdict: 'human' });
    await relayed.read('label_session', { sessionId: 's', verdict: 'bot' });
    expect(await verdict()).toBe('bot');
    const clock = join(mcp.home, 'clock');
    await writeFile(clock, '0');
    const later = await context.open(customer.key, ['--allow-writes'], relay.url, { ...SET_CLOCK, CLOCK: clock });
    relay.plan('cut-after');
    await later.fail('label_session', { sessionId: 's', verdict: 'human' });
    await customer.post('/v1/sessions/s/label', { verdict: 'bot' });
    await writeFile(clock, '180000');
    await later.read('label_session', { sessionId: 's', verdict: 'human' });
    expect(await verdict()).toBe('human');
  });

  it('has one effect too if another one succeeded before the repeat', async () => {
    const { relay } = context;
    const webhooks = ['a', 'b'].map((name) => ({ url: `https://example.com/${name}`, eventType: 'ReportReady' }));
    relay.plan('cut-after');
    await relayed.fail('create_webhook', webhooks[0]);
    await relayed.read('create_webhook', webhooks[1]);
    expect(await relayed.fail('create_webhook', webhooks[0])).toMatch(/^SECRET_LOST: .*; call rotate_webhook_secret/);
    const created: { eventType: string }[] = await customer.read('/v1/webhooks');
    expect(created.filter(({ eventType }) => eventType === 'ReportReady')).toHaveLength(2);
  });

  it('that rotates a secret makes another one after the secret was lost, with the same arguments', async () => {
    const { relay } = context;
    const { id } = (await relayed.read('create_webhook', { url: 'https://example.com/r', eventType: 'BotDetected' }))
      .untrustedData;
    relay.plan('cut-after');
    expect(await relayed.fail('rotate_webhook_secret', { id })).toMatch(/^NO_CONNECTION: /);
    expect(await relayed.fail('rotate_webhook_secret', { id })).toMatch(/^SECRET_LOST: .*; call rotate_webhook_secret/);
    await relayed.read('rotate_webhook_secret', { id });
    const keys = relay.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys[1] === keys[0], keys[2] === keys[1]]).toEqual([true, false]);
    await relayed.read('delete_webhook', { id });
  });

  it('has one effect too if a repeat was refused before the next one', async () => {
    const webhook = { url: 'https://example.com/c', eventType: 'AlertTriggered' };
    context.relay.plan('cut-after', { status: 401 });
    expect(await relayed.fail('create_webhook', webhook)).toMatch(/^NO_CONNECTION: /);
    expect(await relayed.fail('create_webhook', webhook)).toMatch(/set BOT_DETECTION_API_KEY/);
    expect(await relayed.fail('create_webhook', webhook)).toMatch(/^SECRET_LOST: /);
  });

  it('has one effect too if the repeat names its arguments in another order', async () => {
    const threshold = { field: 'severity', operator: 'in', value: ['low', 'high'] };
    const webhook = { url: 'https://example.com/d', eventType: 'AlertTriggered', threshold };
    context.relay.plan('cut-after');
    expect(await relayed.fail('create_webhook', webhook)).toMatch(/^NO_CONNECTION: /);
    const turned = Object.fromEntries(Object.entries(threshold).reverse());
    const { url, eventType } = webhook;
    expect(await relayed.fail('create_webhook', { threshold: turned, eventType, url })).toMatch(/^SECRET_LOST: /);
  });

  it('has one effect too if an earlier one to the same thing succeeds meanwhile', async () => {
    const keys: unknown[] = [];
    const held: ServerResponse[] = [];
    const api = createServer(({ headers, socket }, response) => {
      if (keys.push(headers['idempotency-key']) === 2) socket.destroy();
      else held.push(response);
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const assistant = await context.open(customer.key, ['--allow-writes'], url);
    const recover = (startDate: string) =>
      assistant.call('recover_webhook_deliveries', { id: 'whk_1', startDate }).then(({ isError }) => isError);
    const earlier = recover('2026-01-01');
    await waitUntil(() => held.length === 1);
    expect(await recover('2026-01-02')).toBe(true);
    held[0]!.end('{"data":{}}');
    expect(await earlier).toBeUndefined();
    const repeat = recover('2026-01-02');
    await waitUntil(() => held.length === 2);
    held[1]!.end('{"data":{}}');
    await repeat;
    api.close();
    expect([keys[2] === keys[1], keys[1] === keys[0]]).toEqual([true, false]);
  });

  it('that deletes has succeeded if its answer got lost and its repeat finds nothing', async () => {
    const { id } = (await relayed.read('create_webhook', { url: 'https://example.com/', eventType: 'BotDetected' }))
      .untrustedData;
    context.relay.plan({ status: 429 });
    expect(await relayed.fail('delete_webhook', { id: 'whk_none' })).toMatch(/^UNEXPECTED_ANSWER: .*; wait 60 s/);
    expect(await relayed.fail('delete_webhook', { id: 'whk_none' })).toMatch(/^NOT_FOUND: /);
    context.relay.plan('cut-after');
    expect(await relayed.fail('delete_webhook', { id })).toMatch(/^NO_CONNECTION: /);
    expect((await relayed.read('delete_webhook', { id })).untrustedData).toEqual({ deleted: id });
    expect(await relayed.fail('delete_webhook', { id })).toMatch(/^NOT_FOUND: /);
  });
}

/** Lets the clock of the server be as many milliseconds ahead as the file `CLOCK` says. */
const SET_CLOCK = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    "import{readFileSync}from'node:fs';const now=Date.now;Date.now=()=>now()+Number(readFileSync(process.env.CLOCK))",
  )}`,
};
