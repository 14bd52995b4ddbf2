import { z } from 'zod';
import {
  apiKeySchema,
  createIntegrationInput,
  integrationEntrySchema,
  keyIdInput,
  mintedKeySchema,
  mintKeyInput,
  planPreviewSchema,
  revokedKeySchema,
  setPlanInput,
} from '../../contract/integrations';
import { listKeys, mintKey, revokeKey } from '../domain/api-keys';
import { createIntegration, listIntegrationEntries } from '../domain/integrations';
import { previewPlan, setIntegrationPlan } from '../webhooks/plans';
import { adminProcedure, integrationAdminProcedure, integrationProcedure, router, staffProcedure } from './trpc';

/** The integrations of the stack, for staff. Not part of the public API. */
export const integrationsRouter = router({
  list: staffProcedure
    .output(z.array(integrationEntrySchema))
    .query(({ ctx }) => listIntegrationEntries(ctx.db, ctx.region)),
  create: adminProcedure
    .input(createIntegrationInput)
    .output(z.object({ id: z.string() }))
    .mutation(({ ctx, input }) => createIntegration(ctx.audited, input)),
  previewPlan: adminProcedure
    .input(setPlanInput)
    .output(planPreviewSchema)
    .query(({ ctx, input }) => previewPlan({ db: ctx.db, quotas: ctx.service.env.quotas }, input)),
  setPlan: adminProcedure
    .input(setPlanInput)
    .output(setPlanInput)
    .mutation(({ ctx, input }) => setIntegrationPlan(ctx.audited, input)),
});

/** The keys of an integration, for staff. */
export const apiKeysRouter = router({
  list: integrationProcedure.output(z.array(apiKeySchema)).query(({ ctx }) => listKeys(ctx.domain)),
  mint: integrationAdminProcedure
    .input(mintKeyInput)
    .output(mintedKeySchema)
    .mutation(({ ctx, input }) => mintKey(ctx.domain, { ...input, integrationId: ctx.domain.integration.id })),
  revoke: integrationAdminProcedure
    .input(keyIdInput)
    .output(revokedKeySchema)
    .mutation(({ ctx, input }) => revokeKey(ctx.domain, { ...input, integrationId: ctx.domain.integration.id })),
});
