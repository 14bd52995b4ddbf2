import {
  deliveryDetailsSchema,
  deliveryIdInput,
  deliveryOfWebhookInput,
  deliveryPageSchema,
  inspectedDeliverySchema,
  listDeliveriesInput,
  listSkippedEventsInput,
  recoverDeliveriesInput,
  recoveredSchema,
  sentSkippedSchema,
  skippedCountSchema,
  skippedEventPageSchema,
} from '../../contract/deliveries';
import { countDeliveriesInput, totalSchema } from '../../contract/totals';
import { webhookIdInput } from '../../contract/webhooks';
import { countDeliveries } from '../domain/totals';
import {
  getDelivery,
  getWebhookDelivery,
  listDeliveries,
  resendDelivery,
  resendWebhookDelivery,
} from '../webhooks/delivery-log';
import { recoverDeliveries } from '../webhooks/recovery';
import { countSkippedEvents, listSkippedEvents, sendSkippedEvents } from '../webhooks/skipped-events';
import { integrationProcedure, router } from './trpc';

const tags = ['Webhooks'];

/** The delivery log. Staff see more of a delivery than customers: the signed request, and what the receiver answered. */
export const deliveriesRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhooks/{id}/deliveries',
        operationId: 'listWebhookDeliveries',
        tags,
        summary: 'List the deliveries of a subscription',
        description:
          'The delivery log, with test deliveries: what is pending, and what ended within 30 days. Stays readable for a deleted subscription.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(listDeliveriesInput)
    .output(deliveryPageSchema)
    .query(({ ctx, input }) => listDeliveries(ctx.domain, input)),
  count: integrationProcedure
    .input(countDeliveriesInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countDeliveries(ctx.domain, input)),
  getOfWebhook: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhooks/{id}/deliveries/{deliveryId}',
        operationId: 'getWebhookDelivery',
        tags,
        summary: 'Get a delivery',
        description: 'One delivery, with its payload and all attempts.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(deliveryOfWebhookInput)
    .output(deliveryDetailsSchema)
    .query(({ ctx, input }) => getWebhookDelivery(ctx.domain, input)),
  get: integrationProcedure
    .input(deliveryIdInput)
    .output(inspectedDeliverySchema)
    .query(({ ctx, input }) => getDelivery(ctx.domain, input)),
  resendOfWebhook: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/webhooks/{id}/deliveries/{deliveryId}/resend',
        operationId: 'resendWebhookDelivery',
        tags,
        summary: 'Send a delivery again',
        description:
          'Sends a finished delivery again, delivered or not, under the same id and with six new attempts. Refused while it is pending, for a test delivery, if the subscription is disabled or deleted, and after 1,000 times.',
      },
      scope: 'webhooks:write',
      errors: ['NOT_FOUND', 'UNSUPPORTED_OPERATION'],
    })
    .input(deliveryOfWebhookInput)
    .output(deliveryDetailsSchema)
    .mutation(({ ctx, input }) => resendWebhookDelivery(ctx.domain, input)),
  resend: integrationProcedure
    .input(deliveryIdInput)
    .output(inspectedDeliverySchema)
    .mutation(({ ctx, input }) => resendDelivery(ctx.domain, input)),
  recover: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/webhooks/{id}/recover',
        operationId: 'recoverWebhookDeliveries',
        tags,
        summary: 'Recover missed deliveries',
        description:
          'Sends all failed deliveries again whose event fired within [startDate, endDate), each under its own id; with `includeSkipped` also the events of the last 30 days that were skipped only because the subscription was disabled, each as a new delivery. Refused if the subscription is disabled or deleted.',
      },
      scope: 'webhooks:write',
      isLong: true,
      errors: ['NOT_FOUND', 'UNSUPPORTED_OPERATION'],
    })
    .input(recoverDeliveriesInput)
    .output(recoveredSchema)
    .mutation(({ ctx, input }) => recoverDeliveries(ctx.domain, input)),
  listSkipped: integrationProcedure
    .input(listSkippedEventsInput)
    .output(skippedEventPageSchema)
    .query(({ ctx, input }) => listSkippedEvents(ctx.domain, input)),
  countSkipped: integrationProcedure
    .input(webhookIdInput)
    .output(skippedCountSchema)
    .query(({ ctx, input }) => countSkippedEvents(ctx.domain, input)),
  sendSkipped: integrationProcedure
    .input(webhookIdInput)
    .output(sentSkippedSchema)
    .mutation(({ ctx, input }) => sendSkippedEvents(ctx.domain, input)),
});
