import { randomUUID } from 'node:crypto';
import type { Plan } from '../../contract/tiers';
import { CHROME } from './facts';
import type { Receiver } from './receiver';
import { type Answer, type CallOptions, createClient, type TestServer } from './server';

/** The path parameters of the API, by their names in the document. */
export type Ids = Record<'sessionId' | 'userId' | 'fingerprint' | 'id', string>;

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
  secret: string;
  receiver: Receiver;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
  ingest(facts: unknown[]): Promise<Answer>;
}

/** Makes ids that exist nowhere. */
export const makeUnknownIds = (): Ids => ({
  sessionId: `ses-${randomUUID()}`,
  userId: `lms ${randomUUID()}/é`,
  fingerprint: `fp-${randomUUID()}`,
  id: `whk_${randomUUID().replaceAll('-', '')}`,
});

/** Makes a tenant through the pipeline's endpoint and the API. */
export async function createFixture(
  { base, api, receiver }: { base: TestServer; api: { url: string }; receiver: Receiver },
  plan: Plan = 'enterprise',
): Promise<Fixture> {
  const { id, key } = await base.createTenant(plan);
  const names = makeUnknownIds();
  const now = Date.now();
  const client = createClient(api.url);
  const fixture: Omit<Fixture, 'disabledWebhookId' | 'secret'> = {
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
  await succeed(fixture.ingest(makeFacts(fixture)));
  const subscribe = async (fields: object) => {
    const body = { url: `${receiver.url}/${id}`, eventType: 'BotDetected', ...fields };
    return (await succeed(fixture.call('POST', '/v1/webhooks', { body }))).body.data;
  };
  const disabled = await subscribe({ name: 'Disabled', enabled: false });
  const { id: webhookId, secret } = await subscribe({ name: 'Enabled' });
  return { ...fixture, ids: { ...names, id: webhookId }, disabledWebhookId: disabled.id, secret };
}

async function succeed(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
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
}: Omit<Fixture, 'disabledWebhookId' | 'secret'>) {
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
  ];
  const answers = await Promise.all(paths.map((path) => succeed(get(path))));
  const sealed = await base.database.db.sql`
    select id, secret_sealed from webhook_subscriptions where integration_id = ${id} order by id`;
  return {
    answers: answers.map(({ text }, n) => [paths[n], text.replace(/"generatedAt":"[^"]+"/, '')]),
    secrets: sealed.map((row) => [row.id, row.secret_sealed.toString('hex')]),
    received: receiver.received.filter(({ path }) => path === `/${id}`).length,
  };
}
