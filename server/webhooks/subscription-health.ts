import type { DeliveryStatus } from '../../contract/webhooks';

/** After this many failures in a row, a subscription is disabled. */
export const MAX_CONSECUTIVE_FAILURES = 3;
const COUNTED_FAILURES: readonly DeliveryStatus[] = ['MaxRetriesExceeded', 'PermanentFailure', 'Failed'];

export interface SubscriptionHealth {
  enabled: boolean;
  consecutiveFailures: number;
  disabledReason: string | null;
  disabledFailureClass: string | null;
}

/**
 * Applies one outcome to a subscription's health (specification: Webhook subscription enabled flag). Three counted failures in
 * a row disable it with the failure class of the third. Later failures never overwrite that class.
 */
export function foldHealth(
  health: SubscriptionHealth,
  outcome: { status: DeliveryStatus; failureClass: string | null },
): SubscriptionHealth {
  if (outcome.status === 'Delivered') return { ...health, consecutiveFailures: 0 };
  if (!COUNTED_FAILURES.includes(outcome.status)) return health;
  const consecutiveFailures = health.consecutiveFailures + 1;
  if (!health.enabled || consecutiveFailures < MAX_CONSECUTIVE_FAILURES) return { ...health, consecutiveFailures };
  return {
    enabled: false,
    consecutiveFailures,
    disabledReason: 'auto:consecutive-failures',
    disabledFailureClass: outcome.failureClass,
  };
}
