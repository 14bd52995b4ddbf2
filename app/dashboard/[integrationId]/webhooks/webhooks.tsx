'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import type { Webhook } from '../../../../contract/webhooks';
import { Button, ButtonLink } from '../../components/button';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { type Column, DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { UnreadRow, useLinkedRow } from '../../components/linked-row';
import { PageHeader } from '../../components/page-header';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { AttemptStrip } from './attempt-strip';
import { DeliveryStatusBadge } from './delivery-status';
import { PlanCap } from './plan-cap';
import { VerifySignature } from './verify-signature';
import { WebhookBanners } from './webhook-banners';
import { WebhookPanel } from './webhook-panel';
import { WebhookStateBadge } from './webhook-state';

const REFRESH_MS = 10_000;

const COLUMNS: Column<Webhook>[] = [
  {
    key: 'name',
    name: 'Webhook',
    width: '30%',
    cell: ({ name }) => (
      <span className={joinClasses(TRUNCATED, 'min-w-32 font-medium')} title={name}>
        {name}
      </span>
    ),
  },
  { key: 'state', name: 'State', width: '1%', cell: ({ id }) => <WebhookStateBadge id={id} /> },
  { key: 'type', name: 'Event', from: 'sm', cell: ({ eventType }) => eventType },
  {
    key: 'url',
    name: 'URL',
    from: 'xl',
    width: '100%',
    cell: ({ url }) => (
      <span className={joinClasses(TRUNCATED, 'text-muted')} title={url}>
        {url}
      </span>
    ),
  },
  {
    key: 'attempts',
    name: 'Last 100 attempts',
    from: 'lg',
    width: '1%',
    cell: ({ id }) => <RowStrip id={id} />,
  },
  {
    key: 'last',
    name: 'Last delivery',
    from: 'md',
    width: '1%',
    cell: ({ lastDeliveryStatus: status }) =>
      status ? <DeliveryStatusBadge status={status} /> : <span className="text-faint">None yet</span>,
  },
  {
    key: 'at',
    name: 'At',
    from: 'md',
    width: '1%',
    isNumber: true,
    cell: ({ lastDeliveryAt }) => <Time at={lastDeliveryAt} />,
  },
];

function RowStrip({ id }: { id: string }) {
  const health = useQuery(useTRPC().webhooks.getHealth.queryOptions({ id }, { refetchInterval: REFRESH_MS }));
  return (
    <div className="h-5 w-26 @6xl:w-40">
      {health.data && <AttemptStrip attempts={health.data.attempts} height={20} />}
    </div>
  );
}

/** The subscriptions of the integration, with a panel for the selected one. */
export function Webhooks() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const router = useRouter();
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const list = useQuery(trpc.webhooks.list.queryOptions({}, { refetchInterval: REFRESH_MS }));
  const rows = list.data?.data;
  const { listed, options } = useLinkedRow(rows, selected);
  const elsewhere = useQuery(trpc.webhooks.get.queryOptions({ id: selected ?? '' }, options));
  const webhook = listed ?? (options.enabled ? elsewhere.data : undefined);
  const hrefOf = ({ id }: Webhook) => `${base}/${encodeURIComponent(id)}`;
  const { canWrite } = useStaff();
  return (
    <>
      <PageHeader title="Webhooks" about="Each sends one type of event to one URL, as a signed POST.">
        <PlanCap />
        {canWrite ? (
          <ButtonLink kind="primary" href={`${base}/new`}>
            New webhook
          </ButtonLink>
        ) : (
          <Button kind="primary" disabled>
            New webhook
          </Button>
        )}
      </PageHeader>
      <WebhookBanners />
      <ListWithDetails
        list={
          <DataTable
            caption="Webhooks"
            noun={['webhook', 'webhooks']}
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            rowName={({ name, eventType, url }) => `${name}, ${eventType} to ${url}`}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            onOpen={(opened) => router.push(hrefOf(opened))}
            error={list.error && describeError(list.error)}
            onRetry={() => void list.refetch()}
            empty={
              <EmptyState title="No webhooks yet">
                <p>
                  A webhook tells another system at once what happens here, with a signed POST. Create one, keep its
                  secret, and let the receiver verify each delivery:
                </p>
                <VerifySignature />
              </EmptyState>
            }
            shortcuts={[
              ...(canWrite ? [{ keys: 'n', name: 'New webhook', run: () => router.push(`${base}/new`) }] : []),
              { keys: 'Escape', name: 'Close details', run: () => select(null) },
            ]}
          />
        }
        details={
          webhook ? (
            <WebhookPanel key={webhook.id} webhook={webhook} href={hrefOf(webhook)} onClose={() => select(null)} />
          ) : (
            options.enabled &&
            elsewhere.error && <UnreadRow title="Webhook" query={elsewhere} onClose={() => select(null)} />
          )
        }
      />
    </>
  );
}
