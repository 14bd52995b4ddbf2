import type { DeliveryStatus } from '../../../../contract/webhooks';
import { Badge, type Tone } from '../../components/badge';
import { Check, Clock, X } from '../../components/icons';

/** The name and meaning of each status. */
export const DELIVERY_STATUS_WORDS: Record<DeliveryStatus, { name: string; meaning: string }> = {
  Pending: { name: 'Pending', meaning: 'An attempt is under way or still to come' },
  Delivered: { name: 'Delivered', meaning: 'The receiver answered 2xx' },
  Failed: { name: 'Failed', meaning: 'The receiver answered a redirect, or the one attempt of a test failed' },
  MaxRetriesExceeded: { name: 'Failed after six attempts', meaning: 'None of the six attempts was answered with 2xx' },
  PermanentFailure: {
    name: 'Failed, not retried',
    meaning: 'The receiver answered 4xx, or its address is not allowed. It is not retried',
  },
  PoisonAborted: {
    name: 'Aborted',
    meaning: 'Not sent: the webhook was deleted or disabled for a day, or a fault on our side prevented it',
  },
};

const LOOKS: Record<'good' | 'open' | 'bad', { tone: Tone; Icon: typeof Check }> = {
  good: { tone: 'human', Icon: Check },
  open: { tone: 'accent', Icon: Clock },
  bad: { tone: 'danger', Icon: X },
};

/** A delivery's status as a coloured shape with a word. */
export function DeliveryStatusBadge({ status }: { status: DeliveryStatus }) {
  const { tone, Icon } = LOOKS[status === 'Delivered' ? 'good' : status === 'Pending' ? 'open' : 'bad'];
  const { name, meaning } = DELIVERY_STATUS_WORDS[status];
  return (
    <Badge tone={tone} title={meaning}>
      <Icon size={12} aria-hidden />
      {name}
    </Badge>
  );
}
