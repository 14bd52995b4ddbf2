import { z } from 'zod';
import { troubledWebhooksSchema, webhookStateSchema } from '../../contract/webhook-states';
import { countTroubledWebhooks, listWebhookStates } from '../webhooks/webhook-states';
import { integrationProcedure, router } from './trpc';

/** How subscriptions are doing, for staff. Not part of the public API. */
export const webhookStatesRouter = router({
  list: integrationProcedure.output(z.array(webhookStateSchema)).query(({ ctx }) => listWebhookStates(ctx.domain)),
  /** For the menu of every page. */
  count: integrationProcedure.output(troubledWebhooksSchema).query(({ ctx }) => countTroubledWebhooks(ctx.domain)),
});
