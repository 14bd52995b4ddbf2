import type { ErrorCode } from '../../contract/errors';
import type { Plan } from '../../contract/tiers';
import { ERASED_USER_ID, type Fixture, type Ids } from './fixture';
import type { CallOptions } from './server';

/** A call of an operation that is refused. What it leaves out is as in the operation's success. */
export interface Refusal {
  /** What is wrong. */
  with: string;
  /** The field that `details` names. */
  field?: string;
  ids?: Partial<Ids> | ((fixture: Fixture) => Partial<Ids>);
  query?: string;
  /** If `call.body` is undefined, no body is sent. */
  call?: Pick<CallOptions, 'body' | 'headers'>;
  plan?: Plan;
}

/** The codes that need a certain state of the caller or the server instead of another request. */
export const UNIVERSAL_CODES = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies ErrorCode[];

// Rules that several routes share have separate tests for what they refuse (tests/rest/requests.test.ts for paths and
// bodies, cursors.test.ts, tests/unit/address-guard.test.ts). Here each route shows once that it follows the rule.

const TOO_LONG = 'x'.repeat(257);
const badPath = (name: keyof Ids): Refusal[] => [
  { with: `a ${name} of 257 characters`, field: name, ids: { [name]: TOO_LONG } },
];
const BAD_PAGE: Refusal[] = [
  { with: 'pageSize=101', field: 'pageSize', query: 'pageSize=101' },
  { with: 'a cursor that was never issued', field: 'cursor', query: 'cursor=AXkP0mZ2' },
];
const NO_BODY: Refusal[] = [{ with: 'no body', field: 'body', call: { body: undefined } }];
const UNKNOWN_ID = 'that-exists-nowhere';
const unknown = (name: keyof Ids): Refusal[] => [{ with: `an unknown ${name}`, ids: { [name]: UNKNOWN_ID } }];

const bodyFault = (fault: string, field: string, body: unknown): Refusal => ({ with: fault, field, call: { body } });

const BAD_THRESHOLDS = [
  bodyFault('no botAt', 'botAt', { mediumAt: 10 }),
  bodyFault('a fraction', 'mediumAt', { mediumAt: 10.5, botAt: 90 }),
  bodyFault('a number over 100', 'botAt', { mediumAt: 10, botAt: 101 }),
  bodyFault('a gap of 4', 'botAt', { mediumAt: 40, botAt: 44 }),
];
const HOOK = { url: 'https://example.com/hook', eventType: 'BotDetected', enabled: false };
const BAD_HOOK = [
  bodyFault('enabled in quotes', 'enabled', { ...HOOK, enabled: 'false' }),
  bodyFault('an empty name', 'name', { ...HOOK, name: '' }),
  bodyFault('an unknown operator', 'threshold.operator', {
    ...HOOK,
    threshold: { field: 'botScore', operator: 'like', value: 1 },
  }),
];
const BAD_URL = [
  'http://127.0.0.1/',
  'https://192.0.2.1/',
  'https://a:b@example.com/',
  'https://example.com:8443/',
].map((url) => bodyFault(url, 'url', { ...HOOK, url }));
const BAD_EVENT_TYPE = [bodyFault('an unknown event type', 'eventType', { ...HOOK, eventType: 'BotsDetected' })];

const BAD_FORMAT: Refusal[] = [
  { with: 'an unknown format', field: 'format', query: 'format=xlsx' },
  { with: 'format twice', field: 'format', query: 'format=csv&format=csv' },
];

const OF_NO_WEBHOOK: Refusal[] = [
  ...unknown('deliveryId'),
  ...unknown('id'),
  {
    with: 'the delivery of another subscription',
    ids: ({ disabledDeliveryId }) => ({ deliveryId: disabledDeliveryId }),
  },
];

