import {
  deliveryDetailsSchema,
  deliveryIdInput,
  deliveryPageSchema,
  listDeliveriesInput,
  listSkippedEventsInput,
  recoverDeliveriesInput,
  recoveredSchema,
  skippedEventPageSchema,
} from '../../contract/deliveries';
import {
  getDelivery,
  listDeliveries,
  listSkippedEvents,
  recoverDeliveries,
  resendDelivery,
} from '../webhooks/delivery-log';
import { integrationProcedure, router } from './trpc';

/** The delivery log, for staff. Not part of the public API. */
export const deliveriesRouter = router({
  list: integrationProcedure
    .input(listDeliveriesInput)
    .output(deliveryPageSchema)
    .query(({ ctx, input }) => listDeliveries(ctx.domain, input)),
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
});
