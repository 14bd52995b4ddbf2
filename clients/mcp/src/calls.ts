import {
  type Body,
  type BotDetectionClient,
  NotFoundError,
  type operations,
  type Page,
  type PostOptions,
} from 'bot-detection-client';
import { RefusedCall } from './errors.js';
import type OPERATIONS from './operations.json';
import { type Content, readFittingPage } from './results.js';
import { storeSecret } from './secret-files.js';

export type ToolId = keyof typeof OPERATIONS;

type Given<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
/** What a tool takes: path, query and body of its operation in one object. */
type Input<Id extends ToolId> = Given<operations[Id]['parameters']['path']> &
  Given<operations[Id]['parameters']['query']> &
  Given<Body<Id>>;

interface Context {
  api: BotDetectionClient;
  options: PostOptions;
  /** Replaces the API key where a text has it. */
  hide: (text: string) => string;
  /** Whether the same call was made before, and nobody knows whether it took effect. */
  isRepeat: boolean;
}

type Call<Id extends ToolId> = (context: Context, input: Input<Id>) => Promise<Content>;

const show = async (answer: Promise<unknown>): Promise<Content> => ({ data: (await answer) ?? null });

/** Smaller than the API's: a page of 50 sessions would nearly fill a result. */
export const DEFAULT_PAGE_SIZE = 20;

function showPage<Filters extends { pageSize?: number | undefined }, T>(
  { hide }: Context,
  filters: Filters,
  list: (filters: Filters) => { page(): Promise<Page<T>> },
): Promise<Content> {
  const { pageSize: wanted = DEFAULT_PAGE_SIZE } = filters;
  return readFittingPage((pageSize = wanted) => list({ ...filters, pageSize }).page(), hide);
}

/** Shows where a webhook leads. The path and query of its address can be a secret, as those of chat services are. */
function showWebhook<T extends { url: string }>(webhook: T): T {
  const { origin, pathname, search } = new URL(webhook.url);
  return { ...webhook, url: pathname === '/' && search === '' ? origin : `${origin}${HIDDEN_PATH}` };
}

const HIDDEN_PATH = '/…';

/** Returns what to change in a webhook. Throws RefusedCall for an address as results show it, to which nothing could be sent. */
function checkAddress<T extends { url?: string }>(body: T): T {
  if (body.url?.endsWith(HIDDEN_PATH))
    throw new RefusedCall(
      'INVALID_ARGUMENTS',
      'the address is shown without its path',
      'give the whole address, or leave it out',
      'url',
    );
  return body;
}

async function deleteWebhook({ api, options, isRepeat }: Context, id: string) {
  try {
    await api.webhooks.delete(id, options);
  } catch (error) {
    // The earlier call, whose answer got lost, has deleted it.
    if (!isRepeat || !(error instanceof NotFoundError)) throw error;
  }
  return { deleted: id };
}

/** How each tool calls the client. */
export const CALLS: { [Id in ToolId]: Call<Id> } = {
  getHealth: ({ api, options }) => show(api.health.get(options)),
  getIntegration: ({ api, options }) => show(api.integration.get(options)),
  getStats: ({ api, options }) => show(api.stats.get(options)),
  getAnalytics: ({ api, options }, query) => show(api.analytics.get(query, options)),
  getUsage: ({ api, options }, query) => show(api.usage.get(query, options)),
  listAuditEntries: (context, given) =>
    showPage(context, given, (filters) => context.api.auditLog.list(filters, context.options)),

  listSessions: (context, given) =>
    showPage(context, given, (filters) => context.api.sessions.list(filters, context.options)),
  getSession: ({ api, options }, { sessionId }) => show(api.sessions.get(sessionId, options)),
  getSessionDetails: ({ api, options }, { sessionId }) => show(api.sessions.getDetails(sessionId, options)),
  getSessionEvidence: ({ api, options }, { sessionId }) => show(api.sessions.getEvidence(sessionId, options)),
  listSessionEvents: (context, { sessionId, ...given }) =>
    showPage(context, given, (filters) => context.api.sessions.listEvents(sessionId, filters, context.options)),
  labelSession: ({ api, options }, { sessionId, ...label }) => show(api.sessions.label(sessionId, label, options)),

  listUsers: (context, given) =>
    showPage(context, given, (filters) => context.api.users.list(filters, context.options)),
  listUserSessions: (context, { userId, ...given }) =>
    showPage(context, given, (filters) => context.api.users.listSessions(userId, filters, context.options)),
  getUserErasure: ({ api, options }, { receiptId }) => show(api.users.getErasure(receiptId, options)),
  confirmDevice: ({ api, options }, { userId, fingerprint, ...body }) =>
    show(api.users.confirmDevice(userId, fingerprint, body, options)),
  listCourses: (context, given) =>
    showPage(context, given, (filters) => context.api.courses.list(filters, context.options)),

  getRiskThresholds: ({ api, options }) => show(api.riskThresholds.get(options)),
  updateRiskThresholds: ({ api, options }, body) => show(api.riskThresholds.update(body, options)),

  listWebhooks: ({ api, options }) => show(api.webhooks.list(options).then((webhooks) => webhooks.map(showWebhook))),
  getWebhook: ({ api, options }, { id }) => show(api.webhooks.get(id, options).then(showWebhook)),
  createWebhook: ({ api, options }, body) =>
    storeSecret(() => api.webhooks.create(checkAddress(body), options).then(showWebhook)),
  updateWebhook: ({ api, options }, { id, ...body }) =>
    show(api.webhooks.update(id, checkAddress(body), options).then(showWebhook)),
  deleteWebhook: (context, { id }) => show(deleteWebhook(context, id)),
  rotateWebhookSecret: ({ api, options }, { id, ...body }) =>
    storeSecret(() => api.webhooks.rotateSecret(id, body, options)),
  testWebhook: ({ api, options }, { id }) => show(api.webhooks.test(id, options)),
  listWebhookDeliveries: (context, { id, ...given }) =>
    showPage(context, given, (filters) => context.api.webhooks.listDeliveries(id, filters, context.options)),
  getWebhookDelivery: ({ api, options }, { id, deliveryId }) => show(api.webhooks.getDelivery(id, deliveryId, options)),
  resendWebhookDelivery: ({ api, options }, { id, deliveryId }) =>
    show(api.webhooks.resendDelivery(id, deliveryId, options)),
  recoverWebhookDeliveries: ({ api, options }, { id, ...body }) => show(api.webhooks.recover(id, body, options)),
  listWebhookEvents: (context, given) =>
    showPage(context, given, (filters) => context.api.webhookEvents.list(filters, context.options)),
  getWebhookEvent: ({ api, options }, { eventId }) => show(api.webhookEvents.get(eventId, options)),
};
