'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { SessionDetails, SessionEvent } from '../../../../../contract/session-events';
import type { Session } from '../../../../../contract/sessions';
import { Count } from '../../../components/count';
import { type Column, DataTable } from '../../../components/data-table';
import { Section } from '../../../components/page-header';
import { EmptyState } from '../../../components/states';
import { showDuration } from '../../../components/time';
import { PAGES } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showPath } from '../session-facts';
import { colorOfType, showOffset } from '../timeline';

/** The pages that the session visited. */
export function Pages({ details }: { details: SessionDetails }) {
  const startMs = Date.parse(details.startTime);
  return (
    <Section title="Pages">
      <ol className="space-y-1.5">
        {details.pageHistory.map(({ url, timestamp, durationMs }) => (
          <li key={`${timestamp} ${url}`} className="flex items-baseline gap-3">
            <span className="w-12 shrink-0 text-right text-faint">{showOffset(Date.parse(timestamp) - startMs)}</span>
            <span className="min-w-0 flex-1 truncate" title={url}>
              {showPath(url)}
            </span>
            <span className="shrink-0 text-faint">{durationMs === null ? '' : showDuration(durationMs)}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const columnsSince = (startMs: number): Column<SessionEvent>[] => [
  { key: 'sequence', name: '#', width: '1%', cell: ({ sequence }) => <span className="text-faint">{sequence}</span> },
  {
    key: 'at',
    name: 'At',
    width: '1%',
    cell: ({ timestamp }) => <span title={timestamp}>{showOffset(Date.parse(timestamp) - startMs)}</span>,
  },
  {
    key: 'type',
    name: 'Type',
    cell: ({ type }) => (
      <span className="inline-flex items-center gap-1.5">
        <span className="size-2 rounded-[2px]" style={{ background: colorOfType(type) }} aria-hidden />
        {type}
      </span>
    ),
  },
  { key: 'count', name: 'Count', isNumber: true, cell: ({ eventCount }) => <Count value={eventCount} /> },
  {
    key: 'duration',
    name: 'Took',
    isNumber: true,
    from: 'sm',
    cell: ({ durationMs }) => (durationMs === null ? '' : showDuration(durationMs)),
  },
  {
    key: 'page',
    name: 'Page',
    from: 'md',
    cell: ({ url }) => <span className="block max-w-80 truncate text-muted">{url && showPath(url)}</span>,
  },
  {
    key: 'metadata',
    name: 'Metadata',
    from: 'lg',
    cell: ({ metadata }) =>
      metadata && (
        <code
          className="block max-w-80 truncate font-mono text-faint text-xs"
          title={JSON.stringify(metadata, null, 2)}
        >
          {JSON.stringify(metadata)}
        </code>
      ),
  },
];

/** Metadata of the events in their order in the session. Typed content is never recorded. */
export function Events({ session, refetchInterval }: { session: Session; refetchInterval: number | false }) {
  const trpc = useTRPC();
  const list = useInfiniteQuery(
    trpc.sessions.listEvents.infiniteQueryOptions({ sessionId: session.id }, { ...PAGES, refetchInterval }),
  );
  return (
    <section>
      <h2 className="mb-2 font-semibold">Events</h2>
      <DataTable
        caption="Events"
        columns={columnsSince(Date.parse(session.createdAt))}
        rows={list.data?.pages.flatMap(({ data }) => data)}
        rowKey={({ id }) => id}
        error={list.error && describeError(list.error)}
        onRetry={() => void list.refetch()}
        empty={
          <EmptyState title="No events">
            <p>The pixel has reported nothing but the start of this session.</p>
          </EmptyState>
        }
        hasMore={list.hasNextPage}
        isLoadingMore={list.isFetchingNextPage}
        onLoadMore={() => void list.fetchNextPage()}
      />
    </section>
  );
}
