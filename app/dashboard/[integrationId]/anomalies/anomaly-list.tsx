'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../components/button';
import { HoverLink } from '../../components/hover-link';
import { SeverityBadge } from '../../components/severity-badge';
import { ErrorState, Skeleton } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { IncidentBadge } from '../incident-handling';
import { nameAnomaly, sayAnomaly } from './anomaly-words';

interface AnomalyListProps {
  filters: { userId: string } | { sessionId: string };
  base: string;
  refetchInterval?: number | false;
}

/** The anomalies of a user or of a session, shown on their page. Each links to its entry in the full list. */
export function AnomalyList({ filters, base, refetchInterval = false }: AnomalyListProps) {
  const trpc = useTRPC();
  const { timeZone } = useTimeZone();
  const query = useInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions(filters, { ...PAGES, refetchInterval }));
  const list = listRows(query);
  if (list.error && !list.rows) return <ErrorState message={list.error} onRetry={list.onRetry} />;
  if (!list.rows) return <Skeleton className="h-5" />;
  if (list.rows.length === 0) return <p className="text-faint">None was found.</p>;
  return (
    <>
      <ul className="max-h-80 space-y-1.5 overflow-y-auto">
        {list.rows.map((anomaly) => (
          <li key={anomaly.id} className="flex items-center gap-3">
            <HoverLink
              className="min-w-0 flex-1 truncate hover:underline"
              title={sayAnomaly(anomaly, timeZone) ?? nameAnomaly(anomaly.anomalyType)}
              href={`${base}/anomalies?${new URLSearchParams({ ...filters, selected: anomaly.id })}`}
            >
              {nameAnomaly(anomaly.anomalyType)}
            </HoverLink>
            <SeverityBadge severity={anomaly.severity} />
            <IncidentBadge status={anomaly.status} />
            <span className="text-muted">
              <Time at={anomaly.detectedAt} />
            </span>
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <Button isSmall className="mt-2" disabled={list.isLoadingMore} onClick={list.onLoadMore}>
          Load more
        </Button>
      )}
    </>
  );
}
