'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../../components/badge';
import { HoverLink } from '../../../components/hover-link';
import { Section } from '../../../components/page-header';
import { ErrorState, Skeleton } from '../../../components/states';
import { Time } from '../../../components/time';
import { PAGES } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';

const REFRESH_MS = 1_500;
const isPending = ({ status }: { status: string }) => status === 'Pending';

interface RefreshProps {
  sessionId: string;
  /** While the session is open. */
  refetchInterval: number | false;
}

const STATUS_TONES = new Map<string, Tone>([
  ['Delivered', 'human'],
  ['Pending', 'accent'],
]);

/** The anomalies that the pipeline reported for the session. */
export function SessionAnomalies({ sessionId, refetchInterval }: RefreshProps) {
  const trpc = useTRPC();
  const list = useInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions({ sessionId }, { ...PAGES, refetchInterval }));
  const rows = list.data?.pages.flatMap(({ data }) => data);
  return (
    <Findings title="Anomalies" none="None was found." query={list} count={rows?.length}>
      {rows?.map(({ id, anomalyType, severity, detectedAt }) => (
        <li key={id} className="flex items-center gap-3">
          <span className="min-w-0 flex-1 truncate">{anomalyType}</span>
          <Badge tone={severity === 'high' ? 'danger' : 'neutral'}>{severity}</Badge>
          <span className="text-muted">
            <Time at={detectedAt} />
          </span>
        </li>
      ))}
    </Findings>
  );
}

/** The webhook deliveries about the session. */
export function SessionDeliveries({ sessionId, base, refetchInterval }: RefreshProps & { base: string }) {
  const trpc = useTRPC();
  const list = useQuery(
    trpc.sessions.listDeliveries.queryOptions(
      { sessionId },
      // The last deliveries are still pending when the session has just ended.
      { refetchInterval: ({ state }) => refetchInterval || (state.data?.some(isPending) ? REFRESH_MS : false) },
    ),
  );
  return (
    <Findings title="Sent about it" none="Nothing was sent." query={list} count={list.data?.length}>
      {list.data?.map(({ id, subscriptionId, eventType, status, createdAt }) => (
        <li key={id} className="flex items-center gap-3">
          <HoverLink
            className="min-w-0 flex-1 truncate hover:underline"
            href={`${base}/webhooks/${encodeURIComponent(subscriptionId)}?delivery=${encodeURIComponent(id)}`}
          >
            {eventType}
          </HoverLink>
          <Badge tone={STATUS_TONES.get(status) ?? 'danger'}>{status}</Badge>
          <span className="text-muted">
            <Time at={createdAt} />
          </span>
        </li>
      ))}
    </Findings>
  );
}

interface FindingsProps {
  title: string;
  none: string;
  query: { error: unknown; refetch(): unknown };
  count: number | undefined;
  children: ReactNode;
}

function Findings({ title, none, query, count, children }: FindingsProps) {
  return (
    <Section title={title}>
      {query.error ? (
        <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />
      ) : count === undefined ? (
        <Skeleton className="h-5" />
      ) : count === 0 ? (
        <p className="text-faint">{none}</p>
      ) : (
        <ul className="space-y-1.5">{children}</ul>
      )}
    </Section>
  );
}
