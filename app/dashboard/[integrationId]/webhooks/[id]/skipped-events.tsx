'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { SkippedEvent, SkipReason } from '../../../../../contract/deliveries';
import { ShortId } from '../../../components/copying';
import { type Column, DataTable } from '../../../components/data-table';
import { DetailsPanel, Facts, ListWithDetails } from '../../../components/details-panel';
import { EmptyState } from '../../../components/states';
import { Time, useTimeZone } from '../../../components/time';
import { useSelection } from '../../../components/url-state';
import { PAGES } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showInstant } from '../../../time-zone';
import { Payload } from '../payload';

const REASON_WORDS: Record<SkipReason, string> = {
  threshold: 'Below the threshold',
  disabled: 'The webhook was disabled',
  plan: 'The plan did not allow the webhook',
};

const COLUMNS: Column<SkippedEvent>[] = [
  {
    key: 'reason',
    name: 'Why',
    cell: ({ reason }) => <span className="whitespace-nowrap">{REASON_WORDS[reason]}</span>,
  },
  {
    key: 'payload',
    name: 'What would have been sent',
    from: 'md',
    cell: ({ payload }) => <code className="block max-w-72 truncate font-mono text-faint text-xs">{payload}</code>,
  },
  { key: 'type', name: 'Event', from: 'sm', width: '1%', cell: ({ eventType }) => eventType },
  { key: 'at', name: 'Fired', width: '1%', isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Events that were not sent to this webhook, each with the reason at the time it fired. */
export function SkippedEvents({ id }: { id: string }) {
  const trpc = useTRPC();
  const { timeZone } = useTimeZone();
  const { selected, select, readSelected } = useSelection('event');
  const list = useInfiniteQuery(trpc.deliveries.listSkipped.infiniteQueryOptions({ id }, PAGES));
  const rows = list.data?.pages.flatMap(({ data }) => data);
  const event = rows?.find(({ eventId }) => eventId === selected);
  return (
    <ListWithDetails
      list={
        <DataTable
          caption="Skipped events"
          noun={['event', 'events']}
          columns={COLUMNS}
          rows={rows}
          rowKey={({ eventId }) => eventId}
          rowName={({ reason, eventType, createdAt }) =>
            `${REASON_WORDS[reason]}, ${eventType}, ${showInstant(createdAt, timeZone)}`
          }
          selected={selected}
          onSelect={select}
          readSelected={readSelected}
          error={list.error && describeError(list.error)}
          onRetry={() => void list.refetch()}
          empty={
            <EmptyState title="Nothing was skipped">
              <p>
                Events of the last 30 days that were not sent to this webhook appear here: their payload was below its
                threshold, or it was disabled when they fired. Those can be sent once it is enabled again.
              </p>
            </EmptyState>
          }
          hasMore={list.hasNextPage}
          isLoadingMore={list.isFetchingNextPage}
          onLoadMore={() => void list.fetchNextPage()}
          shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
        />
      }
      details={
        event && (
          <DetailsPanel title="Skipped event" onClose={() => select(null)}>
            <div className="space-y-4">
              <Facts
                facts={[
                  ['Why', REASON_WORDS[event.reason]],
                  ['Event', event.eventType],
                  ['Fired', <Time key="at" at={event.createdAt} />],
                  ['Id', <ShortId key="id" id={event.eventId} name="event id" />],
                ]}
              />
              <Payload title="What would have been sent" text={event.payload} />
            </div>
          </DetailsPanel>
        )
      }
    />
  );
}
