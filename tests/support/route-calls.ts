import { ROUTES } from '../../server/rest/routes';

/** Things of one integration that the calls name. */
export interface Subject {
  sessionId: string;
  userId: string;
  /** Of an erasure; one that does not exist if it is left out. */
  receiptId?: string;
  fingerprint: string;
  courseId: string;
  origin: string;
  detectionFlag: string;
  webhookId: string;
  /** A delivery of that webhook, and its event. */
  deliveryId: string;
  eventId: string;
  /** Where the webhooks of the calls post to. */
  webhookUrl: string;
}

export interface RouteCall {
  method: string;
  /** With parameters and query. */
  path: string;
  body?: unknown;
}

type Example = { path?: Record<string, string>; query?: Record<string, string>; body?: unknown };

/**
 * Lists calls of every route under `/v1`, with every query parameter and every field of a body, by `METHOD /template`.
 * Calls that change something are in an order in which each finds what it names. The last one deletes the subject's
 * webhook.
 */
export function listRouteCalls(subject: Subject): Map<string, RouteCall[]> {
  const {
    sessionId,
    userId,
    receiptId = 'era_unknown',
    fingerprint,
    courseId,
    origin,
    detectionFlag,
    webhookUrl,
  } = subject;
  const ofSession = { path: { sessionId } };
  const ofWebhook = { path: { id: subject.webhookId } };
  const ofDelivery = { path: { id: subject.webhookId, deliveryId: subject.deliveryId } };
  const range = { startDate: '2020-01-01', endDate: '2099-12-31' };
  const page = { pageSize: '2' };
  const filters: Example[] = [
    { query: { startDate: '2020-01-01', endDate: '2099-12-31' } },
    { query: { userId } },
    { query: { courseId } },
    { query: { fingerprint } },
    { query: { origin } },
    { query: { status: 'scored', minBotScore: '0', maxBotScore: '1' } },
    { query: { riskLevel: 'bot' } },
    { query: { riskLevel: 'human', deviceType: 'desktop' } },
    { query: { detectionFlag } },
    { query: { label: 'none' } },
    { query: { label: 'bot' } },
  ];
  const examples: Record<string, Example[]> = {
    'GET /v1/sessions': [{}, { query: page }, ...filters],
    'GET /v1/exports/sessions': [{}, { query: { format: 'csv' } }, ...filters],
    'GET /v1/exports/users': [{}, { query: { format: 'csv' } }],
    'GET /v1/exports/webhook-events': [
      {},
      { query: { format: 'csv', sort: 'oldest', eventType: 'BotDetected', sessionId, userId, ...range } },
    ],
    'GET /v1/exports/audit-log': [{}, { query: { format: 'csv' } }],
    'GET /v1/audit-log': [{}, { query: page }],
    'GET /v1/sessions/{sessionId}': [ofSession],
    'GET /v1/sessions/{sessionId}/details': [ofSession],
    'GET /v1/sessions/{sessionId}/evidence': [ofSession],
    'GET /v1/sessions/{sessionId}/events': [ofSession, { ...ofSession, query: page }],
    'GET /v1/users': [{}, { query: page }],
    'GET /v1/users/{userId}/export': [{ path: { userId } }],
    'GET /v1/user-erasures/{receiptId}': [{ path: { receiptId } }],
    'GET /v1/users/{userId}/sessions': [{ path: { userId } }, { path: { userId }, query: page }],
    'GET /v1/courses': [{}, { query: page }],
    'GET /v1/analytics': [
      {},
      { query: { period: '24h', groupBy: 'hour' } },
      { query: { period: '90d', groupBy: 'week' } },
    ],
    'GET /v1/stats': [{}],
    'GET /v1/usage': [{}, { query: { startDate: '2026-01-01', endDate: '2026-01-31' } }],
    'GET /v1/integration': [{}],
    'GET /v1/settings/risk-thresholds': [{}],
    'GET /v1/webhooks': [{}],
    'GET /v1/webhooks/{id}': [ofWebhook],
    'GET /v1/webhook-events': [
      {},
      { query: { ...page, sort: 'oldest' } },
      { query: { eventType: 'BotDetected', sessionId, userId, ...range } },
    ],
    'GET /v1/webhook-events/{eventId}': [{ path: { eventId: subject.eventId } }],
    'GET /v1/webhooks/{id}/deliveries': [
      ofWebhook,
      { ...ofWebhook, query: { ...page, sort: 'oldest', status: 'Delivered', ...range } },
    ],
    'GET /v1/webhooks/{id}/deliveries/{deliveryId}': [ofDelivery],
    'POST /v1/sessions/{sessionId}/label': [
      { ...ofSession, body: { verdict: 'bot', confidence: 'high', notes: 'looked at' } },
      { ...ofSession, body: { verdict: 'human' } },
    ],
    'POST /v1/users/{userId}/devices/{fingerprint}/confirm': [
      { path: { userId, fingerprint } },
      { path: { userId, fingerprint }, body: { notes: 'the office' } },
    ],
    'PUT /v1/settings/risk-thresholds': [{ body: { mediumAt: 30, botAt: 60 } }],
    'POST /v1/webhooks': [
      {
        body: {
          url: webhookUrl,
          eventType: 'SessionAnomaly',
          threshold: { field: 'severity', operator: 'eq', value: 'high' },
          name: 'another',
          enabled: false,
        },
      },
    ],
    'PATCH /v1/webhooks/{id}': [
      { ...ofWebhook, body: { enabled: false } },
      {
        ...ofWebhook,
        body: { url: webhookUrl, eventType: 'BotDetected', threshold: null, name: 'own', enabled: true },
      },
    ],
    'POST /v1/webhooks/{id}/rotate-secret': [ofWebhook, { ...ofWebhook, body: { gracePeriodSeconds: 60 } }],
    'POST /v1/webhooks/{id}/test': [ofWebhook],
    'POST /v1/webhooks/{id}/deliveries/{deliveryId}/resend': [ofDelivery],
    'POST /v1/webhooks/{id}/recover': [{ ...ofWebhook, body: { ...range, includeSkipped: true } }],
    // Facts may not name them afterwards, so it is somebody whom no other call names.
    'DELETE /v1/users/{userId}': [{ path: { userId: `${userId}-gone` } }],
    'DELETE /v1/webhooks/{id}': [ofWebhook],
  };
  return new Map(
    Object.entries(examples).map(([route, list]) => {
      const [method = '', template = ''] = route.split(' ');
      return [route, list.map((example) => makeCall(method, template, example))];
    }),
  );
}

function makeCall(method: string, template: string, { path = {}, query, body }: Example): RouteCall {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name]!));
  const target = query ? `${filled}?${new URLSearchParams(query)}` : filled;
  return { method, path: target, ...(body === undefined ? {} : { body }) };
}

/** Finds what the product's routes have and the calls leave out: routes, query parameters, fields of bodies. */
export function findUncalled(calls: Map<string, RouteCall[]>): string[] {
  return ROUTES.filter(({ template }) => template.startsWith('/v1/')).flatMap(({ method, template, query, body }) => {
    const route = `${method} ${template}`;
    const made = calls.get(route);
    if (!made) return [route];
    const asked = new Set(made.flatMap(({ path }) => [...new URL(path, 'http://localhost').searchParams.keys()]));
    const given = new Set(made.flatMap((call) => Object.keys(call.body ?? {})));
    return [
      // Walks use the cursor themselves.
      ...[...query.keys()].filter((name) => name !== 'cursor' && !asked.has(name)).map((name) => `${route} ?${name}`),
      ...(body?.fields ?? []).filter((name) => !given.has(name)).map((name) => `${route} {${name}}`),
    ];
  });
}
