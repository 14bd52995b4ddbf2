'use client';
import { useQuery } from '@tanstack/react-query';
import type { Webhook } from '../../../../contract/webhooks';
import { ButtonLink } from '../../components/button';
import { ShortId } from '../../components/copying';
import { DetailsPanel, Facts } from '../../components/details-panel';
import { Pending } from '../../components/pending';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { AttemptStrip } from './attempt-strip';
import { DeliveryStatusBadge } from './delivery-status';
import { WebhookStateBadge, WebhookStateLine } from './webhook-state';

/** Shows the condition of a subscription in one line. */
const showThreshold = ({ threshold }: Webhook) =>
  threshold
    ? `${threshold.field} ${threshold.operator} ${JSON.stringify(threshold.value)}`
    : 'None: every event is sent';

interface WebhookPanelProps {
  webhook: Webhook;
  href: string;
  onClose(): void;
}

/** The selected subscription: its state and what it sends. */
export function WebhookPanel({ webhook, href, onClose }: WebhookPanelProps) {
  const health = useQuery(useTRPC().webhooks.getHealth.queryOptions({ id: webhook.id }));
  return (
    <DetailsPanel title={webhook.name} onClose={onClose}>
      <div className="space-y-4">
        <WebhookStateLine id={webhook.id} />
        <Pending query={health} className="h-12" />
        {health.data && <AttemptStrip attempts={health.data.attempts} height={48} hasLabels />}
        <ButtonLink href={href}>Open webhook</ButtonLink>
        <WebhookFacts webhook={webhook} />
      </div>
    </DetailsPanel>
  );
}

/** What a subscription sends, and where. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { id, eventType, url, createdAt, lastDeliveryAt, lastDeliveryStatus } = webhook;
  return (
    <Facts
      facts={[
        ['State', <WebhookStateBadge key="state" id={id} />],
        ['Event', eventType],
        [
          'URL',
          <span key="url" className="break-all">
            {url}
          </span>,
        ],
        ['Threshold', showThreshold(webhook)],
        ['Last delivery', lastDeliveryStatus && <DeliveryStatusBadge key="last" status={lastDeliveryStatus} />],
        ['At', <Time key="at" at={lastDeliveryAt} />],
        ['Created', <Time key="created" at={createdAt} />],
        ['Id', <ShortId key="id" id={id} name="webhook id" />],
      ]}
    />
  );
}
