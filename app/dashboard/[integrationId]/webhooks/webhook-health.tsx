import { CircleAlert, CircleCheck, CirclePause, CircleX } from 'lucide-react';
import type { Webhook, WebhookHealth } from '../../../../contract/webhooks';
import { Badge } from '../../components/badge';

/** Why the service disabled a subscription. */
const DISABLED_WORDS = new Map<string, (webhook: Webhook) => string>([
  [
    'auto:consecutive-failures',
    ({ disabledFailureClass }) =>
      `Disabled after too many failures in a row${disabledFailureClass ? `, the last of class ${disabledFailureClass}` : ''}. Fix the receiver, test it, then enable it again.`,
  ],
  ['auto:plan-limit', () => 'Disabled because the plan allows fewer active webhooks than there were.'],
]);

/** Describes a subscription's health, and how close it is to being disabled. */
export function describeHealth(webhook: Webhook, health: WebhookHealth | undefined): string {
  if (!webhook.enabled) {
    const explain = DISABLED_WORDS.get(webhook.disabledReason ?? '');
    return explain ? explain(webhook) : 'Disabled by hand. New events are skipped until it is enabled again.';
  }
  if (!health) return webhook.lastDeliveryStatus === null ? 'Nothing was sent yet.' : '';
  const { consecutiveFailures: failures, disabledAfter } = health;
  if (failures > 0) {
    const left = disabledAfter - failures;
    const outlook = left <= 1 ? 'the next disables it' : `${left} more disable it`;
    return `${failures} ${failures === 1 ? 'failure' : 'failures'} in a row; ${outlook}.`;
  }
  if (webhook.lastDeliveryStatus === null) return 'Enabled. Nothing was sent yet.';
  if (webhook.lastDeliveryStatus === 'Pending') return 'The latest delivery is being retried; no failure counts yet.';
  return 'Healthy: no failures in a row.';
}

/** The health of a subscription as a sentence with an icon. */
export function HealthLine({ webhook, health }: { webhook: Webhook; health: WebhookHealth | undefined }) {
  const isFailing = (health?.consecutiveFailures ?? 0) > 0 || webhook.lastDeliveryStatus === 'Pending';
  const isOff = !webhook.enabled;
  const Icon = isOff ? (webhook.disabledReason ? CircleX : CirclePause) : isFailing ? CircleAlert : CircleCheck;
  const color = isOff
    ? webhook.disabledReason
      ? 'text-danger'
      : 'text-muted'
    : isFailing
      ? 'text-medium'
      : 'text-human';
  return (
    <p role="status" className={`flex min-h-5 items-start gap-2 font-medium ${color}`}>
      <Icon size={16} className="mt-0.5 shrink-0" aria-hidden />
      {describeHealth(webhook, health)}
    </p>
  );
}

/** Enabled, failing or disabled, judged from the subscription alone. */
export function WebhookStateBadge({ webhook }: { webhook: Webhook }) {
  const { enabled, disabledReason, lastDeliveryStatus } = webhook;
  if (!enabled)
    return (
      <Badge tone={disabledReason ? 'danger' : 'neutral'} title={describeHealth(webhook, undefined)}>
        {disabledReason ? <CircleX size={12} aria-hidden /> : <CirclePause size={12} aria-hidden />}
        Disabled
      </Badge>
    );
  if (lastDeliveryStatus === 'Pending')
    return (
      <Badge tone="medium" title="The latest delivery is being retried">
        <CircleAlert size={12} aria-hidden />
        Retrying
      </Badge>
    );
  if (lastDeliveryStatus !== null && lastDeliveryStatus !== 'Delivered')
    return (
      <Badge tone="medium" title="The latest delivery failed">
        <CircleAlert size={12} aria-hidden />
        Failing
      </Badge>
    );
  return (
    <Badge tone="human">
      <CircleCheck size={12} aria-hidden />
      Enabled
    </Badge>
  );
}
