import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebhookEvent } from '../../contract/webhook-events';
import { findBookFaults } from '../support/books';
import { Customer } from '../support/customer';
import { scoredSession } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Whatever happens to events and subscriptions, the record has exactly one outcome for each event and each subscription that existed
// when it fired, and it is the one that follows from what happened.

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
    QUOTA_ENTERPRISE: '1000000',
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const SCORES = [0.75, 0.95];
const THRESHOLD = 0.9;
/** What a receiver answers, and what becomes of a delivery by it. */
const ANSWERS = { 200: 'delivered', 404: 'failed', 500: 'pending' } as const;
type Status = keyof typeof ANSWERS;
const STATUSES = [200, 404, 500] as const satisfies Status[];

/** A subscription with what each event became for it, by the event's session. */
class SubscriptionModel {
  readonly entries = new Map<string, string>();
  readonly id: string;
  readonly isStrict: boolean;
  enabled = true;
  isDeleted = false;
  #failures = 0;
  constructor(id: string, isStrict: boolean) {
    this.id = id;
    this.isStrict = isStrict;
  }

  fire(sessionId: string, score: number, status: Status): void {
    if (this.isDeleted) return;
    if (this.isStrict && score < THRESHOLD) this.entries.set(sessionId, 'skipped threshold');
    else if (!this.enabled) this.entries.set(sessionId, 'skipped disabled');
    else this.#attempt(sessionId, status);
  }

  switch(enabled: boolean): void {
    if (this.isDeleted || this.enabled === enabled) return;
    this.enabled = enabled;
    if (enabled) this.#failures = 0;
  }

  delete(): void {
    this.isDeleted = true;
    for (const [sessionId, entry] of this.entries) if (entry === 'pending') this.entries.set(sessionId, 'failed');
  }

  /** Returns how many are sent. */
  recover(includeSkipped: boolean, status: Status): number {
    if (!this.enabled || this.isDeleted) return 0;
    const sent = [...this.entries].filter(
      ([, entry]) => entry === 'failed' || (includeSkipped && entry === 'skipped disabled'),
    );
    for (const [sessionId] of sent) this.#attempt(sessionId, status);
    return sent.length;
  }

  /** All attempts of an action begin before its third failure disables the subscription. */
  #attempt(sessionId: string, status: Status): void {
    this.entries.set(sessionId, ANSWERS[status]);
    if (status === 200) this.#failures = 0;
    if (status === 404 && ++this.#failures >= 3) this.enabled = false;
  }
}

const pick = fc.nat(2);
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fire' as const),
      score: fc.constantFrom(...SCORES),
      status: fc.constantFrom(...STATUSES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), isStrict: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('switch' as const), which: pick, enabled: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), which: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('recover' as const), which: pick, includeSkipped: fc.boolean() }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

async function play(actions: Action[]): Promise<void> {
  const customer = await Customer.create(server);
  const call = (method: string, path: string, body?: unknown) => server.call(method, path, { key: customer.key, body });
  const models: SubscriptionModel[] = [];
  const subscribe = async (isStrict: boolean) => {
    const threshold = isStrict ? { threshold: { field: 'botScore', operator: 'gte', value: THRESHOLD } } : {};
    const body = { url: `${receiver.url}/${customer.id}`, eventType: 'BotDetected', ...threshold };
    models.push(new SubscriptionModel((await call('POST', '/v1/webhooks', body)).body.data.id, isStrict));
  };
  const settle = () =>
    waitUntil(async () => {
      const rows = await server.database.db.sql`
        select 1 from webhook_deliveries where integration_id = ${customer.id} and status = 'Pending'
           and (lease is not null or next_attempt_at <= now())`;
      return rows.length === 0;
    });
  await subscribe(false);
  for (const act of actions) {
    if (act.kind === 'fire') {
      receiver.answer = () => act.status;
      const { sessionId, facts } = scoredSession(act.score);
      await customer.accept(facts);
      for (const model of models) model.fire(sessionId, act.score, act.status);
    } else if (act.kind === 'subscribe') {
      if (models.length < 3) await subscribe(act.isStrict);
    } else {
      const model = models[act.which % models.length]!;
      const path = `/v1/webhooks/${model.id}`;
      if (act.kind === 'switch') {
        await call('PATCH', path, { enabled: act.enabled });
        model.switch(act.enabled);
      } else if (act.kind === 'delete') {
        await call('DELETE', path);
        model.delete();
      } else {
        receiver.answer = () => 200;
        const isRefused = !model.enabled || model.isDeleted;
        const expected = model.recover(act.includeSkipped, 200);
        const { status, body } = await call('POST', `${path}/recover`, {
          startDate: '2026-01-01',
          includeSkipped: act.includeSkipped,
        });
        expect(status).toBe(isRefused ? 400 : 200);
        if (!isRefused) expect(body.data.recovered + body.data.skippedSent).toBe(expected);
      }
    }
    await settle();
    expect(await findBookFaults(server.database.db)).toEqual([]);
    await compare(customer, models);
  }
}

/** Compares the record with the models: the same entries, no more and no fewer. */
async function compare(customer: Customer, models: SubscriptionModel[]): Promise<void> {
  const events: WebhookEvent[] = await customer.readAll('/v1/webhook-events?sort=newest&eventType=BotDetected');
  const recorded = events.flatMap(({ payload, outcomes }) =>
    outcomes.map(({ subscriptionId, outcome, reason }) => {
      const { sessionId } = JSON.parse(payload);
      return `${sessionId} ${subscriptionId} ${reason === null ? outcome : `${outcome} ${reason}`}`;
    }),
  );
  const expected = models.flatMap(({ id, entries }) =>
    [...entries].map(([sessionId, entry]) => `${sessionId} ${id} ${entry}`),
  );
  expect(recorded.sort()).toEqual(expected.sort());
}

/** Everything that can become of an event, in one run. */
const EXAMPLE: Action[] = [
  { kind: 'fire', score: 0.95, status: 200 },
  { kind: 'subscribe', isStrict: true },
  { kind: 'fire', score: 0.75, status: 500 },
  { kind: 'switch', which: 0, enabled: false },
  { kind: 'fire', score: 0.95, status: 404 },
  { kind: 'switch', which: 0, enabled: true },
  { kind: 'recover', which: 0, includeSkipped: true },
  ...Array.from({ length: 3 }, () => ({ kind: 'fire' as const, score: 0.95, status: 404 as const })),
  { kind: 'fire', score: 0.95, status: 200 },
  { kind: 'switch', which: 0, enabled: true },
  { kind: 'recover', which: 0, includeSkipped: false },
  { kind: 'recover', which: 0, includeSkipped: true },
  { kind: 'delete', which: 0 },
  { kind: 'fire', score: 0.95, status: 200 },
];

it('the books close after every action, and say what happened', async () => {
  const actions = fc.array(action, { minLength: 6, maxLength: 14 });
  await fc.assert(fc.asyncProperty(actions, play), { numRuns: 12, endOnFailure: true, examples: [[EXAMPLE]] });
});
