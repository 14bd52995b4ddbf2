'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { InspectedDelivery, SentRequest } from '../../../../../contract/deliveries';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button } from '../../../components/button';
import { CopyButton, ShortId } from '../../../components/copying';
import { DetailsPanel, Facts } from '../../../components/details-panel';
import { Pending } from '../../../components/pending';
import { Code } from '../../../components/states';
import { Time } from '../../../components/time';
import { useToast } from '../../../components/toast';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { useStaff } from '../../../staff';
import { DELIVERY_STATUS_WORDS, DeliveryStatusBadge } from '../delivery-status';
import { Payload } from '../payload';
import { AttemptLog } from './attempt-log';

const REFRESH_MS = 2_000;

interface DeliveryPanelProps {
  deliveryId: string;
  webhook: Webhook;
  onClose(): void;
}

/** One delivery: how it ended, every attempt, and the request as it was signed and sent. */
export function DeliveryPanel({ deliveryId, webhook, onClose }: DeliveryPanelProps) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.deliveries.get.queryOptions(
      { id: deliveryId },
      { refetchInterval: ({ state }) => (state.data?.status === 'Pending' ? REFRESH_MS : false) },
    ),
  );
  const delivery = query.data;
  return (
    <DetailsPanel title="Delivery" onClose={onClose}>
      {delivery ? (
        <div className="space-y-4">
          <Outcome delivery={delivery} />
          <Resend delivery={delivery} webhook={webhook} />
          <AttemptLog delivery={delivery} />
          {delivery.payload === null ? (
            <p className="text-faint">The body of a test delivery is not kept.</p>
          ) : (
            <Payload title="Payload" text={delivery.payload} />
          )}
          {delivery.request && delivery.payload !== null && (
            <Request request={delivery.request} payload={delivery.payload} />
          )}
        </div>
      ) : (
        <Pending query={query} className="h-96" />
      )}
    </DetailsPanel>
  );
}

function Outcome({ delivery }: { delivery: InspectedDelivery }) {
  return (
    <Facts
      facts={[
        ['Status', <DeliveryStatusBadge key="status" status={delivery.status} />],
        ['Meaning', `${DELIVERY_STATUS_WORDS[delivery.status].meaning}.`],
        ['Class', delivery.failureClass],
        ['Fired', <Time key="fired" at={delivery.createdAt} />],
        delivery.status === 'Pending'
          ? ['Next attempt', delivery.nextAttemptAt ? <Time key="next" at={delivery.nextAttemptAt} /> : 'Under way']
          : ['Ended', <Time key="ended" at={delivery.finishedAt} />],
        ['Id', <ShortId key="id" id={delivery.id} name="delivery id" />],
      ]}
    />
  );
}

function Resend({ delivery, webhook }: { delivery: InspectedDelivery; webhook: Webhook }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { canWrite } = useStaff();
  const resend = useMutation(
    trpc.deliveries.resend.mutationOptions({
      onSuccess: (after) => {
        queryClient.setQueryData(trpc.deliveries.get.queryKey({ id: after.id }), after);
        void queryClient.invalidateQueries({ queryKey: trpc.deliveries.list.pathKey() });
        toast({ text: 'Sent again, under the same id.' });
      },
    }),
  );
  const obstacle = findObstacle(delivery, webhook, canWrite);
  return (
    <div className="space-y-1">
      <Button disabled={obstacle !== null || resend.isPending} onClick={() => resend.mutate({ id: delivery.id })}>
        Resend
      </Button>
      {obstacle && <p className="text-faint text-xs">{obstacle}</p>}
      {resend.error && (
        <p role="alert" className="text-danger text-xs">
          {describeError(resend.error)}
        </p>
      )}
    </div>
  );
}

/** Finds why the resend button is disabled. The server refuses the same cases. */
function findObstacle({ test, status }: InspectedDelivery, { enabled }: Webhook, canWrite: boolean): string | null {
  if (!canWrite) return 'Your role is viewer: you cannot send it again.';
  if (test) return 'A test cannot be resent: send a new one.';
  if (status === 'Pending') return 'It is pending: it is attempted on schedule.';
  return enabled ? null : 'The webhook is disabled: enable it first.';
}

function Request({ request, payload }: { request: SentRequest; payload: string }) {
  const { method, url, headers } = request;
  return (
    <section aria-label="Request as sent" className="space-y-2">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium text-muted text-xs">Request of the latest attempt</h3>
        <CopyButton text={toCurl(request, payload)}>Copy as curl</CopyButton>
      </div>
      <Code>
        {[`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')}
      </Code>
      <p className="text-faint text-xs">
        Signed with whsec_••••••••, which is never shown. This is the request with the present URL and secret. If one of
        them has changed since, another request was sent.
      </p>
    </section>
  );
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Writes the request as a curl command for a POSIX shell. */
function toCurl({ method, url, headers }: SentRequest, payload: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return [`curl -i -X ${method} ${quote(url)}`, ...lines, `--data-raw ${quote(payload)}`].join(' \\\n  ');
}
