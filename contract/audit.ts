import { z } from 'zod';
import { wireInstant, word } from './fields';
import { pageOf, pageQuery } from './pagination';

// Who changed keys, plans, thresholds, sites, webhooks, labels and accounts. For admins; no route of the public API shows it.

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
  ...(['SkippedEventsSent'] as const),
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
