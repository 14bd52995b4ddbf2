'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { AuditAction, AuditEntry, AuditScope } from '../../../../contract/audit';
import type { VerdictReason } from '../../../../contract/verdicts';
import { TRUNCATED } from '../../components/classes';
import { ShortId } from '../../components/copying';
import { type Column, DataTable } from '../../components/data-table';
import { Select } from '../../components/field';
import { ListTools } from '../../components/list-tools';
import { RoleNote } from '../../components/role-note';
import { EmptyState } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { useUrlState } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';
import { showInstant } from '../../time-zone';
import { listReasons } from '../sessions/verdict-words';
import { readAuditScope } from './tabs';

type Details = Record<string, unknown>;
type Points = { mediumAt: number; botAt: number };

const showPoints = (points: unknown) => {
  const { mediumAt, botAt } = points as Points;
  return `${mediumAt}/${botAt}`;
};

const showOrigins = (origins: unknown) => (origins as string[]).join(', ') || 'none';

const showChanges = (after: unknown) =>
  Object.entries(after as Details)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** The fields of a webhook, as its form names them. */
const WEBHOOK_FIELDS = new Map([
  ['url', 'address'],
  ['eventType', 'event'],
]);

const showField = ([name, value]: [string, unknown]) => {
  const shown = typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value);
  return `${WEBHOOK_FIELDS.get(name) ?? name} ${shown}`;
};

const showVerdict = (verdict: unknown) => (verdict === null ? 'no label' : `${verdict}`);

const showLabel = ({ before, after, confidence, reasons }: Details) => {
  const was = before === null || before === after ? '' : `, was ${before}`;
  const sure = confidence === null ? '' : `, ${confidence} confidence`;
  const why = listReasons(reasons as VerdictReason[]);
  return `${after}${was}${sure}${why && `: ${why}`}`;
};

/** Describes each action in words. The reader knows which integration they look at. */
const WORDS: Record<AuditAction, (details: Details, timeZone: string) => string> = {
  IntegrationCreated: ({ name, plan }) => `Integration ${name} created on ${plan}`,
  PlanChanged: ({ before, after, disabledWebhooks }) => {
    const { length } = disabledWebhooks as string[];
    const disabled = length === 0 ? '' : `, ${length} ${length === 1 ? 'webhook' : 'webhooks'} disabled`;
    return `Plan changed from ${before} to ${after}${disabled}`;
  },
  KeyMinted: ({ name, masked, scopes, expiresAt }, timeZone) => {
    const allowed = scopes ? ` for ${(scopes as string[]).join(', ')}` : '';
    return `Key ${name} (${masked}) minted${allowed}${expiresAt ? ` until ${showInstant(expiresAt as string, timeZone)}` : ''}`;
  },
  KeyRevoked: ({ name, masked }) => `Key ${name} (${masked}) revoked`,
  ThresholdsChanged: ({ before, after }) =>
    `Thresholds (medium/bot) changed from ${showPoints(before)} to ${showPoints(after)}`,
  SiteCreated: ({ name, siteKey }) => `Site ${name} (${siteKey}) created`,
  SiteRevoked: ({ name, siteKey }) => `Site ${name} (${siteKey}) revoked`,
  OriginsChanged: ({ before, after }) => `Origins changed from ${showOrigins(before)} to ${showOrigins(after)}`,
  IdentitySecretRotated: ({ isFirst }) => `Identity secret ${isFirst ? 'created' : 'rotated'}`,
  UnsignedUsersChanged: ({ after }) => `Users without a signature ${after ? 'accepted' : 'ignored'}`,
  PrivacyControlChanged: ({ after }) => `Ignoring Global Privacy Control ${after ? 'permitted' : 'forbidden'}`,
  StaffCreated: ({ email, role }) => `${email} created as ${role}`,
  StaffRoleChanged: ({ email, before, after }) => `${email} changed from ${before} to ${after}`,
  StaffPasswordSet: ({ email }) => `Password of ${email} set`,
  StaffDisabled: ({ email }) => `${email} disabled`,
  StaffEnabled: ({ email }) => `${email} enabled`,
  StaffSessionsEnded: ({ email, sessions }) =>
    `${email} signed out of ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`,
  StaffInvited: ({ email, role }) => `${email} invited as ${role}`,
  StaffInvitationAccepted: ({ email, role }) => `${email} accepted the invitation as ${role}`,
  StaffInvitationRevoked: ({ email }) => `Link of ${email} revoked`,
  StaffPasswordLinkCreated: ({ email }) => `Link to a new password made for ${email}`,
  StaffPasswordChanged: ({ email }) => `${email} changed their password`,
  SkippedEventsSent: ({ name, sent }) => `${sent} skipped ${sent === 1 ? 'event' : 'events'} sent to webhook ${name}`,
  AlertRuleCreated: ({ name }) => `Alert rule ${name} created`,
  AlertRuleChanged: ({ name, after }) => `Alert rule ${name} changed: ${showChanges(after)}`,
  AlertRuleDeleted: ({ name }) => `Alert rule ${name} deleted`,
  SessionLabeled: (details) => `Session labelled ${showLabel(details)}`,
  LabelUndone: ({ before, after }) =>
    `Label undone: ${showVerdict(after)} again${before === after ? '' : `, was ${showVerdict(before)}`}`,
  LabelRemoved: ({ before }) => `Label ${before} removed from a session`,
  UserErasureRequested: ({ receiptId }) => `Erasure of a user requested: receipt ${receiptId}`,
  DeviceConfirmed: ({ fingerprint, isFirst }) =>
    `Device ${fingerprint} confirmed as the user’s own${isFirst ? '' : ' again'}`,
  DeviceConfirmationRevoked: ({ fingerprint, confirmedBy }) =>
    `Confirmation of device ${fingerprint} revoked${confirmedBy === null ? '' : `, confirmed by ${confirmedBy}`}`,
  WebhookCreated: ({ name, url, eventType, enabled }) =>
    `Webhook ${name} created: ${eventType} to ${url}${enabled ? '' : ', disabled'}`,
  WebhookChanged: ({ name, after }) =>
    `Webhook ${name} changed: ${Object.entries(after as Details)
      .map(showField)
      .join(', ')}`,
  WebhookEnabled: ({ name }) => `Webhook ${name} enabled`,
  WebhookDisabled: ({ name }) => `Webhook ${name} disabled`,
  WebhookSecretRotated: ({ name }) => `Secret of webhook ${name} rotated`,
  WebhookDeleted: ({ name }) => `Webhook ${name} deleted`,
  FindingRuleSwitched: ({ rule, isEnabled }) => `Rule ${rule} switched ${isEnabled ? 'on' : 'off'}`,
  ReviewSampleChanged: ({ before, after }) => `Random sample changed from ${before} to ${after} sessions a day`,
  SessionsRescored: ({ ruleSetVersion }) => `Sessions scored again by rules ${ruleSetVersion}`,
  ReportRequested: ({ name, format }) => `Report ${name} (${format}) requested`,
  ReportScheduled: ({ name, format, cadence }) => `Report ${name} (${format}) scheduled ${cadence}`,
  ReportScheduleDeleted: ({ name }) => `Schedule of report ${name} deleted`,
  ReportDeleted: ({ name, format }) => `Report ${name} (${format}) deleted`,
};

