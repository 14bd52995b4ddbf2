import { expect } from 'vitest';
import type { Fixture } from '../fixture';
import { expectSigned } from '../receiver';
import { expectRecent, INSTANT, type Success } from './success';

const webhookOf = ({ ids, receiver, id }: Fixture) => ({
  id: ids.id,
  url: `${receiver.url}/${id}`,
  eventType: 'BotDetected',
  threshold: null,
  name: 'Enabled',
  enabled: true,
  createdAt: INSTANT,
  lastDeliveryAt: null,
  lastDeliveryStatus: null,
  disabledReason: null,
  disabledFailureClass: null,
});

const deliveryOf = ({ ids }: Fixture) => ({
  ...{ id: ids.deliveryId, subscriptionId: ids.id, eventId: ids.eventId, eventType: 'BotDetected', test: false },
  ...{ status: 'PermanentFailure', failureClass: '4xx', attempts: 1, resends: 0 },
  ...{ createdAt: INSTANT, nextAttemptAt: null, finishedAt: INSTANT },
});

export const WEBHOOK_SUCCESSES = {
  listWebhooks: {
    status: 200,
    check: ({ body }, fixture) =>
      expect(body).toEqual({
        data: [
          { ...webhookOf(fixture), id: fixture.disabledWebhookId, name: 'Disabled', enabled: false },
          webhookOf(fixture),
        ],
        pagination: { hasMore: false, limit: 100 },
      }),
  },
  createWebhook: {
    status: 200,
    body: ({ receiver }) => ({
      url: `${receiver.url}/created`,
      eventType: 'sessionanomaly',
      threshold: { field: 'metadata.otherUserCount', operator: 'GTE', value: '3' },
      name: 'Anomalies',
      enabled: false,
    }),
    async check({ body: { data } }, { receiver, get, ids }) {
      const { secret, ...webhook } = data;
      expect(webhook).toEqual({
        id: expect.stringMatching(/^whk_/),
        url: `${receiver.url}/created`,
        eventType: 'SessionAnomaly',
        threshold: { field: 'metadata.otherUserCount', operator: 'gte', value: '3' },
        name: 'Anomalies',
        enabled: false,
        createdAt: INSTANT,
        lastDeliveryAt: null,
        lastDeliveryStatus: null,
        disabledReason: null,
        disabledFailureClass: null,
      });
      expect(webhook.id).not.toBe(ids.id);
      expectRecent(webhook.createdAt);
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const found = await get(`/v1/webhooks/${webhook.id}`);
      expect(found.body).toEqual({ data: webhook });
    },
  },
  getWebhook: {
    status: 200,
    check: ({ body }, fixture) => expect(body).toEqual({ data: webhookOf(fixture) }),
  },
  updateWebhook: {
    status: 200,
    body: ({ receiver }) => ({
      url: `${receiver.url}/moved`,
      name: 'Moved',
      enabled: false,
      threshold: { field: 'botScore', operator: 'gt', value: 0.9 },
    }),
    async check({ body }, fixture) {
      const { receiver, ids, get } = fixture;
      const expected = {
        ...webhookOf(fixture),
        url: `${receiver.url}/moved`,
        name: 'Moved',
        enabled: false,
        threshold: { field: 'botScore', operator: 'gt', value: 0.9 },
      };
      expect(body).toEqual({ data: expected });
      expect((await get(`/v1/webhooks/${ids.id}`)).body).toEqual(body);
      expect((await get('/v1/integration')).body.data.webhooks.active).toBe(0);
    },
  },
  deleteWebhook: {
    status: 204,
    async check({ text }, { ids, get, call, disabledWebhookId }) {
      expect(text).toBe('');
      expect((await get(`/v1/webhooks/${ids.id}`)).status).toBe(404);
      expect((await call('DELETE', `/v1/webhooks/${ids.id}`)).status).toBe(404);
      const { data } = (await get('/v1/webhooks')).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([disabledWebhookId]);
    },
  },
  rotateWebhookSecret: {
    status: 200,
    async check({ body: { data } }, { ids, call, receiver, secret }) {
      expect(data).toEqual({
        id: ids.id,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        rotatedAt: INSTANT,
      });
      expectRecent(data.rotatedAt);
      expect(data.secret).not.toBe(secret);
      await call('POST', `/v1/webhooks/${ids.id}/test`);
      expectSigned(receiver.received.at(-1)!, data.secret);
      expect(() => expectSigned(receiver.received.at(-1)!, secret)).toThrow();
    },
  },
  testWebhook: {
    status: 200,
    check({ body: { data } }, { ids, receiver, secret }) {
      expect(data).toEqual({
        deliveryId: expect.stringMatching(/^dlv_/),
        status: 'Delivered',
        responseCode: 200,
        errorClass: null,
        attempts: 1,
      });
      const delivery = receiver.received.at(-1)!;
      expect(delivery.headers).toMatchObject({
        'x-webhook-id': ids.id,
        'x-webhook-delivery-id': data.deliveryId,
        'x-webhook-test': 'true',
      });
      expectSigned(delivery, secret);
    },
  },
  listWebhookEvents: {
    status: 200,
    query: 'sort=newest&pageSize=1&eventType=BotDetected',
    async check({ body }, { ids, get, botSessionId }) {
      expect(body).toEqual({
        data: [expect.objectContaining({ id: ids.eventId })],
        pagination: { hasMore: false, limit: 1 },
      });
      expect((await get(`/v1/webhook-events?sessionId=${botSessionId}&eventType=BotDetected`)).body.data).toEqual(
        body.data,
      );
      const { data } = (await get('/v1/webhook-events')).body;
      expect(data.map(({ eventType }: { eventType: string }) => eventType)).toEqual(
        expect.arrayContaining(['BotDetected', 'SessionAnomaly', 'SessionCorrelated']),
      );
    },
  },
  getWebhookEvent: {
    status: 200,
    check({ body: { data } }, { ids, botSessionId, disabledWebhookId, disabledDeliveryId }) {
      const failed = { outcome: 'failed', reason: null, status: 'PermanentFailure' };
      expect(data).toEqual({
        id: ids.eventId,
        eventType: 'BotDetected',
        createdAt: INSTANT,
        payload: expect.stringContaining(botSessionId),
        outcomes: expect.arrayContaining([
          { ...failed, subscriptionId: ids.id, deliveryId: ids.deliveryId },
          { ...failed, subscriptionId: disabledWebhookId, deliveryId: disabledDeliveryId },
        ]),
      });
      expect(data.outcomes).toHaveLength(2);
      expectRecent(data.createdAt);
    },
  },
  listWebhookDeliveries: {
    status: 200,
    query: 'status=PERMANENTFAILURE&sort=oldest',
    async check({ body }, fixture) {
      expect(body).toEqual({ data: [deliveryOf(fixture)], pagination: { hasMore: false, limit: 50 } });
      expect((await fixture.get(`/v1/webhooks/${fixture.ids.id}/deliveries?status=Delivered`)).body.data).toEqual([]);
    },
  },
  getWebhookDelivery: {
    status: 200,
    check: ({ body: { data } }, fixture) =>
      expect(data).toEqual({
        ...deliveryOf(fixture),
        payload: expect.stringContaining(fixture.botSessionId),
        attemptLog: [
          {
            ...{ resend: 0, attempt: 1, startedAt: INSTANT, durationMs: 84, httpStatus: 404, failureClass: '4xx' },
            ...{ address: '203.0.113.7', retryAfter: null, errorCode: 'HTTP_404' },
          },
        ],
      }),
  },
  // Not every server under test has an engine that sends: tests/delivery/delivery-log.test.ts waits for the arrival.
  resendWebhookDelivery: {
    status: 200,
    async check({ body: { data } }, { ids, get }) {
      expect(data).toMatchObject({ id: ids.deliveryId, attempts: 0, resends: 1, finishedAt: null });
      const { attemptLog } = (await get(`/v1/webhooks/${ids.id}/deliveries/${ids.deliveryId}`)).body.data;
      expect(attemptLog[0]).toMatchObject({ resend: 0 });
    },
  },
  recoverWebhookDeliveries: {
    status: 200,
    body: () => ({ startDate: '2026-01-01', includeSkipped: true }),
    check: ({ body: { data } }) => expect(data).toEqual({ recovered: 1, skippedSent: 0, hasMore: false }),
  },
} satisfies Record<string, Success>;
