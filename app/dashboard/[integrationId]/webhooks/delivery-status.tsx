import { Check, Clock, X } from 'lucide-react';
import type { DeliveryStatus } from '../../../../contract/webhooks';
import { Badge, type Tone } from '../../components/badge';

/** The name and meaning of each status. */
export const DELIVERY_STATUS_WORDS: Record<DeliveryStatus, { name: string; meaning: string }> = {
  Pending: { name: 'Pending', meaning: 'Not finished: the first or the next attempt is still to come' },
  Delivered: { name: 'Delivered', meaning: 'The receiver answered 2xx' },
  Failed: { name: 'Failed', meaning: 'The receiver answered a redirect, or the one attempt of a test failed' },
  MaxRetriesExceeded: { name: 'Retries exceeded', meaning: 'All six attempts failed' },
  PermanentFailure: {
    name: 'Permanent failure',
    meaning: 'Refused permanently: a 4xx answer or a forbidden address',
  },
  PoisonAborted: {
    name: 'Aborted',
    meaning: 'Ended unsent: deleted, held for over a day, or interrupted by faults on our side',
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