function ActorName({ actor: { kind, name } }: AuditEntry) {
  if (kind === 'Operator') return <span className="whitespace-nowrap text-muted">command line</span>;
  return (
    <span className="block max-w-56 truncate max-sm:max-w-24" title={name ?? undefined}>
      {kind === 'ApiKey' ? <code className="font-mono text-xs">{name}</code> : name}
    </span>
  );
}

function Change({ action, details }: AuditEntry) {
  const { timeZone } = useTimeZone();
  const words = WORDS[action](details, timeZone);
  return (
    <span className={TRUNCATED} title={words}>
      {words}
    </span>
  );
}

const COLUMNS: Column<AuditEntry>[] = [
  {
    key: 'act',
    name: 'Change',
    width: '100%',
    cell: Change,
  },
  { key: 'actor', name: 'By', width: '1%', cell: ActorName },
  {
    key: 'address',
    name: 'From',
    from: 'lg',
    width: '1%',
    cell: ({ actor }) => <span className="font-mono text-muted text-xs">{actor.clientAddress ?? '–'}</span>,
  },
  {
    key: 'subject',
    name: 'Of',
    from: 'md',
    width: '1%',
    cell: ({ subjectId }) => <ShortId id={subjectId} />,
  },
  { key: 'at', name: 'When', width: '1%', isNumber: true, cell: ({ at }) => <Time at={at} /> },
];

const NOUN = ['entry', 'entries'] as const;
const SCOPE_WORDS: Record<AuditScope, string> = { Integration: 'This integration', Staff: 'Staff accounts' };

/** Who changed the settings, labels, devices and webhooks of the integration, or staff accounts. For admins. */
export function AuditLog() {
  const { isAdmin } = useStaff();
  return isAdmin ? <Entries /> : <RoleNote needs="admin" act="see who changed what" />;
}

function Entries() {
  const trpc = useTRPC();
  const { params, change } = useUrlState();
  const scope = readAuditScope(params);
  const list = listRows(useInfiniteQuery(trpc.audit.list.infiniteQueryOptions({ scope }, PAGES)));
  const total = useQuery(trpc.audit.count.queryOptions({ scope })).data;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">
          Who changed what, and who labelled. What staff did is kept forever, what API keys did up to 10,000 times each.
        </p>
        <Select
          className="w-40"
          aria-label="Changes of"
          value={scope}
          onChange={({ target }) => change({ scope: target.value === 'Integration' ? null : target.value })}
        >
          {Object.entries(SCOPE_WORDS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Select>
      </div>
      <ListTools
        {...{ list: 'audit', noun: NOUN, filters: { scope }, rows: list.rows, hasMore: list.hasMore, total }}
      />
      <DataTable
        caption="Audit log"
        noun={NOUN}
        total={total}
        columns={COLUMNS}
        {...list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="Nothing was changed yet">
            <p>
              A key that is minted or revoked, other thresholds, a label, a changed webhook: each leaves an entry here.
            </p>
          </EmptyState>
        }
      />
    </div>
  );
}
