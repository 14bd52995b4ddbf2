import {
  listWebhookEventsInput,
  webhookEventIdInput,
  webhookEventPageSchema,
  webhookEventSchema,
} from '../../contract/webhook-events';
import { getWebhookEvent, listWebhookEvents } from '../webhooks/event-record';
import { integrationProcedure, router } from './trpc';

const tags = ['Webhooks'];

export const webhookEventsRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhook-events',
        operationId: 'listWebhookEvents',
        tags,
        summary: 'List webhook events',
        description:
          'The record of all webhook events, also of those that no subscription was for: each with its payload and what became of it for each subscription. Oldest first, a client that keeps its cursor gets each event exactly once. A page examines at most 10,000 events, so with filters it may be short or empty while `hasMore` is true.',
      },
    })
    .input(listWebhookEventsInput)
    .output(webhookEventPageSchema)
    .query(({ ctx, input }) => listWebhookEvents(ctx.domain, input)),

  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhook-events/{eventId}',
        operationId: 'getWebhookEvent',
        tags,
        summary: 'Get a webhook event',
        description: 'One event, with its payload and what became of it for each subscription.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(webhookEventIdInput)
    .output(webhookEventSchema)
    .query(({ ctx, input }) => getWebhookEvent(ctx.domain, input)),
});
