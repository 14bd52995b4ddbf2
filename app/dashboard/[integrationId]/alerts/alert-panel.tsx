'use client';
import type { Alert } from '../../../../contract/findings';
import { ShortId } from '../../components/copying';
import { DetailsPanel, Facts } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { SeverityBadge } from '../../components/severity-badge';
import { Time } from '../../components/time';
import { IncidentActions, listHandling } from '../incident-handling';
import { OutsideLink } from '../sessions/session-facts';

const LINK = 'text-accent underline-offset-2 hover:underline';

/** One alert: what it says, what happened to it, and what can be done with it. */
export function AlertPanel({ alert, base, onClose }: { alert: Alert; base: string; onClose(): void }) {
  const { id, message, severity, rule, url, triggeredAt, windowStart, windowEnd } = alert;
  return (
    <DetailsPanel title="Alert" onClose={onClose}>
      <p className="mb-4 break-words">{message}</p>
      <IncidentActions kind="alerts" incident={alert} />
      <Facts
        facts={[
          ...listHandling(alert),
          ['Severity', <SeverityBadge key="severity" severity={severity} />],
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
          [
            'Link',
            url && (
              <OutsideLink key="url" url={url}>
                {url}
              </OutsideLink>
            ),
          ],
          ['Alert', <ShortId key="id" id={id} name="alert id" />],
        ]}
      />
    </DetailsPanel>
  );
}
