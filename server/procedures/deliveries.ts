import {
  deliveryDetailsSchema,
  deliveryIdInput,
  deliveryPageSchema,
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
import { getDelivery, listDeliveries, recoverDeliveries, resendDelivery } from '../webhooks/delivery-log';
import { countSkippedEvents, listSkippedEvents, sendSkippedEvents } from '../webhooks/skipped-events';
import { integrationProcedure, router } from './trpc';

/** The delivery log, for staff. Not part of the public API. */
export const deliveriesRouter = router({
  list: integrationProcedure
    .input(listDeliveriesInput)
    .output(deliveryPageSchema)
    .query(({ ctx, input }) => listDeliveries(ctx.domain, input)),
  count: integrationProcedure
    .input(countDeliveriesInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countDeliveries(ctx.domain, input)),
  get: integrationProcedure
    .input(deliveryIdInput)
    .output(deliveryDetailsSchema)
    .query(({ ctx, input }) => getDelivery(ctx.domain, input)),
  resend: integrationProcedure
    .input(deliveryIdInput)
    .output(deliveryDetailsSchema)
    .mutation(({ ctx, input }) => resendDelivery(ctx.domain, input)),
  recover: integrationProcedure
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
