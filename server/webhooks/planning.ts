import { randomUUID } from 'node:crypto';
import type { SkipReason } from '../../contract/deliveries';
import type { EventTypeName } from '../../contract/events';
import type { Threshold } from '../../contract/webhooks';
import { createId } from '../platform/ids';
import type { SubscriptionKey } from './deliveries';
import { passesThreshold } from './thresholds';

/** The fields of a subscription that decide whether an event is sent to it. */
export interface SubscriptionState {
  integrationId: string;
  id: string;
  eventType: EventTypeName;
  threshold: Threshold | null;
  enabled: boolean;
  disabledReason: string | null;
}

export interface PlannedEvent {
  integrationId: string;
  id: string;
  type: EventTypeName;
  naturalKey: string;
  payload: string;
  skips: Record<string, SkipReason> | null;
}

export interface PlannedDelivery {
  integrationId: string;
  id: string;
  subscriptionId: string;
  eventId: string;
  /** Set if this process sends the delivery at once; it is then committed as claimed. */
  lease: string | null;
}

/**
 * Decides who gets an event when it fires. Each enabled subscription of its type whose threshold it passes gets one delivery;
 * for each other subscription of the type, the reason is stored. The payload becomes the text that every attempt sends.
 * `reserve` returns whether this process will send the delivery at once.
 */
export function planEvent(
  event: { integrationId: string; type: EventTypeName; naturalKey: string; payload: Record<string, unknown> },
  subscriptions: SubscriptionState[],
  reserve: (key: SubscriptionKey) => boolean,
): { event: PlannedEvent; deliveries: PlannedDelivery[] } {
  const { integrationId, type, naturalKey, payload } = event;
  const eventId = createId('evt');
  const deliveries: PlannedDelivery[] = [];
  const skips: Record<string, SkipReason> = {};
  for (const subscription of subscriptions) {
    if (subscription.eventType !== type) continue;
    const reason = findSkipReason(subscription, payload);
    if (reason !== null) {
      skips[subscription.id] = reason;
      continue;
    }
    const key = { integrationId, subscriptionId: subscription.id };
    deliveries.push({ id: createId('dlv'), eventId, lease: reserve(key) ? randomUUID() : null, ...key });
  }
  const isSkipped = Object.keys(skips).length > 0;
  return {
    event: {
      integrationId,
      id: eventId,
      type,
      naturalKey,
      payload: JSON.stringify(payload),
      skips: isSkipped ? skips : null,
    },
    deliveries,
  };
}

/** A disabled subscription skips what its threshold lets through, so that exactly this can be sent later. */
function findSkipReason(subscription: SubscriptionState, payload: Record<string, unknown>): SkipReason | null {
  const { threshold, enabled, disabledReason } = subscription;
  if (threshold !== null && !passesThreshold(payload, threshold)) return 'threshold';
  if (enabled) return null;
  return disabledReason === 'auto:plan-limit' ? 'plan' : 'disabled';
}