/** The documented codes of every operation, without the universal ones. */
export const REFUSALS: Record<string, Partial<Record<ErrorCode, Refusal[]>>> = {
  listSessions: {
    INVALID_REQUEST: [
      ...BAD_PAGE,
      { with: 'pageSize=0', field: 'pageSize', query: 'pageSize=0' },
      { with: 'pageSize twice', field: 'pageSize', query: 'pageSize=1&pageSize=1' },
      { with: 'an impossible date', field: 'startDate', query: 'startDate=2026-02-30' },
      { with: 'an end before the start', field: 'endDate', query: 'startDate=2026-01-02&endDate=2026-01-01' },
      { with: 'an unknown status', field: 'status', query: 'status=Open' },
      { with: 'a score over 1', field: 'minBotScore', query: 'minBotScore=1.01' },
      { with: 'scores the wrong way round', field: 'maxBotScore', query: 'minBotScore=0.5&maxBotScore=0.4' },
    ],
  },
  getSession: { INVALID_REQUEST: badPath('sessionId'), NOT_FOUND: unknown('sessionId') },
  getSessionDetails: { INVALID_REQUEST: badPath('sessionId'), NOT_FOUND: unknown('sessionId') },
  getSessionEvidence: { INVALID_REQUEST: badPath('sessionId'), NOT_FOUND: unknown('sessionId') },
  listSessionEvents: { INVALID_REQUEST: [...badPath('sessionId'), ...BAD_PAGE], NOT_FOUND: unknown('sessionId') },
  labelSession: {
    INVALID_REQUEST: badPath('sessionId'),
    INVALID_BODY: [
      ...NO_BODY,
      bodyFault('no verdict', 'verdict', { confidence: 'high' }),
      bodyFault('an unknown verdict', 'verdict', { verdict: 'robot' }),
      bodyFault('an unknown confidence', 'confidence', { verdict: 'bot', confidence: 'sure' }),
      bodyFault('notes of 1001 characters', 'notes', { verdict: 'bot', notes: 'x'.repeat(1001) }),
    ],
    NOT_FOUND: unknown('sessionId'),
  },
  listUsers: { INVALID_REQUEST: BAD_PAGE },
  eraseUser: {
    INVALID_REQUEST: badPath('userId'),
    UNSUPPORTED_OPERATION: [{ with: 'the id of a user who was erased', ids: { userId: `erased-${'0'.repeat(32)}` } }],
  },
  getUserErasure: { INVALID_REQUEST: badPath('receiptId'), NOT_FOUND: unknown('receiptId') },
  exportUser: { INVALID_REQUEST: badPath('userId'), NOT_FOUND: unknown('userId') },
  listUserSessions: { INVALID_REQUEST: [...badPath('userId'), ...BAD_PAGE], NOT_FOUND: unknown('userId') },
  confirmDevice: {
    INVALID_REQUEST: [...badPath('userId'), ...badPath('fingerprint')],
    // The body is optional, but a body that is sent must be valid.
    INVALID_BODY: [
      { with: 'text', field: 'body', call: { body: '{}', headers: { 'content-type': 'text/plain' } } },
      bodyFault('a number as notes', 'notes', { notes: 1 }),
    ],
    UNSUPPORTED_OPERATION: [{ with: 'a user who was erased', ids: { userId: ERASED_USER_ID } }],
  },
  listCourses: { INVALID_REQUEST: BAD_PAGE },
  listAuditEntries: { INVALID_REQUEST: BAD_PAGE },
  exportSessions: {
    INVALID_REQUEST: [
      ...BAD_FORMAT,
      { with: 'an unknown status', field: 'status', query: 'status=Open' },
      { with: 'an end before the start', field: 'endDate', query: 'startDate=2026-01-02&endDate=2026-01-01' },
    ],
  },
  exportUsers: { INVALID_REQUEST: BAD_FORMAT },
  exportWebhookEvents: {
    INVALID_REQUEST: [...BAD_FORMAT, { with: 'an unknown order', field: 'sort', query: 'sort=up' }],
  },
  exportAuditEntries: { INVALID_REQUEST: BAD_FORMAT },
  getAnalytics: {
    INVALID_REQUEST: [
      { with: 'an unknown period', field: 'period', query: 'period=1y' },
      { with: 'an unknown bucket', field: 'groupBy', query: 'groupBy=month' },
      { with: 'groupBy twice', field: 'groupBy', query: 'groupBy=day&groupBy=day' },
    ],
    UNSUPPORTED_OPERATION: [{ with: '24 hours by week', query: 'period=24h&groupBy=week' }],
  },
  getUsage: {
    // contract-effects.test.ts tests its range.
    INVALID_REQUEST: [{ with: 'an impossible date', field: 'startDate', query: 'startDate=2026-02-30' }],
  },
  updateRiskThresholds: { INVALID_BODY: [...NO_BODY, ...BAD_THRESHOLDS] },
  createWebhook: {
    INVALID_REQUEST: [
      { with: 'an empty key', field: 'Idempotency-Key', call: { body: HOOK, headers: { 'idempotency-key': '' } } },
    ],
    INVALID_BODY: [
      ...NO_BODY,
      ...BAD_HOOK,
      bodyFault('no url', 'url', { eventType: 'BotDetected' }),
      bodyFault('no eventType', 'eventType', { url: HOOK.url }),
    ],
    INVALID_URL: BAD_URL,
    INVALID_EVENT_TYPE: BAD_EVENT_TYPE,
    PLAN_LIMIT_REACHED: [{ with: 'the one slot of pro taken', plan: 'pro', call: { body: HOOK } }],
  },
  getWebhook: { INVALID_REQUEST: badPath('id'), NOT_FOUND: unknown('id') },
  updateWebhook: {
    INVALID_REQUEST: badPath('id'),
    INVALID_BODY: [...NO_BODY, ...BAD_HOOK, bodyFault('null as name', 'name', { name: null })],
    INVALID_URL: BAD_URL.slice(0, 1),
    INVALID_EVENT_TYPE: BAD_EVENT_TYPE,
    NOT_FOUND: unknown('id'),
    PLAN_LIMIT_REACHED: [
      {
        with: 'the one slot of pro taken',
        plan: 'pro',
        ids: ({ disabledWebhookId }) => ({ id: disabledWebhookId }),
        call: { body: { enabled: true } },
      },
    ],
  },
  deleteWebhook: { INVALID_REQUEST: badPath('id'), NOT_FOUND: unknown('id') },
  rotateWebhookSecret: {
    INVALID_REQUEST: badPath('id'),
    INVALID_BODY: [
      { with: 'text', field: 'body', call: { body: '{}', headers: { 'content-type': 'text/plain' } } },
      ...[-1, 604_801, 1.5, '60', null].map((seconds) =>
        bodyFault(`${JSON.stringify(seconds)} as a grace period`, 'gracePeriodSeconds', {
          gracePeriodSeconds: seconds,
        }),
      ),
    ],
    NOT_FOUND: unknown('id'),
  },
  testWebhook: { INVALID_REQUEST: badPath('id'), NOT_FOUND: unknown('id') },
  listWebhookEvents: {
    INVALID_REQUEST: [
      ...BAD_PAGE,
      { with: 'an unknown event type', field: 'eventType', query: 'eventType=BotsDetected' },
      { with: 'an unknown order', field: 'sort', query: 'sort=up' },
      { with: 'an end before the start', field: 'endDate', query: 'startDate=2026-01-02&endDate=2026-01-01' },
    ],
  },
  getWebhookEvent: { INVALID_REQUEST: badPath('eventId'), NOT_FOUND: unknown('eventId') },
  listWebhookDeliveries: {
    INVALID_REQUEST: [
      ...badPath('id'),
      ...BAD_PAGE,
      { with: 'an unknown status', field: 'status', query: 'status=Lost' },
      { with: 'an end before the start', field: 'endDate', query: 'startDate=2026-01-02&endDate=2026-01-01' },
    ],
    NOT_FOUND: unknown('id'),
  },
  getWebhookDelivery: { INVALID_REQUEST: [...badPath('id'), ...badPath('deliveryId')], NOT_FOUND: OF_NO_WEBHOOK },
  resendWebhookDelivery: {
    INVALID_REQUEST: [...badPath('id'), ...badPath('deliveryId')],
    NOT_FOUND: OF_NO_WEBHOOK,
    UNSUPPORTED_OPERATION: [
      {
        with: 'a disabled subscription',
        ids: ({ disabledWebhookId, disabledDeliveryId }) => ({ id: disabledWebhookId, deliveryId: disabledDeliveryId }),
      },
    ],
  },
  recoverWebhookDeliveries: {
    INVALID_REQUEST: badPath('id'),
    INVALID_BODY: [
      ...NO_BODY,
      bodyFault('no startDate', 'startDate', {}),
      bodyFault('an impossible date', 'startDate', { startDate: '2026-02-30' }),
      bodyFault('an end before the start', 'endDate', { startDate: '2026-01-02', endDate: '2026-01-01' }),
      bodyFault('includeSkipped in quotes', 'includeSkipped', { startDate: '2026-01-02', includeSkipped: 'true' }),
    ],
    NOT_FOUND: unknown('id'),
    UNSUPPORTED_OPERATION: [
      { with: 'a disabled subscription', ids: ({ disabledWebhookId }) => ({ id: disabledWebhookId }) },
    ],
  },
};

