import type { SkipReason } from '../contract/deliveries';
import type { EventTypeName } from '../contract/events';
import type { Threshold } from '../contract/webhooks';
import { createId } from '../platform/ids';
import { passesThreshold } from './thresholds';

/** What deciding about an event needs to know of a subscription. */
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
}

/**
 * Decides who is told of an event, when it fires: one delivery for each subscription of its type that is enabled and
 * whose threshold it passes, and for the others the reason. The payload becomes the text that every attempt sends.
 */
export function planEvent(
  event: { integrationId: string; type: EventTypeName; naturalKey: string; payload: Record<string, unknown> },
  subscriptions: SubscriptionState[],
): { event: PlannedEvent; deliveries: PlannedDelivery[] } {
  const { integrationId, type, naturalKey, payload } = event;
  const eventId = createId('evt');
  const deliveries: PlannedDelivery[] = [];
  const skips: Record<string, SkipReason> = {};
  for (const subscription of subscriptions) {
    if (subscription.eventType !== type) continue;
    const reason = findSkipReason(subscription, payload);
    if (reason === null)
      deliveries.push({ integrationId, id: createId('dlv'), subscriptionId: subscription.id, eventId });
    else skips[subscription.id] = reason;
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

function findSkipReason(subscription: SubscriptionState, payload: Record<string, unknown>): SkipReason | null {
  if (!subscription.enabled) return subscription.disabledReason === 'auto:plan-limit' ? 'plan' : 'disabled';
  return subscription.threshold === null || passesThreshold(payload, subscription.threshold) ? null : 'threshold';
}
