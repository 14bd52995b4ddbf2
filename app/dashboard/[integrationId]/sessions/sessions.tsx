'use client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import type { Session, Verdict } from '../../../../contract/sessions';
import { DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { PageHeader } from '../../components/page-header';
import { Code, EmptyState } from '../../components/states';
import { useSelection, useUrlState } from '../../components/url-state';
import { PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { SessionFilterBar } from './filter-bar';
import { useLabeling } from './labeling';
import { SESSION_COLUMNS } from './session-columns';
import { readSessionFilters, SESSION_FILTER_NAMES } from './session-filters';
import { SessionPanel } from './session-panel';

/** The list of sessions to review, with a panel for the selected one. */
export function Sessions() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { params } = useUrlState();
  const list = useInfiniteQuery(trpc.sessions.list.infiniteQueryOptions(readSessionFilters(params), PAGES));
  const rows = list.data?.pages.flatMap(({ data }) => data);
  const { selected, select, readSelected } = useSelection();
  const labeling = useLabeling({ onUndo: ({ id }) => select(id) });

  const loadMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  /** Labels the selected session and selects the next one. */
  const review = (verdict: Verdict) => () => {
    const current = readSelected();
    const at = rows?.findIndex(({ id }) => id === current) ?? -1;
    const session = rows?.[at];
    if (!session) return;
    labeling.label(session, verdict);
    const next = rows?.[at + 1];
    if (next) select(next.id);
    else loadMore();
  };
  const hrefOf = ({ id }: Session) => `${base}/sessions/${encodeURIComponent(id)}`;
  const prefetch = ({ id: sessionId }: Session) => {
    void queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId }));
  };
  const isFiltered = [...SESSION_FILTER_NAMES.keys()].some((param) => params.has(param));
  return (
    <>
      <PageHeader
        title="Sessions"
        about={
          <span className="max-lg:hidden">Newest first. Select with j and k, label with b and h, undo with u.</span>
        }
      />
      <SessionFilterBar base={`${base}/sessions`} />
      <ListWithDetails
        list={
          <DataTable
            caption="Sessions"
            columns={SESSION_COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            onOpen={(session) => router.push(hrefOf(session))}
            onHover={prefetch}
            error={list.error && describeError(list.error)}
            onRetry={() => void list.refetch()}
            empty={<NoSessions isFiltered={isFiltered} integrationId={integrationId} />}
            hasMore={list.hasNextPage}
            isLoadingMore={list.isFetchingNextPage}
            onLoadMore={loadMore}
            shortcuts={[
              { keys: 'b', name: 'Label as bot, go on', run: review('bot') },
              { keys: 'h', name: 'Label as human, go on', run: review('human') },
              { keys: 'u', name: 'Undo the last label', run: labeling.undo },
              { keys: 'Escape', name: 'Close details', run: () => select(null) },
            ]}
          />
        }
        details={
          selected && (
            <SessionPanel
              key={selected}
              sessionId={selected}
              listed={rows?.find(({ id }) => id === selected)}
              base={base}
              labeling={labeling}
              onClose={() => select(null)}
            />
          )
        }
      />
    </>
  );
}

function NoSessions({ isFiltered, integrationId }: { isFiltered: boolean; integrationId: string }) {
  if (isFiltered)
    return (
      <EmptyState title="No session matches">
        <p>Remove a filter, or widen the time.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No sessions yet">
      <p>
        Sessions appear as soon as the pixel on a page of this integration reports one. To see one now, make a demo
        session:
      </p>
      <Code>{`npm run -s admin -- demo session --integration ${integrationId} --kind bot`}</Code>
    </EmptyState>
  );
}
