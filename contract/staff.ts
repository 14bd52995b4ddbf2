import { z } from 'zod';
import { idText, nameText, text } from './fields';

// Employees of the platform who use the dashboard. No route of the public API shows them.

/**
 * Roles, the most powerful first. Admins manage staff, keys and plans; analysts change an integration's own data;
 * viewers read.
 */
export const STAFF_ROLES = ['admin', 'analyst', 'viewer'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];
export const staffRoleSchema = z.enum(STAFF_ROLES, { error: `must be one of ${STAFF_ROLES.join(', ')}` });

/** The signed-in staff account. */
export const staffSchema = z.object({ id: z.string(), email: z.string(), name: z.string(), role: staffRoleSchema });
export type Staff = z.infer<typeof staffSchema>;

/** An account as admins see it. `sessions` counts the sessions that are signed in now. */
export const staffAccountSchema = staffSchema.extend({
  disabled: z.boolean(),
  createdAt: z.string(),
  sessions: z.number(),
});
export type StaffAccount = z.infer<typeof staffAccountSchema>;
export const staffListSchema = z.array(staffAccountSchema);

/** An email address. The parsed value is in lower case. */
export const emailSchema = text(3, 254)
  .refine((value) => z.email().safeParse(value).success, 'must be an email address')
  .transform((value) => value.toLowerCase());
export const passwordSchema = text(12, 256);

/** Without a name, the account is named after the part of its address before the `@`. */
export const createStaffInput = z.object({
  email: emailSchema,
  password: passwordSchema,
  role: staffRoleSchema.default('viewer'),
  name: nameText(100).optional(),
});
export type CreateStaffInput = z.infer<typeof createStaffInput>;

export const createdStaffSchema = z.object({ id: z.string() });
export const revokedSessionsSchema = z.object({ revoked: z.number() });

export const staffIdInput = z.object({ id: idText() });
/** With `replaced`, the role is not changed if it is another one by now. */
export const setStaffRoleInput = staffIdInput.extend({ role: staffRoleSchema, replaced: staffRoleSchema.optional() });
export type SetStaffRoleInput = z.infer<typeof setStaffRoleInput>;
export const setStaffPasswordInput = z.object({ email: emailSchema, password: passwordSchema });

/** The input of a sign-in form. Only its length is checked, so that an error reveals none of the rules. */
export const signInInput = z.object({ email: text(1, 254), password: text(1, 256) });
export type SignInInput = z.infer<typeof signInInput>;
