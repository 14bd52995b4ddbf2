'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button } from '../../../components/button';
import { Dialog } from '../../../components/dialog';
import { Field, Input } from '../../../components/field';
import { ErrorState } from '../../../components/states';
import { useTimeZone } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { describeError, findField } from '../../../query-client';
import { findInstant, nameZone, showClock } from '../../../time-zone';

const DAY_MS = 86_400_000;

/** Resends all deliveries that failed within a period, and shows how many. */
export function RecoverDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { timeZone } = useTimeZone();
  const [start, setStart] = useState(() => showClock(Date.now() - DAY_MS, timeZone));
  const [end, setEnd] = useState('');
  const recover = useMutation(
    trpc.deliveries.recover.mutationOptions({
      onSuccess: () => void queryClient.invalidateQueries({ queryKey: trpc.deliveries.pathKey() }),
    }),
  );
  // What is no time, or none of a year with four digits, passes as it is, and the API reports it.
  const toInstant = (clock: string) => {
    const atMs = findInstant(clock, timeZone);
    return Number.isNaN(atMs) ? clock : new Date(atMs).toISOString();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    recover.mutate({ id: webhook.id, startDate: toInstant(start), ...(end && { endDate: toInstant(end) }) });
  };
  const field = findField(recover.error);
  const message = recover.error && describeError(recover.error);
  const recovered = recover.data?.recovered;
  return (
    <Dialog title="Recover failed deliveries" isOpen onClose={onClose}>
      {recovered === undefined ? (
        <form onSubmit={submit} className="space-y-4">
          <p className="text-muted">
            Every failed delivery whose event fired within this time is sent again, under its own id and with all six
            attempts. Delivered ones are not sent again. A receiver that checks the id processes nothing twice.
          </p>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label={`Since (${nameZone(timeZone)})`} error={field === 'startDate' ? message : null}>
              <Input type="datetime-local" required value={start} onChange={(event) => setStart(event.target.value)} />
            </Field>
            <Field label="Before (empty: now)" error={field === 'endDate' ? message : null}>
              <Input type="datetime-local" value={end} onChange={(event) => setEnd(event.target.value)} />
            </Field>
          </div>
          {message && field !== 'startDate' && field !== 'endDate' && <ErrorState message={message} />}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" disabled={recover.isPending}>
              {recover.isPending ? 'Recovering …' : 'Recover'}
            </Button>
          </div>
        </form>
      ) : (
        <div className="space-y-4">
          <p role="status">
            {recovered === 0
              ? 'No delivery failed within this time.'
              : `${recovered} ${recovered === 1 ? 'delivery is' : 'deliveries are'} sent again.`}
          </p>
          <div className="flex justify-end">
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
