import { z } from 'zod';
import { idText, nameText, text } from './fields';
import { emailSchema, passwordSchema, staffRoleSchema, staffSchema } from './staff';

// Links with which staff get an account or a new password. No route of the public API shows them.

/** Days for which such a link works. */
export const INVITATION_DAYS = 3;

export const createInvitationInput = z.object({
  email: emailSchema,
  name: nameText(100),
  role: staffRoleSchema.default('viewer'),
});
export type CreateInvitationInput = z.infer<typeof createInvitationInput>;
export const passwordLinkInput = z.object({ id: idText() });
export const invitationEmailInput = z.object({ email: emailSchema });

/** What the link does: it makes an account, or it sets the password of one. */
export const INVITATION_KINDS = ['NewAccount', 'NewPassword'] as const;
const invitationKindSchema = z.enum(INVITATION_KINDS);

/** A new link. The token is in this answer and nowhere else. */
export const createdInvitationSchema = z.object({
  token: z.string(),
  email: z.string(),
  name: z.string(),
  expiresAt: z.string(),
});
export type CreatedInvitation = z.infer<typeof createdInvitationSchema>;

/** A link that was not used yet, as admins see it. `createdBy` is null for one of the command line. */
export const pendingInvitationSchema = staffSchema.pick({ email: true, name: true, role: true }).extend({
  kind: invitationKindSchema,
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  expiresAt: z.string(),
});
export type PendingInvitation = z.infer<typeof pendingInvitationSchema>;

/** What the owner of a link is shown before they use it. */
export type ShownInvitation = Pick<PendingInvitation, 'email' | 'name' | 'role' | 'kind' | 'expiresAt'>;

/** The bodies of `POST /api/auth/invitation` and `POST /api/auth/invitation/accept`. */
export const showInvitationInput = z.object({ token: text(1, 256) });
export const acceptInvitationInput = z.object({
  token: text(1, 256),
  /** Of a new account; a link to a new password changes no name. */
  name: nameText(100).optional(),
  password: passwordSchema,
});
export type AcceptInvitationInput = z.infer<typeof acceptInvitationInput>;

/** The body of `POST /api/auth/password`. */
export const changePasswordInput = z.object({ currentPassword: text(1, 256), newPassword: passwordSchema });
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;