/** A fault on our side, made in the database, and its repair. */
export interface Fault {
  damage: string;
  repair: string;
  /** Whether the fault strikes before the caller is known. */
  isInLookUp?: boolean;
}

const missing = (table: string): Fault => ({
  damage: `alter table ${table} rename to ${table}_away`,
  repair: `alter table ${table}_away rename to ${table}`,
});

/** Faults that make every operation fail with INTERNAL_ERROR. */
export const FAULTS: Record<string, Fault> = {
  listSessions: missing('sessions'),
  getSession: missing('sessions'),
  getSessionDetails: missing('session_events'),
  getSessionEvidence: missing('session_scores'),
  listSessionEvents: missing('session_events'),
  labelSession: missing('sessions'),
  listUsers: missing('anomalies'),
  listUserSessions: missing('users'),
  eraseUser: missing('user_erasures'),
  getUserErasure: missing('user_erasures'),
  exportUser: missing('writing_scores'),
  confirmDevice: missing('device_confirmations'),
  listCourses: missing('courses'),
  listAuditEntries: missing('audit_entries'),
  exportSessions: missing('sessions'),
  exportUsers: missing('anomalies'),
  exportWebhookEvents: missing('domain_events'),
  exportAuditEntries: missing('audit_entries'),
  getAnalytics: missing('sessions'),
  getStats: missing('row_counts'),
  getUsage: missing('usage_daily'),
  getIntegration: missing('webhook_subscriptions'),
  // The look-up of the key reads everything that this route answers.
  getRiskThresholds: { ...missing('rate_windows'), isInLookUp: true },
  updateRiskThresholds: {
    damage: 'alter table integrations add constraint untouchable check (medium_at <> 20) not valid',
    repair: 'alter table integrations drop constraint untouchable',
  },
  listWebhooks: missing('webhook_subscriptions'),
  createWebhook: missing('webhook_subscriptions'),
  getWebhook: missing('webhook_subscriptions'),
  updateWebhook: missing('webhook_subscriptions'),
  deleteWebhook: missing('webhook_deliveries'),
  rotateWebhookSecret: missing('webhook_subscriptions'),
  testWebhook: missing('webhook_deliveries'),
  listWebhookEvents: missing('domain_events'),
  getWebhookEvent: missing('domain_events'),
  listWebhookDeliveries: missing('webhook_deliveries'),
  getWebhookDelivery: missing('webhook_attempts'),
  resendWebhookDelivery: missing('webhook_deliveries'),
  recoverWebhookDeliveries: missing('webhook_deliveries'),
};
