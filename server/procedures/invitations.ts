import { z } from 'zod';
import {
  createdInvitationSchema,
  createInvitationInput,
  invitationEmailInput,
  passwordLinkInput,
  pendingInvitationSchema,
} from '../../contract/invitations';
import { createInvitation, createPasswordLink, listInvitations, revokeInvitation } from '../auth/invitations';
import { adminProcedure, router } from './trpc';

/** Links with which staff get an account or a new password. Not part of the public API. */
export const invitationsRouter = router({
  list: adminProcedure.output(z.array(pendingInvitationSchema)).query(({ ctx }) => listInvitations(ctx.db)),
  create: adminProcedure
    .input(createInvitationInput)
    .output(createdInvitationSchema)
    .mutation(({ ctx, input }) => createInvitation({ ...ctx.audited, secrets: ctx.service.secrets }, input)),
  createPasswordLink: adminProcedure
    .input(passwordLinkInput)
    .output(createdInvitationSchema)
    .mutation(({ ctx, input }) => createPasswordLink({ ...ctx.audited, secrets: ctx.service.secrets }, input)),
  revoke: adminProcedure
    .input(invitationEmailInput)
    .output(z.void())
    .mutation(({ ctx, input }) => revokeInvitation(ctx.audited, input)),
});
