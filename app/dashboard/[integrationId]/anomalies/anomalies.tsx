'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import type { Anomaly } from '../../../../contract/findings';
import { TIME_SORTS } from '../../../../contract/sort-orders';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { shortenId } from '../../components/copying';
import { type Column, DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { UnreadRow, useLinkedRow } from '../../components/linked-row';
import { ListTools } from '../../components/list-tools';
import { PageHeader } from '../../components/page-header';
import { SeverityBadge } from '../../components/severity-badge';
import { useSorting } from '../../components/sorting';
import { EmptyState } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { useSelection, useUrlState } from '../../components/url-state';
import { listRows, PAGES, refreshEvery } from '../../list-pages';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { showInstant } from '../../time-zone';
import { IncidentBadge, useIncidentShortcuts } from '../incident-handling';
import { ANOMALY_FILTER_NAMES, readAnomalyFilters } from './anomaly-filters';
import { AnomalyPanel } from './anomaly-panel';
import { nameAnomaly, sayAnomaly } from './anomaly-words';
import { AnomalyFilterBar } from './filter-bar';

const LINK = 'whitespace-nowrap text-accent underline-offset-2 hover:underline';

const columnsOf = (base: string, timeZone: string): Column<Anomaly>[] => [
  {
    key: 'what',
    name: 'What was seen',
    width: '100%',
    cell: (anomaly) => {
      const sentence = sayAnomaly(anomaly, timeZone);
      return (
        <div className="py-1">
          <span className={joinClasses(TRUNCATED, 'font-medium')} title={anomaly.anomalyType}>
            {nameAnomaly(anomaly.anomalyType)}
          </span>{' '}
          {sentence && (
            <span className={joinClasses(TRUNCATED, 'text-muted')} title={sentence}>
              {sentence}
            </span>
          )}
        </div>
      );
    },
  },
  {
    key: 'severity',
    name: 'Severity',
    from: 'sm',
    width: '1%',
    cell: ({ severity }) => <SeverityBadge severity={severity} />,
  },
  {
    key: 'user',
    name: 'User',
    from: 'md',
    cell: ({ userId, userName }) =>
      userId ? (
        <HoverLink
          className={LINK}
          href={`${base}/users/${encodeURIComponent(userId)}`}
          title={[userName, userId].filter(Boolean).join(', ')}
        >
          <span className="inline-block max-w-36 truncate align-bottom">{userName ?? shortenId(userId)}</span>
        </HoverLink>
      ) : (
        <span className="text-faint">–</span>
      ),
  },
  {
    key: 'session',
    name: 'Session',
    from: 'lg',
    cell: ({ sessionId }) =>
      sessionId ? (
        <HoverLink className={LINK} href={`${base}/sessions/${encodeURIComponent(sessionId)}`} title={sessionId}>
          {shortenId(sessionId)}
        </HoverLink>
      ) : (
        <span className="text-faint">–</span>
      ),
  },
  { key: 'status', name: 'Status', width: '1%', cell: IncidentBadge },
  {
    key: 'detected',
    name: 'Detected',
    width: '1%',
    isNumber: true,
    sorts: { descending: 'newest', ascending: 'oldest' },
    cell: ({ detectedAt }) => <Time at={detectedAt} />,
  },
];

const NOUN = ['anomaly', 'anomalies'] as const;

/** Names a row for screen readers: no two of a list sound alike. It begins with exactly what its button shows. */
function describeRow(anomaly: Anomaly, timeZone: string): string {
  const sentence = sayAnomaly(anomaly, timeZone);
  const shown = [nameAnomaly(anomaly.anomalyType), sentence].filter(Boolean).join(' ');
  const who = sentence ? null : (anomaly.userName ?? anomaly.userId);
  return [shown, who, showInstant(anomaly.detectedAt, timeZone)].filter(Boolean).join(', ');
}

/** The anomalies that the pipeline reported, with a panel for the selected one. */
export function Anomalies() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const trpc = useTRPC();
  const { timeZone } = useTimeZone();
  const { params } = useUrlState();
  const { selected, select, readSelected } = useSelection();
  const sorting = useSorting(TIME_SORTS);
  const filters = readAnomalyFilters(params);
  const query = useInfiniteQuery(
    trpc.anomalies.list.infiniteQueryOptions(filters, { ...PAGES, refetchInterval: refreshEvery(REFRESH_MS) }),
  );
  const total = useQuery(trpc.anomalies.count.queryOptions(filters, { refetchInterval: REFRESH_MS })).data;
  const list = listRows(query);
  const { listed, options } = useLinkedRow(list.rows, selected);
  const elsewhere = useQuery(trpc.anomalies.get.queryOptions({ id: selected ?? '' }, options));
  const anomaly = listed ?? (options.enabled ? elsewhere.data : undefined);
  const shortcuts = useIncidentShortcuts('anomalies', readSelected);
  const isFiltered = [...ANOMALY_FILTER_NAMES.keys()].some((param) => params.has(param));
  return (
    <>
      <PageHeader title="Anomalies" about="What the correlation found odd." />
      <AnomalyFilterBar />
      <ListTools
        {...{
          list: 'anomalies',
          page: 'anomalies',
          noun: NOUN,
          filters,
          total,
          rows: list.rows,
          hasMore: list.hasMore,
        }}
      />
      <ListWithDetails
        list={
          <DataTable
            caption="Anomalies"
            noun={NOUN}
            total={total}
            sorting={sorting}
            columns={columnsOf(base, timeZone)}
            {...list}
            rowKey={({ id }) => id}
            rowName={(row) => describeRow(row, timeZone)}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={<NoAnomalies isFiltered={isFiltered} />}
            shortcuts={[...shortcuts, { keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          anomaly ? (
            <AnomalyPanel key={anomaly.id} anomaly={anomaly} base={base} onClose={() => select(null)} />
          ) : (
            options.enabled &&
            elsewhere.error && <UnreadRow title="Anomaly" query={elsewhere} onClose={() => select(null)} />
          )
        }
      />
    </>
  );
}

function NoAnomalies({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title="No anomaly matches">
        <p>Remove a filter. Types are exact, in the pipeline’s own spelling.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No anomalies">
      <p>
        An anomaly is something that does not fit together: one device with several users, a user on a new kind of
        device, two users in one session, places too far apart for the time between, input on two devices or browsers at
        once, a person and a program in one session. A confirmed device causes no more of the first two.
      </p>
    </EmptyState>
  );
}
