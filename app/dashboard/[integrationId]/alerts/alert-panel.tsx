'use client';
import type { Alert } from '../../../../contract/findings';
import { Button } from '../../components/button';
import { ShortId } from '../../components/copying';
import { DetailsPanel, Facts } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { RoleNote } from '../../components/role-note';
import { SeverityBadge } from '../../components/severity-badge';
import { Time } from '../../components/time';
import { useStaff } from '../../staff';
import { OutsideLink } from '../sessions/session-facts';
import { useAlertChanges } from './alert-changes';
import { STATUS_WORDS } from './alert-filters';

const LINK = 'text-accent underline-offset-2 hover:underline';

/** One alert: what it says, what happened to it, and what can be done with it. */
export function AlertPanel({ alert, base, onClose }: { alert: Alert; base: string; onClose(): void }) {
  const { id, message, severity, status, rule, url, triggeredAt, windowStart, windowEnd } = alert;
  const { canWrite } = useStaff();
  const { acknowledge, resolve } = useAlertChanges();
  const isBusy = acknowledge.isPending || resolve.isPending;
  return (
    <DetailsPanel title="Alert" onClose={onClose}>
      <p className="mb-4 break-words">{message}</p>
      <div className="mb-4 flex flex-wrap gap-2">
        <Button disabled={!canWrite || isBusy || status !== 'Open'} onClick={() => acknowledge.mutate({ id })}>
          Acknowledge
        </Button>
        <Button disabled={!canWrite || isBusy || status === 'Resolved'} onClick={() => resolve.mutate({ id })}>
          Resolve
        </Button>
        <RoleNote needs="analyst" act="acknowledge and resolve alerts" />
      </div>
      <Facts
        facts={[
          ['Alert', <ShortId key="id" id={id} name="alert id" />],
          ['Severity', <SeverityBadge key="severity" severity={severity} />],
          ['Status', STATUS_WORDS[status]],
          [
            'Rule',
            rule && (
              <HoverLink key="rule" className={LINK} href={`${base}?rule=${encodeURIComponent(rule.id)}`}>
                {rule.name}
              </HoverLink>
            ),
          ],
          [
            'Window',
            windowStart && windowEnd && (
              <span key="window">
                <Time at={windowStart} absolute /> to <Time at={windowEnd} absolute />
              </span>
            ),
          ],
          ['Triggered', <Time key="at" at={triggeredAt} absolute />],
          ['Acknowledged', <Done key="acknowledged" at={alert.acknowledgedAt} by={alert.acknowledgedBy} />],
          ['Resolved', <Done key="resolved" at={alert.resolvedAt} by={alert.resolvedBy} />],
          [
            'Link',
            url && (
              <OutsideLink key="url" url={url}>
                {url}
              </OutsideLink>
            ),
          ],
        ]}
      />
    </DetailsPanel>
  );
}

function Done({ at, by }: { at: string | null; by: string | null }) {
  if (at === null) return <span className="text-faint">–</span>;
  return (
    <span>
      <Time at={at} absolute />
      {by && `, ${by}`}
    </span>
  );
}
