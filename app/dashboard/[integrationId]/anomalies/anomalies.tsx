'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import type { Anomaly } from '../../../../contract/findings';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { shortenId } from '../../components/copying';
import { type Column, DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { PageHeader } from '../../components/page-header';
import { SeverityBadge } from '../../components/severity-badge';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection, useUrlState } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { ANOMALY_FILTER_NAMES, readAnomalyFilters } from './anomaly-filters';
import { AnomalyPanel } from './anomaly-panel';
import { nameAnomaly } from './anomaly-words';
import { AnomalyFilterBar } from './filter-bar';

const LINK = 'whitespace-nowrap text-accent underline-offset-2 hover:underline';

const columnsOf = (base: string): Column<Anomaly>[] => [
  {
    key: 'type',
    name: 'Type',
    width: '100%',
    cell: ({ anomalyType }) => (
      <span className={joinClasses(TRUNCATED, 'font-medium')} title={anomalyType}>
        {nameAnomaly(anomalyType)}
      </span>
    ),
  },
  { key: 'severity', name: 'Severity', width: '1%', cell: ({ severity }) => <SeverityBadge severity={severity} /> },
  {
    key: 'user',
    name: 'User',
    from: 'sm',
    cell: ({ userId }) =>
      userId ? (
        <HoverLink className={LINK} href={`${base}/users/${encodeURIComponent(userId)}`} title={userId}>
          {shortenId(userId)}
        </HoverLink>
      ) : (
        <span className="text-faint">–</span>
      ),
  },
  {
    key: 'session',
    name: 'Session',
    from: 'md',
    cell: ({ sessionId }) =>
      sessionId ? (
        <HoverLink className={LINK} href={`${base}/sessions/${encodeURIComponent(sessionId)}`} title={sessionId}>
          {shortenId(sessionId)}
        </HoverLink>
      ) : (
        <span className="text-faint">–</span>
      ),
  },
  {
    key: 'detected',
    name: 'Detected',
    width: '1%',
    isNumber: true,
    cell: ({ detectedAt }) => <Time at={detectedAt} />,
  },
];

/** The anomalies that the pipeline reported, newest first, with a panel for the selected one. */
export function Anomalies() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const trpc = useTRPC();
  const { params } = useUrlState();
  const { selected, select, readSelected } = useSelection();
  const query = useInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions(readAnomalyFilters(params), PAGES));
  const list = listRows(query);
  const anomaly = list.rows?.find(({ id }) => id === selected);
  const isFiltered = [...ANOMALY_FILTER_NAMES.keys()].some((param) => params.has(param));
  return (
    <>
      <PageHeader title="Anomalies" about="What the correlation found odd, newest first." />
      <AnomalyFilterBar />
      <ListWithDetails
        list={
          <DataTable
            caption="Anomalies"
            columns={columnsOf(base)}
            {...list}
            rowKey={({ id }) => id}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={<NoAnomalies isFiltered={isFiltered} />}
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          anomaly && <AnomalyPanel key={anomaly.id} anomaly={anomaly} base={base} onClose={() => select(null)} />
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
        device, two users in one session, places too far apart for the time between, input on two devices at once, a
        person and a program in one session. A confirmed device causes no more of the first two.
      </p>
    </EmptyState>
  );
}
