import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../contract/webhooks';
import { foldHealth, type SubscriptionHealth } from '../../server/webhooks/subscription-health';

type Outcome = { status: DeliveryStatus; failureClass: string | null };
const healthy: SubscriptionHealth = {
  enabled: true,
  consecutiveFailures: 0,
  disabledReason: null,
  disabledFailureClass: null,
};
const fold = (outcomes: Outcome[], from = healthy) => outcomes.reduce(foldHealth, from);
const delivered: Outcome = { status: 'Delivered', failureClass: null };
const gaveUp = (failureClass = '5xx'): Outcome => ({ status: 'MaxRetriesExceeded', failureClass });

describe('the health of a subscription', () => {
  it.each<DeliveryStatus>(['MaxRetriesExceeded', 'PermanentFailure', 'Failed'])(
    'is disabled by three %s in a row, with the class of the third',
    (status) => {
      const failures = ['Timeout', 'Network', '4xx'].map((failureClass) => ({ status, failureClass }));
      expect(fold(failures.slice(0, 2))).toEqual({ ...healthy, consecutiveFailures: 2 });
      expect(fold(failures)).toEqual({
        enabled: false,
        consecutiveFailures: 3,
        disabledReason: 'auto:consecutive-failures',
        disabledFailureClass: '4xx',
      });
    },
  );

  it('counts all three kinds of failure', () => {
    const mixed: Outcome[] = [
      { status: 'Failed', failureClass: 'HTTP301' },
      { status: 'PermanentFailure', failureClass: '4xx' },
      { status: 'MaxRetriesExceeded', failureClass: 'RateLimited' },
    ];
    expect(fold(mixed)).toMatchObject({ enabled: false, disabledFailureClass: 'RateLimited' });
    expect(fold(mixed.toReversed())).toMatchObject({ enabled: false, disabledFailureClass: 'HTTP301' });
  });

  it('resets the count after a Delivered', () => {
    expect(fold([gaveUp(), gaveUp(), delivered])).toEqual(healthy);
    expect(fold([gaveUp(), gaveUp(), delivered, gaveUp(), gaveUp()])).toMatchObject({
      enabled: true,
      consecutiveFailures: 2,
    });
  });

  it.each<DeliveryStatus>(['PoisonAborted', 'Pending'])('ignores %s, and keeps its count', (status) => {
    const neither: Outcome = { status, failureClass: null };
    expect(fold([neither, neither, neither, neither])).toEqual(healthy);
    expect(fold([gaveUp(), neither, gaveUp(), neither])).toMatchObject({ enabled: true, consecutiveFailures: 2 });
    expect(fold([gaveUp(), neither, gaveUp(), neither, gaveUp()])).toMatchObject({ enabled: false });
  });

  it('keeps reason and class of the failure that disabled it, whatever follows', () => {
    const disabled = fold([gaveUp(), gaveUp(), gaveUp('Timeout')]);
    for (const later of [gaveUp('Network'), delivered, { status: 'Failed', failureClass: 'HTTP302' } as Outcome])
      expect(fold([later, later, later], disabled)).toMatchObject({
        enabled: false,
        disabledReason: 'auto:consecutive-failures',
        disabledFailureClass: 'Timeout',
      });
  });

  it('sets no reason and class if its owner disabled it', () => {
    const byOwner = { ...healthy, enabled: false };
    expect(fold([gaveUp(), gaveUp(), gaveUp(), gaveUp()], byOwner)).toMatchObject({
      enabled: false,
      disabledReason: null,
      disabledFailureClass: null,
    });
  });

  it('is disabled if and only if three counted outcomes in a row failed', () => {
    const outcome = fc.record({
      status: fc.constantFrom(...DELIVERY_STATUSES),
      failureClass: fc.constantFrom('5xx', '4xx', 'Timeout', 'HTTP301'),
    });
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 20 }), (outcomes) => {
        let run = 0;
        let third: string | null = null;
        for (const { status, failureClass } of outcomes) {
          if (status === 'Delivered') run = 0;
          else if (['MaxRetriesExceeded', 'PermanentFailure', 'Failed'].includes(status) && ++run === 3)
            third ??= failureClass;
        }
        expect(fold(outcomes)).toMatchObject({ enabled: third === null, disabledFailureClass: third });
      }),
      { numRuns: 500 },
    );
  });
});
