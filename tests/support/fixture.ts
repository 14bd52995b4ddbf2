import { randomUUID } from 'node:crypto';
import type { Plan } from '../../contract/tiers';
import { hashUser } from '../../server/domain/erased-users';
import { untilServed } from './eventually';
import { CHROME } from './facts';
import type { Receiver } from './receiver';
import { type Answer, type CallOptions, createClient, type TestServer } from './server';

/** The path parameters of the API, by their names in the document. */
export type Ids = Record<
  'sessionId' | 'userId' | 'fingerprint' | 'id' | 'eventId' | 'deliveryId' | 'receiptId',
  string
>;

/**
 * A tenant with something of everything. Three sessions: the one in `ids` is of the class medium, a newer one is a
 * bot's, the newest is still active. The first two belong to one user on two devices in course 42. The third has no
 * user and is in course 7.
 */
export interface Fixture {
  id: string;
  key: string;
  ids: Ids;
  otherFingerprint: string;
  botSessionId: string;
  activeSessionId: string;
  /** A time before the fixture's start. The session `ids.sessionId` began 600 s before it. */
  time(secondsBefore: number): string;
  /** A disabled subscription. The one in `ids` is enabled and posts to the receiver. */
  disabledWebhookId: string;
  /** A failed delivery of the disabled subscription. The one in `ids` is of the enabled one. Both are of the bot's event. */
  disabledDeliveryId: string;
  secret: string;
  receiver: Receiver;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
  ingest(facts: unknown[]): Promise<Answer>;
  /** Works on an erasure in the server that is not under test: the one under test may have no engine. */
  continueErasure(erasureId: string): Promise<unknown>;
}

/** Makes ids that exist nowhere. */
export const makeUnknownIds = (): Ids => ({
  sessionId: `ses-${randomUUID()}`,
  userId: `lms ${randomUUID()}/é`,
  fingerprint: `fp-${randomUUID()}`,
  id: `whk_${randomUUID().replaceAll('-', '')}`,
  eventId: `evt_${randomUUID().replaceAll('-', '')}`,
  deliveryId: `dlv_${randomUUID().replaceAll('-', '')}`,
  receiptId: `era_${randomUUID().replaceAll('-', '')}`,
});

/** A user who was erased before. */
export const ERASED_USER_ID = 'lms-erased';

/** Adds the receipt of a complete erasure. */
export async function addReceipt({ service, database }: TestServer, integrationId: string, id: string) {
  const userHash = hashUser(service.secrets.erasureKey, { integrationId, userId: ERASED_USER_ID });
  await database.db.sql`
    insert into user_erasures (integration_id, id, user_hash, refused_until, completed_at, position, counts)
    values (${integrationId}, ${id}, decode(${userHash}, 'hex'), now() + interval '90 days', now(), '{"step": 0}',
            '{"sessions": 3, "traces": 1, "events": 2, "deliveries": 1, "reports": 0, "texts": 4}')`;
}

/** Makes a tenant through the pipeline's endpoint and the API. */
export async function createFixture(
  { base, api, receiver }: { base: TestServer; api: { url: string }; receiver: Receiver },
  plan: Plan = 'enterprise',
): Promise<Fixture> {
  const { id, key } = await base.createTenant(plan);
  const names = makeUnknownIds();
  const now = Date.now();
  const client = createClient(api.url);
  const fixture: Omit<Fixture, 'disabledWebhookId' | 'disabledDeliveryId' | 'secret' | 'continueErasure'> = {
    id,
    key,
    ids: names,
    otherFingerprint: `fp-${randomUUID()}`,
    botSessionId: `ses-${randomUUID()}`,
    activeSessionId: `ses-${randomUUID()}`,
    time: (secondsBefore) => new Date(now - secondsBefore * 1000).toISOString(),
    receiver,
    call: (method, path, options = {}) => client.call(method, path, { key, ...options }),
    get: (path) => client.call('GET', path, { key }),
    ingest: (facts) => client.ingest(id, facts),
  };
  await succeed(() => fixture.ingest(makeFacts(fixture)));
  await addReceipt(base, id, names.receiptId);
  const subscribe = async (fields: object) => {
    const body = { url: `${receiver.url}/${id}`, eventType: 'BotDetected', ...fields };
    return (await succeed(() => fixture.call('POST', '/v1/webhooks', { body }))).body.data;
  };
  const disabled = await subscribe({ name: 'Disabled', enabled: false });
  const { id: webhookId, secret } = await subscribe({ name: 'Enabled' });
  const ids = { ...names, id: webhookId, eventId: await failDelivery(base, id, webhookId, names.deliveryId) };
  const disabledDeliveryId = `dlv_${randomUUID()}`;
  await failDelivery(base, id, disabled.id, disabledDeliveryId);
  const continueErasure = (erasureId: string) =>
    base.service.erasures.jobs.continueErasure({ integrationId: id, erasureId });
  return { ...fixture, ids, disabledWebhookId: disabled.id, disabledDeliveryId, secret, continueErasure };
}

