import { z } from 'zod';
import { wireInstant, wireText, word } from './fields';
import { pageOf, pageQuery } from './pagination';

// Who did what: the actions that are listed here, on an integration or on accounts. Admins see all of it, a key what was done to its
// integration.

/** The audited actions. `details` hold the values before and after, never a secret. */
export const AUDIT_ACTIONS = [
  ...(['IntegrationCreated', 'PlanChanged', 'KeyMinted', 'KeyRevoked', 'ThresholdsChanged'] as const),
  ...(['SiteCreated', 'SiteRevoked', 'OriginsChanged', 'IdentitySecretRotated', 'PrivacyControlChanged'] as const),
  ...(['UnsignedUsersChanged'] as const),
  ...(['StaffCreated', 'StaffRoleChanged', 'StaffPasswordSet', 'StaffDisabled', 'StaffEnabled'] as const),
  ...(['StaffInvited', 'StaffInvitationAccepted', 'StaffInvitationRevoked'] as const),
  ...(['StaffPasswordLinkCreated', 'StaffPasswordChanged'] as const),
  ...(['StaffSessionsEnded', 'SessionsRescored', 'FindingRuleSwitched', 'ReviewSampleChanged'] as const),
  ...(['ReportRequested', 'ReportDeleted', 'ReportScheduled', 'ReportScheduleDeleted'] as const),
  ...(['SkippedEventsSent', 'UserErasureRequested'] as const),
  ...(['AlertRuleCreated', 'AlertRuleChanged', 'AlertRuleDeleted'] as const),
  ...(['SessionLabeled', 'LabelUndone', 'LabelRemoved', 'DeviceConfirmed', 'DeviceConfirmationRevoked'] as const),
  ...(['WebhookCreated', 'WebhookChanged', 'WebhookEnabled', 'WebhookDisabled'] as const),
  ...(['WebhookSecretRotated', 'WebhookDeleted'] as const),
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Staff in the dashboard, a customer's key over the API, or the operator on the command line. */
export const ACTOR_KINDS = ['Staff', 'ApiKey', 'Operator'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export const auditEntrySchema = z.object({
  id: z.string(),
  at: wireInstant(),
  action: z.enum(AUDIT_ACTIONS),
  actor: z.object({
    kind: z.enum(ACTOR_KINDS),
    id: z.string().nullable().describe('Of the account or the key; null for the operator.'),
    name: z.string().nullable().describe('The address of the account, or the masked key, as it was then.'),
    clientAddress: z.string().nullable().describe('Of staff; an IPv6 address by its /64.'),
  }),
  integrationId: z.string().nullable().describe('Null for what is done to accounts.'),
  subjectId: z
    .string()
    .describe(
      'What was changed: the integration, key, site, webhook, session, user, alert rule, report or account, or the address of an invitation.',
    ),
  details: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export const auditPageSchema = pageOf(auditEntrySchema);

/** `Integration`: the integration shown in the dashboard. `Staff`: the accounts, which belong to no integration. */
export const AUDIT_SCOPES = ['Integration', 'Staff'] as const;
export type AuditScope = (typeof AUDIT_SCOPES)[number];

export const listAuditEntriesInput = z.object({ scope: word(AUDIT_SCOPES).default('Integration'), ...pageQuery });
export type ListAuditEntriesInput = z.infer<typeof listAuditEntriesInput>;

/** What a key sees of an entry: of staff only that it was staff. */
export const keyAuditEntrySchema = z
  .object({
    id: wireText('aud_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
    at: wireInstant(),
    action: wireText('KeyMinted').describe('What was done; new actions may be added.'),
    actor: z.object({
      kind: z
        .enum(ACTOR_KINDS)
        .describe('Our staff, an API key of yours, or our operator.')
        .meta({ example: 'ApiKey' }),
      id: wireText('key_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f').nullable().describe('Of the key; null for others.'),
      name: wireText('aik_v1_5Hk2…mQ7x').nullable().describe('The masked key; null for others.'),
    }),
    subjectId: wireText('key_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f').describe(
      'What was changed: the integration, the id of a key, site, webhook, session, user, alert rule, report or schedule of reports, or the name of a rule on findings. Of a user who was erased it is a hash.',
    ),
    details: z
      .record(z.string(), z.unknown())
      .describe('The values before and after, by action; never a secret.')
      .meta({ example: { name: 'Nightly', masked: 'aik_v1_5Hk2…mQ7x' } }),
  })
  .meta({ id: 'AuditEntry' });
export type KeyAuditEntry = z.infer<typeof keyAuditEntrySchema>;

export const listKeyAuditEntriesInput = z.object({ ...pageQuery });
export type ListKeyAuditEntriesInput = z.infer<typeof listKeyAuditEntriesInput>;
