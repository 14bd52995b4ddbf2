import { SecretLostError } from './errors.js';
import { makeExports } from './exports.js';
import type { Body, Data, Filters, PostOptions, RequestOptions, Schemas } from './operations.js';
import type { PagedList } from './pages.js';
import { encodePath, type Transport } from './transport.js';

/**
 * Makes the methods of the client, by resource. Lists with a cursor return a PagedList, exports a stream, all others the content of
 * `data`.
 */
export const createResources = (api: Transport) => ({
  sessions: {
    /** Lists sessions, newest first. */
    list(filters?: Filters<'listSessions'>, options?: RequestOptions): PagedList<Schemas['Session']> {
      return api.list('/v1/sessions', filters, options);
    },
    /** Gets a session. */
    async get(sessionId: string, options?: RequestOptions): Promise<Data<'getSession'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/sessions/${sessionId}`, options });
    },
    /** Gets a session with what is known of its pages, device and network. */
    async getDetails(sessionId: string, options?: RequestOptions): Promise<Data<'getSessionDetails'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/sessions/${sessionId}/details`, options });
    },
    /** Gets why a session has its score. */
    async getEvidence(sessionId: string, options?: RequestOptions): Promise<Data<'getSessionEvidence'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/sessions/${sessionId}/evidence`, options });
    },
    /** Lists what happened in a session, oldest first. */
    listEvents(
      sessionId: string,
      filters?: Filters<'listSessionEvents'>,
      options?: RequestOptions,
    ): PagedList<Schemas['SessionEvent']> {
      return api.list(encodePath`/v1/sessions/${sessionId}/events`, filters, options);
    },
    /** Says what a session really was. A new label replaces the old one. */
    async label(sessionId: string, label: Body<'labelSession'>, options?: PostOptions): Promise<Data<'labelSession'>> {
      return api.read({ method: 'POST', path: encodePath`/v1/sessions/${sessionId}/label`, body: label, options });
    },
  },

  users: {
    /** Lists the users to whom sessions are correlated. */
    list(filters?: Filters<'listUsers'>, options?: RequestOptions): PagedList<Schemas['User']> {
      return api.list('/v1/users', filters, options);
    },
    /** Lists a user's sessions, newest first. */
    listSessions(
      userId: string,
      filters?: Filters<'listUserSessions'>,
      options?: RequestOptions,
    ): PagedList<Schemas['Session']> {
      return api.list(encodePath`/v1/users/${userId}/sessions`, filters, options);
    },
    /** Says that a user may use a device. The pair then causes no more anomalies. */
    async confirmDevice(
      userId: string,
      fingerprint: string,
      body?: Body<'confirmDevice'>,
      options?: PostOptions,
    ): Promise<Data<'confirmDevice'>> {
      const path = encodePath`/v1/users/${userId}/devices/${fingerprint}/confirm`;
      return api.read({ method: 'POST', path, body, options });
    },
    /** Erases a user for good. Ask for the receipt until its `status` is `Completed`. */
    async erase(userId: string, options?: RequestOptions): Promise<Data<'eraseUser'>> {
      return api.read({ method: 'DELETE', path: encodePath`/v1/users/${userId}`, options });
    },
    /** Gets the receipt of an erasure. */
    async getErasure(receiptId: string, options?: RequestOptions): Promise<Data<'getUserErasure'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/user-erasures/${receiptId}`, options });
    },
    /** Gets everything that is held about a user. */
    async export(userId: string, options?: RequestOptions): Promise<Data<'exportUser'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/users/${userId}/export`, options, isLong: true });
    },
  },

  courses: {
    /** Lists courses with their counts. */
    list(filters?: Filters<'listCourses'>, options?: RequestOptions): PagedList<Schemas['Course']> {
      return api.list('/v1/courses', filters, options);
    },
  },

  analytics: {
    /** Gets counts of a period, also over time. */
    async get(query?: Filters<'getAnalytics'>, options?: RequestOptions): Promise<Data<'getAnalytics'>> {
      return api.read({ method: 'GET', path: '/v1/analytics', query, options });
    },
  },

  stats: {
    /** Gets counts of everything that is stored. */
    async get(options?: RequestOptions): Promise<Data<'getStats'>> {
      return api.read({ method: 'GET', path: '/v1/stats', options });
    },
  },

  usage: {
    /** Gets how many requests were made and deliveries sent, by day. */
    async get(query?: Filters<'getUsage'>, options?: RequestOptions): Promise<Data<'getUsage'>> {
      return api.read({ method: 'GET', path: '/v1/usage', query, options });
    },
  },

  riskThresholds: {
    /** Gets from which score, in hundredths, a session counts as `medium` and as `bot`. */
    async get(options?: RequestOptions): Promise<Data<'getRiskThresholds'>> {
      return api.read({ method: 'GET', path: '/v1/settings/risk-thresholds', options });
    },
    /** Sets both thresholds. */
    async update(body: Body<'updateRiskThresholds'>, options?: RequestOptions): Promise<Data<'updateRiskThresholds'>> {
      return api.read({ method: 'PUT', path: '/v1/settings/risk-thresholds', body, options });
    },
  },

  webhooks: {
    /** Gets all subscriptions. */
    async list(options?: RequestOptions): Promise<Data<'listWebhooks'>> {
      return api.read({ method: 'GET', path: '/v1/webhooks', options });
    },
    /** Creates a subscription. Store its `secret`: it is never shown again. Throws SecretLostError if it got lost. */
    async create(body: Body<'createWebhook'>, options?: PostOptions): Promise<Data<'createWebhook'>> {
      const call = { method: 'POST', path: '/v1/webhooks', body, options } as const;
      return requireSecret(await api.read<Data<'createWebhook'>>(call));
    },
    /** Gets a subscription. */
    async get(webhookId: string, options?: RequestOptions): Promise<Data<'getWebhook'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/webhooks/${webhookId}`, options });
    },
    /** Changes the fields that are given. */
    async update(
      webhookId: string,
      body: Body<'updateWebhook'>,
      options?: RequestOptions,
    ): Promise<Data<'updateWebhook'>> {
      return api.read({ method: 'PATCH', path: encodePath`/v1/webhooks/${webhookId}`, body, options });
    },
    /** Deletes a subscription. */
    async delete(webhookId: string, options?: RequestOptions): Promise<void> {
      return api.request({ method: 'DELETE', path: encodePath`/v1/webhooks/${webhookId}`, options }, null);
    },
    /**
     * Makes a new secret. For `gracePeriodSeconds` deliveries are signed with the old one too; without it the old one ends at
     * once. Throws SecretLostError if the new one got lost.
     */
    async rotateSecret(
      webhookId: string,
      body?: Body<'rotateWebhookSecret'>,
      options?: PostOptions,
    ): Promise<Data<'rotateWebhookSecret'>> {
      const path = encodePath`/v1/webhooks/${webhookId}/rotate-secret`;
      return requireSecret(await api.read<Data<'rotateWebhookSecret'>>({ method: 'POST', path, body, options }));
    },
    /** Sends a test delivery and returns its outcome, after 30 seconds at most. */
    async test(webhookId: string, options?: PostOptions): Promise<Data<'testWebhook'>> {
      return api.read({ method: 'POST', path: encodePath`/v1/webhooks/${webhookId}/test`, options });
    },
    /** Lists the deliveries of a subscription. */
    listDeliveries(
      webhookId: string,
      filters?: Filters<'listWebhookDeliveries'>,
      options?: RequestOptions,
    ): PagedList<Schemas['WebhookDelivery']> {
      return api.list(encodePath`/v1/webhooks/${webhookId}/deliveries`, filters, options);
    },
    /** Gets a delivery with its attempts. */
    async getDelivery(
      webhookId: string,
      deliveryId: string,
      options?: RequestOptions,
    ): Promise<Data<'getWebhookDelivery'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/webhooks/${webhookId}/deliveries/${deliveryId}`, options });
    },
    /** Sends a finished delivery again. */
    async resendDelivery(
      webhookId: string,
      deliveryId: string,
      options?: PostOptions,
    ): Promise<Data<'resendWebhookDelivery'>> {
      const path = encodePath`/v1/webhooks/${webhookId}/deliveries/${deliveryId}/resend`;
      return api.read({ method: 'POST', path, options });
    },
    /** Sends again what failed in a window, or was skipped. Call it again while `hasMore` is true. */
    async recover(
      webhookId: string,
      body: Body<'recoverWebhookDeliveries'>,
      options?: PostOptions,
    ): Promise<Data<'recoverWebhookDeliveries'>> {
      return api.read({ method: 'POST', path: encodePath`/v1/webhooks/${webhookId}/recover`, body, options });
    },
  },

  webhookEvents: {
    /** Lists every event that fired. A walk with `sort: 'oldest'` gets each exactly once; keep its cursor. */
    list(filters?: Filters<'listWebhookEvents'>, options?: RequestOptions): PagedList<Schemas['WebhookEvent']> {
      return api.list('/v1/webhook-events', filters, options);
    },
    /** Gets an event, and what became of it. */
    async get(eventId: string, options?: RequestOptions): Promise<Data<'getWebhookEvent'>> {
      return api.read({ method: 'GET', path: encodePath`/v1/webhook-events/${eventId}`, options });
    },
  },

  integration: {
    /** Gets the integration of the key. */
    async get(options?: RequestOptions): Promise<Data<'getIntegration'>> {
      return api.read({ method: 'GET', path: '/v1/integration', options });
    },
  },

  auditLog: {
    /** Lists who changed the integration, newest first. */
    list(filters?: Filters<'listAuditEntries'>, options?: RequestOptions): PagedList<Schemas['AuditEntry']> {
      return api.list('/v1/audit-log', filters, options);
    },
  },

  exports: makeExports(api),

  health: {
    /** Gets whether the service answers, and its version. */
    async get(options?: RequestOptions): Promise<Schemas['Health']> {
      return api.request({ method: 'GET', path: '/health', options }, 'status');
    },
  },
});

/** In the answer of a repeat the secret is empty, because it is shown once. */
function requireSecret<T extends { id: string; secret: string }>(answer: T): T {
  if (answer.secret === '') throw new SecretLostError(answer.id);
  return answer;
}
