import type { DeliveryStatus } from '../../contract/webhooks';

/** Failures in a row that disable a subscription. */
export const MAX_CONSECUTIVE_FAILURES = 3;
const COUNTED_FAILURES: readonly DeliveryStatus[] = ['MaxRetriesExceeded', 'PermanentFailure', 'Failed'];

export interface SubscriptionHealth {
  enabled: boolean;
  consecutiveFailures: number;
  disabledReason: string | null;
  disabledFailureClass: string | null;
}

/**
 * Folds one outcome into a subscription's health (specification: Webhook subscription enabled flag): three counted
 * failures in a row disable it with the class of the third; what comes after never overwrites that.
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
