'use client';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import type { Session, Verdict } from '../../../../contract/sessions';
import { SESSION_SORTS } from '../../../../contract/sort-orders';
import { DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { ListTools } from '../../components/list-tools';
import { NewRows } from '../../components/new-rows';
import { PageHeader } from '../../components/page-header';
import { useRowSelection } from '../../components/row-selection';
import { WithLetterKeys } from '../../components/shortcuts';
import { useSorting } from '../../components/sorting';
import { Code, EmptyState } from '../../components/states';
import { useTimeZone } from '../../components/time';
import { useSelection, useUrlState } from '../../components/url-state';
import { PAGES } from '../../list-pages';
import { REFRESH_MS, useNewRows } from '../../new-rows';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { BulkBar } from './bulk-labeling';
import { SessionFilterBar } from './filter-bar';
import { useLabeling } from './labeling';
import { readListOrigin, withOrigin } from './list-origin';
import { nameSession, SESSION_COLUMNS, SESSION_NOUN } from './session-columns';
import { readSessionFilters, readSessionList, SESSION_FILTER_NAMES } from './session-filters';
import { SessionPanel } from './session-panel';

/** The list of sessions to review, with a panel for the selected one. */
export function Sessions() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { params } = useUrlState();
  const sorting = useSorting(SESSION_SORTS);
  const calendar = useTimeZone();
  const filters = readSessionList(params, calendar);
  // It does not move while somebody works on it: `useNewRows` says what is new.
  const still = { ...PAGES, refetchOnWindowFocus: false, refetchOnReconnect: false };
  const list = useInfiniteQuery(trpc.sessions.listSorted.infiniteQueryOptions(filters, still));
  const total = useQuery(
    trpc.sessions.count.queryOptions(readSessionFilters(params, calendar), { refetchInterval: REFRESH_MS }),
  ).data;
  const rows = list.data?.pages.flatMap(({ data }) => data);
  const news = useNewRows(
    list,
    trpc.sessions.listSorted.queryOptions(filters),
    trpc.sessions.listSorted.infiniteQueryKey(filters),
    sorting.current === 'newest',
  );
  const { selected, select, selectHere, readSelected } = useSelection();
  const labeling = useLabeling({ onUndo: ({ id }) => selectHere(id) });
  const selection = useRowSelection(rows?.map(({ id }) => id) ?? []);

  const loadMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  /** The selected session. A link may have selected one that the list does not have, which the panel has read. */
  const findCurrent = (): Session | undefined => {
    const sessionId = readSelected();
    if (sessionId === null) return undefined;
    const listed = rows?.find(({ id }) => id === sessionId);
    return listed ?? queryClient.getQueryData(trpc.sessions.get.queryKey({ sessionId }));
  };
  /** Labels the selected session and selects the next one. */
  const review = (verdict: Verdict) => () => {
    const session = findCurrent();
    if (!session || !labeling.label(session, verdict)) return;
    const at = rows?.findIndex(({ id }) => id === session.id) ?? -1;
    if (at < 0) return;
    const next = rows?.[at + 1];
    if (next) select(next.id);
    else loadMore();
  };
  const explain = () => {
    const session = findCurrent();
    if (session) void labeling.explain(session);
  };
  const hrefOf = ({ id }: Pick<Session, 'id'>) =>
    withOrigin(`${base}/sessions/${encodeURIComponent(id)}`, readListOrigin(params));
  /** Selects the session before or after, for fingers. */
  const step = (by: 1 | -1) => {
    const at = (rows?.findIndex(({ id }) => id === readSelected()) ?? -1) + by;
    const next = rows?.[at];
    if (next) select(next.id);
    if (at >= (rows?.length ?? 0) - 1) loadMore();
  };
  const prefetch = ({ id: sessionId }: Session) => {
    void queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId }));
  };
  const isFiltered = [...SESSION_FILTER_NAMES.keys()].some((param) => params.has(param));
  return (
    <>
      <PageHeader
        title="Sessions"
        about={
          <span className="max-lg:hidden">
            <WithLetterKeys>
              Select with j and k, label with b and h, give a reason with 1 to 8 or r, undo with u.
            </WithLetterKeys>
          </span>
        }
      />
      <SessionFilterBar />
      <ListTools
        {...{ list: 'sessions', page: 'sessions', noun: SESSION_NOUN, filters, rows, hasMore: list.hasNextPage, total }}
        news={sorting.current === 'newest' && <NewRows {...news} />}
        note={sorting.current === 'highestScore' && 'Highest scores among the newest 5,000.'}
      />
      <BulkBar
        sessions={rows?.filter(({ id }) => selection.chosen.has(id)) ?? []}
        labeling={labeling}
        onClear={selection.clear}
      />
      <ListWithDetails
        list={
          <DataTable
            caption="Sessions"
            noun={SESSION_NOUN}
            total={total}
            sorting={sorting}
            columns={SESSION_COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            rowName={(session) => nameSession(session, calendar.timeZone)}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            selection={selection}
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
              { keys: 'r', name: 'Give a reason for the label', run: explain },
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
              href={hrefOf({ id: selected })}
              base={base}
              labeling={labeling}
              onStep={step}
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
