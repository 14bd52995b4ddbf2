'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SkippedCount } from '../../../../../contract/deliveries';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button } from '../../../components/button';
import { ConfirmDialog } from '../../../components/dialog';
import { SkipForward } from '../../../components/icons';
import { useToast } from '../../../components/toast';
import { useTRPC } from '../../../queries';
import { useStaff } from '../../../staff';
import { countEvents } from '../webhook-banners';

/** How many events the server sends at a time. */
const MAX_SENT = 1_000;

/** Offers to send what an enabled webhook skipped while it was disabled. Shows nothing if there is nothing. */
export function SkippedOffer({ webhook }: { webhook: Webhook }) {
  const { canWrite } = useStaff();
  const [isAsked, setAsked] = useState(false);
  const skipped = useQuery(useTRPC().deliveries.countSkipped.queryOptions({ id: webhook.id })).data;
  if (!webhook.enabled || !skipped || skipped.count === 0) return null;
  return (
    <section
      aria-label="Skipped events"
      className="flex flex-wrap items-center gap-3 rounded border border-line bg-surface px-3 py-2"
    >
      <SkipForward size={16} className="text-muted" aria-hidden />
      <p className="min-w-0 flex-1">
        {countEvents(skipped)} {skipped.count === 1 ? 'was' : 'were'} skipped while this webhook was disabled.
      </p>
      <Button disabled={!canWrite} onClick={() => setAsked(true)}>
        Send {skipped.count === 1 ? 'it' : 'them'} …
      </Button>
      <SendSkippedDialog id={webhook.id} skipped={skipped} isOpen={isAsked} onClose={() => setAsked(false)} />
    </section>
  );
}

interface SendSkippedDialogProps {
  id: string;
  skipped: SkippedCount;
  isOpen: boolean;
  onClose(): void;
}

/** Asks whether to send the skipped events, and sends them. */
export function SendSkippedDialog({ id, skipped, isOpen, onClose }: SendSkippedDialogProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const send = useMutation(
    trpc.deliveries.sendSkipped.mutationOptions({
      onSuccess: ({ sent, remaining }) => {
        queryClient.setQueryData(trpc.deliveries.countSkipped.queryKey({ id }), remaining);
        void queryClient.invalidateQueries({ queryKey: trpc.deliveries.pathKey() });
        const rest = remaining.count > 0 ? ` ${countEvents(remaining)} remain.` : '';
        toast({
          text:
            sent === 0 ? 'Nothing was left to send.' : `${countEvents({ count: sent, isMore: false })} sent.${rest}`,
        });
      },
    }),
  );
  const words = countEvents(skipped).toLowerCase();
  return (
    <ConfirmDialog
      title={skipped.count === 1 ? 'Send the event that was skipped?' : 'Send the events that were skipped?'}
      act={skipped.count > MAX_SENT ? `Send the oldest ${MAX_SENT.toLocaleString('en')}` : `Send ${words}`}
      kind="plain"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => send.mutateAsync({ id })}
      consequence={
        <>
          While this webhook was disabled, {words} that it would have sent {skipped.count === 1 ? 'was' : 'were'}{' '}
          skipped. Each is sent once, oldest first, as a new delivery with the payload of that time. If you cancel, you
          can send them later from this page: they stay for 30 days.
        </>
      }
    />
  );
}
