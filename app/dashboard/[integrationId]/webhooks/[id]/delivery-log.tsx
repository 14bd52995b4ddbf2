'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Delivery } from '../../../../../contract/deliveries';
import { TIME_SORTS } from '../../../../../contract/sort-orders';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button } from '../../../components/button';
import { type Column, DataTable } from '../../../components/data-table';
import { DateRange } from '../../../components/date-range';
import { ListWithDetails } from '../../../components/details-panel';
import { Select } from '../../../components/field';
import { ListTools } from '../../../components/list-tools';
import { useSorting } from '../../../components/sorting';
import { EmptyState } from '../../../components/states';
import { Time, useTimeZone } from '../../../components/time';
import { useSelection, useUrlState } from '../../../components/url-state';
import { PAGES, refreshEvery } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { useStaff } from '../../../staff';
import { DELIVERY_STATUS_WORDS, DeliveryStatusBadge } from '../delivery-status';
import { VerifySignature } from '../verify-signature';
import { readDeliveryFilters } from './delivery-filters';
import { DeliveryPanel } from './delivery-panel';
import { RecoverDialog } from './recover-dialog';
import { useScrollAnchor, useStableRows } from './stable-rows';

const REFRESH_MS = 2_000;
/** Counting reads more than the page that is shown. */
const COUNT_REFRESH_MS = 15_000;

const COLUMNS: Column<Delivery>[] = [
  {
    key: 'status',
    name: 'Status',
    width: '1%',
    cell: ({ status, test }) => (
      <span className="inline-flex items-center gap-2">
        <DeliveryStatusBadge status={status} />
        {test && <span className="text-faint text-xs">test</span>}
      </span>
    ),
  },
  {
    key: 'class',
    name: 'Outcome',
    from: 'sm',
    cell: ({ failureClass, nextAttemptAt }) => (
      <span className="whitespace-nowrap">
        {failureClass}
        {nextAttemptAt && (
          <span className="text-muted">
            {failureClass && ', '}next attempt <Time at={nextAttemptAt} />
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'id',
    name: 'Delivery',
    from: 'sm',
    cell: ({ id }) => <code className="font-mono text-muted text-xs">{id.slice(-12)}</code>,
  },
  {
    key: 'attempts',
    name: 'Attempts',
    width: '1%',
    isNumber: true,
    cell: ({ attempts, resends }) => (
      <>
        {attempts}
        {resends > 0 && <span className="text-faint"> · resent {resends}×</span>}
      </>
    ),
  },
  {
    key: 'ended',
    name: 'Ended',
    from: 'lg',
    width: '1%',
    isNumber: true,
    cell: ({ finishedAt }) => <Time at={finishedAt} />,
  },
  {
    ...{ key: 'at', name: 'Fired', width: '1%', isNumber: true },
    sorts: { descending: 'newest', ascending: 'oldest' },
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

type Filters = ReturnType<typeof readDeliveryFilters>;

const NOUN = ['delivery', 'deliveries'] as const;

/** The deliveries of a webhook. The log refreshes itself while the page is visible. */
export function DeliveryLog({ webhook }: { webhook: Webhook }) {
  const { current: sort } = useSorting(TIME_SORTS);
  const filters = readDeliveryFilters(useUrlState().params, useTimeZone());
  return (
    <>
      <DeliveryFilters webhook={webhook} />
      <Deliveries key={JSON.stringify([filters, sort])} webhook={webhook} filters={filters} />
    </>
  );
}

function Deliveries({ webhook, filters }: { webhook: Webhook; filters: Filters }) {
  const { id } = webhook;
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection('delivery');
  const sorting = useSorting(TIME_SORTS);
  const total = useQuery(
    trpc.deliveries.count.queryOptions({ id, ...filters }, { refetchInterval: COUNT_REFRESH_MS }),
  ).data;
  const list = useInfiniteQuery(
    trpc.deliveries.list.infiniteQueryOptions(
      { id, ...filters, sort: sorting.current },
      {
        ...PAGES,
        refetchInterval: refreshEvery(REFRESH_MS),
      },
    ),
  );
  const { rows, hasMore, onLoadMore } = useStableRows(list);
  const box = useRef<HTMLDivElement>(null);
  useScrollAnchor(box, rows);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <ListWithDetails
      list={
        <div ref={box} className="[overflow-anchor:none]">
          <ListTools
            {...{ list: 'deliveries', noun: NOUN, rows, hasMore, total }}
            filters={{ id, ...filters, sort: sorting.current }}
          />
          <DataTable
            caption="Deliveries"
            noun={NOUN}
            total={total}
            sorting={sorting}
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id: key }) => key}
            rowName={({ id: key, status, test }) =>
              `${DELIVERY_STATUS_WORDS[status].name}${test ? ' test' : ''}, delivery ${key.slice(-12)}`
            }
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            error={list.error && describeError(list.error)}
            onRetry={() => void list.refetch()}
            empty={isFiltered ? <NoMatch /> : <NothingSent webhook={webhook} />}
            hasMore={hasMore}
            isLoadingMore={list.isFetchingNextPage}
            onLoadMore={onLoadMore}
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        </div>
      }
      details={
        selected && (
          <DeliveryPanel key={selected} deliveryId={selected} webhook={webhook} onClose={() => select(null)} />
        )
      }
    />
  );
}

function DeliveryFilters({ webhook }: { webhook: Webhook }) {
  const { params, change } = useUrlState();
  const { canWrite } = useStaff();
  const [isRecovering, setRecovering] = useState(false);
  const set = (name: string, value: string) => change({ [name]: value, delivery: null });
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <Select
        aria-label="Status"
        className="w-auto"
        value={params.get('status') ?? ''}
        onChange={(event) => set('status', event.target.value)}
      >
        <option value="">Status: any</option>
        {Object.entries(DELIVERY_STATUS_WORDS).map(([status, { name }]) => (
          <option key={status} value={status}>
            {name}
          </option>
        ))}
      </Select>
      <DateRange about="Fired" patch={{ delivery: null }} />
      <span className="flex-1" />
      <Button disabled={!canWrite} onClick={() => setRecovering(true)}>
        Recover since …
      </Button>
      {isRecovering && <RecoverDialog webhook={webhook} onClose={() => setRecovering(false)} />}
    </div>
  );
}

function NoMatch() {
  return (
    <EmptyState title="No delivery matches">
      <p>Remove a filter, or widen the time. The log goes back 30 days.</p>
    </EmptyState>
  );
}

function NothingSent({ webhook }: { webhook: Webhook }) {
  return (
    <EmptyState title="Nothing was sent yet">
      <p>
        The first {webhook.eventType} that fires appears here by itself. Until then, send a test, and verify it at the
        receiver:
      </p>
      <VerifySignature />
    </EmptyState>
  );
}