/** Adds a delivery of the bot's event that failed a minute ago. The subscriptions are younger than the event. Returns the event's id. */
async function failDelivery({ database }: TestServer, id: string, subscriptionId: string, deliveryId: string) {
  const [delivery] = await database.db.sql<{ eventId: string }[]>`
    insert into webhook_deliveries
      (integration_id, id, subscription_id, event_id, status, attempts, failure_class, created_at, finished_at)
    select integration_id, ${deliveryId}, ${subscriptionId}, id, 'PermanentFailure', 1, '4xx', created_at, now() - interval '1 minute'
      from domain_events where integration_id = ${id} and type = 'BotDetected'
    returning event_id as "eventId"`;
  await database.db.sql`
    insert into webhook_attempts
      (integration_id, delivery_id, subscription_id, attempt, started_at, duration_ms, http_status, failure_class, address, error_code)
    values (${id}, ${deliveryId}, ${subscriptionId}, 1, now() - interval '1 minute', 84, 404, '4xx', '203.0.113.7', 'HTTP_404')`;
  return delivery!.eventId;
}

async function succeed(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await untilServed(ask, ({ status }) => status);
  if (answer.status !== 200) throw new Error(`the fixture was refused: ${answer.status} ${answer.text}`);
  return answer;
}

/** The finding of the fixture's session `ids.sessionId`. */
export const makeFinding = (moment: string) => ({
  ...{ flag: 'paste', group: 'typing', state: 'found', measured: 400, expected: 'below 40 characters', weight: 1.5 },
  moments: [moment],
});

function makeFacts({
  ids,
  otherFingerprint,
  botSessionId,
  activeSessionId,
  time,
}: Omit<Fixture, 'disabledWebhookId' | 'disabledDeliveryId' | 'secret' | 'continueErasure'>) {
  const { sessionId, userId } = ids;
  const course = 'https://lms.example.edu/courses/42';
  const start = (id: string, secondsBefore: number, pageUrl: string, fields: object = {}) => ({
    kind: 'sessionStarted',
    sessionId: id,
    startedAt: time(secondsBefore),
    pageUrl,
    userAgent: CHROME,
    ...fields,
  });
  const score = (id: string, botScore: number, detectionFlags: string[], fields: object = {}) => ({
    kind: 'sessionScored',
    sessionId: id,
    botScore,
    detectionFlags,
    scoredAt: time(300),
    ...fields,
  });
  const correlate = (id: string, confidence: number) => ({
    kind: 'sessionCorrelated',
    sessionId: id,
    user: { id: userId, name: 'Ada Lovelace', email: 'ada@example.edu', url: 'https://lms.example.edu/users/4711' },
    confidence,
    correlatedAt: time(350),
  });
  return [
    start(sessionId, 600, `${course}/quizzes/1`, { deviceFingerprint: ids.fingerprint, country: 'DE' }),
    {
      kind: 'sessionEvents',
      sessionId,
      events: [
        { sequence: 1, type: 'mouse', timestamp: time(590), eventCount: 6, metadata: { trusted: false } },
        { sequence: 2, type: 'navigation', timestamp: time(580), url: `${course}/quizzes/1/take`, durationMs: 1800 },
        { sequence: 3, type: 'keyboard', timestamp: time(570), eventCount: 3 },
        { sequence: 4, type: 'clipboard', timestamp: time(569.5) },
      ],
    },
    { kind: 'sessionClosed', sessionId, closedAt: time(540) },
    score(sessionId, 0.2, [], { scoredAt: time(320) }),
    score(sessionId, 0.55, ['paste'], { ruleSetVersion: '2026.1', evidence: [makeFinding(time(569.5))] }),
    correlate(sessionId, 0.9),
    start(botSessionId, 500, `${course}/quizzes/2`, { deviceFingerprint: otherFingerprint }),
    { kind: 'sessionClosed', sessionId: botSessionId, closedAt: time(450) },
    score(botSessionId, 0.93, ['webdriver', 'headless']),
    correlate(botSessionId, 0.7),
    start(activeSessionId, 400, 'https://canvas.example.org/courses/7'),
    {
      kind: 'anomalyDetected',
      anomalyId: `ano-${sessionId}`,
      anomalyType: 'ImpossibleTravel',
      severity: 'high',
      detectedAt: time(340),
      sessionId,
    },
  ];
}

/**
 * Reads everything that a tenant can see of itself, its sealed secrets, and how many requests its receiver got, for a
 * comparison.
 */
export async function viewTenant(base: TestServer, { id, ids, disabledWebhookId, receiver, get }: Fixture) {
  const user = encodeURIComponent(ids.userId);
  const paths = [
    '/v1/sessions',
    `/v1/sessions/${ids.sessionId}`,
    `/v1/sessions/${ids.sessionId}/details`,
    `/v1/sessions/${ids.sessionId}/events`,
    `/v1/sessions/${ids.sessionId}/evidence`,
    '/v1/users',
    `/v1/users/${user}/sessions`,
    '/v1/courses',
    '/v1/stats',
    '/v1/integration',
    '/v1/settings/risk-thresholds',
    '/v1/webhooks',
    `/v1/webhooks/${ids.id}`,
    `/v1/webhooks/${disabledWebhookId}`,
    `/v1/webhooks/${ids.id}/deliveries`,
    `/v1/webhooks/${ids.id}/deliveries/${ids.deliveryId}`,
    '/v1/webhook-events',
    `/v1/webhook-events/${ids.eventId}`,
  ];
  const answers = await Promise.all(paths.map((path) => succeed(() => get(path))));
  const sealed = await base.database.db.sql`
    select id, secret_sealed from webhook_subscriptions where integration_id = ${id} order by id`;
  return {
    answers: answers.map(({ text }, n) => [paths[n], text.replace(/"generatedAt":"[^"]+"/, '')]),
    secrets: sealed.map((row) => [row.id, row.secret_sealed.toString('hex')]),
    received: receiver.received.filter(({ path }) => path === `/${id}`).length,
  };
}
