import { z } from 'zod';
import {
  allowedOriginsSchema,
  collectingSchema,
  createdSiteSchema,
  createSiteInput,
  identitySecretSchema,
  privacyControlInput,
  revokedSiteSchema,
  setOriginsInput,
  siteIdInput,
  siteSchema,
  unsignedUsersInput,
} from '../../contract/sites';
import {
  getCollecting,
  rotateIdentitySecret,
  setAllowedOrigins,
  setPrivacyControl,
  setUnsignedUsers,
} from '../domain/collecting';
import { createSite, listSites, revokeSite } from '../domain/sites';
import { integrationAdminProcedure, integrationProcedure, router } from './trpc';

/** The sites of an integration and what holds for all of them, for staff. Not part of the public API. */
export const sitesRouter = router({
  list: integrationProcedure
    .output(z.array(siteSchema))
    .query(({ ctx }) => listSites(ctx.domain.db, ctx.domain.integration.id)),
  create: integrationAdminProcedure
    .input(createSiteInput)
    .output(createdSiteSchema)
    .mutation(({ ctx, input }) => createSite(ctx.domain, { ...input, integrationId: ctx.domain.integration.id })),
  revoke: integrationAdminProcedure
    .input(siteIdInput)
    .output(revokedSiteSchema)
    .mutation(({ ctx, input }) => revokeSite(ctx.domain, { ...input, integrationId: ctx.domain.integration.id })),
  getCollecting: integrationProcedure.output(collectingSchema).query(({ ctx }) => getCollecting(ctx.domain)),
  setOrigins: integrationAdminProcedure
    .input(setOriginsInput)
    .output(allowedOriginsSchema)
    .mutation(({ ctx, input }) =>
      setAllowedOrigins(ctx.domain, { ...input, integrationId: ctx.domain.integration.id }),
    ),
  rotateIdentitySecret: integrationAdminProcedure
    .output(identitySecretSchema)
    .mutation(({ ctx }) =>
      rotateIdentitySecret(ctx.domain, ctx.domain.secrets, { integrationId: ctx.domain.integration.id }),
    ),
  setUnsignedUsers: integrationAdminProcedure
    .input(unsignedUsersInput)
    .output(unsignedUsersInput)
    .mutation(({ ctx, input }) => setUnsignedUsers(ctx.domain, { ...input, integrationId: ctx.domain.integration.id })),
  setPrivacyControl: integrationAdminProcedure
    .input(privacyControlInput)
    .output(privacyControlInput)
    .mutation(({ ctx, input }) =>
      setPrivacyControl(ctx.domain, { ...input, integrationId: ctx.domain.integration.id }),
    ),
});
