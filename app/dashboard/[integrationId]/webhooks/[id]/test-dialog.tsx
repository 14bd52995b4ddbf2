'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button } from '../../../components/button';
import { ShortId } from '../../../components/copying';
import { Facts } from '../../../components/details-panel';
import { Dialog } from '../../../components/dialog';
import { ErrorState } from '../../../components/states';
import { showDuration } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { explainAttempt } from '../attempt-faults';
import { DeliveryStatusBadge } from '../delivery-status';

/** Sends a test delivery at once and shows its result. */
export function TestDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { id } = webhook;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { mutate, ...test } = useMutation(
    trpc.webhooks.test.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries({ queryKey: trpc.webhooks.getHealth.queryKey({ id }) });
        void queryClient.invalidateQueries({ queryKey: trpc.deliveries.list.pathKey() });
      },
    }),
  );
  const deliveryId = test.data?.deliveryId ?? '';
  const logged = useQuery(trpc.deliveries.get.queryOptions({ id: deliveryId }, { enabled: deliveryId !== '' }));
  useEffect(() => {
    // Deferred, so that an effect that runs twice sends only one test.
    const timer = setTimeout(() => mutate({ id }));
    return () => clearTimeout(timer);
  }, [mutate, id]);
  const attempt = logged.data?.attemptLog.at(-1);
  const durationMs = attempt?.durationMs;
  const fault = attempt && explainAttempt(attempt);
  return (
    <Dialog title="Test delivery" isOpen onClose={onClose}>
      <div className="min-h-36" aria-live="polite">
        {test.error ? (
          <ErrorState message={describeError(test.error)} />
        ) : test.data ? (
          <Facts
            facts={[
              ['Outcome', <DeliveryStatusBadge key="status" status={test.data.status} />],
              ['Response', test.data.responseCode || 'Nothing answered'],
              ['Class', test.data.errorClass],
              ['What happened', fault?.what],
              ['What to do', fault?.act],
              ['Took', durationMs === undefined ? '…' : showDuration(durationMs)],
              ['Delivery', <ShortId key="id" id={test.data.deliveryId} name="delivery id" />],
            ]}
          />
        ) : (
          <p className="text-muted">Waiting for the receiver, for at most 30 seconds …</p>
        )}
        <p className="mt-4 break-words text-faint text-xs">
          One made-up delivery to {webhook.url}, signed with the current secret. It is not retried, and does not change
          the state of the webhook.
        </p>
      </div>
      <div className="mt-4 flex justify-end gap-2">
        <Button disabled={test.isPending} onClick={() => mutate({ id })}>
          Send again
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
