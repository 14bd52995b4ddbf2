'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Usage as UsageData } from '../../../../contract/usage';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { Count, Percent } from '../../components/count';
import { type Column, DataTable } from '../../components/data-table';
import { PageHeader } from '../../components/page-header';
import { StatStrip } from '../../components/stat-strip';
import { Code, EmptyState, ErrorState, Skeleton } from '../../components/states';
import { useUrlState } from '../../components/url-state';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { RangeChoice } from './range-choice';
import { RequestsByDay } from './requests-by-day';
import { readRange } from './usage-range';

/** The integration's API usage and how close it is to its limits. */
export function UsageFigures() {
  const trpc = useTRPC();
  const { params } = useUrlState();
  const query = useQuery({ ...trpc.usage.get.queryOptions(readRange(params)), placeholderData: keepPreviousData });
  const integration = useQuery(trpc.integration.get.queryOptions({}));
  const usage = query.data;
  return (
    <>
      <PageHeader
        title="Usage"
        about="Requests with the integration’s keys by whole UTC days. The last seconds may be missing."
      >
        <RangeChoice shown={usage} />
      </PageHeader>
      {query.error && (
        <div className="mb-4">
          <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />
        </div>
      )}
      {usage ? (
        <div
          className={joinClasses(
            'grid grid-cols-12 gap-4 transition-opacity',
            query.isPlaceholderData && !query.error && 'opacity-60',
          )}
        >
          <div className="col-span-12">
            <Totals usage={usage} webhooks={integration.data?.webhooks} />
          </div>
          <div className="col-span-12">
            <RequestsByDay usage={usage} />
          </div>
          <section className="col-span-12 min-w-0">
            <h2 className="mb-2 font-semibold">By endpoint</h2>
            <Endpoints rows={usage.byEndpoint} />
          </section>
        </div>
      ) : (
        !query.error && (
          <div className="space-y-4">
            <Skeleton className="h-[152px]" />
            <Skeleton className="h-[290px]" />
            <Skeleton className="h-60" />
          </div>
        )
      )}
    </>
  );
}

/** The totals of the range and the plan's limits, in one strip. */
function Totals({ usage, webhooks }: { usage: UsageData; webhooks: { active: number; max: number } | undefined }) {
  const { totalRequests, webhookDeliveries, limits } = usage;
  const share = (count: number) =>
    totalRequests > 0 && (
      <>
        <Percent share={count / totalRequests} /> of all
      </>
    );
  const totals: [name: string, value: ReactNode, note: ReactNode][] = [
    ['Requests', <Count key="n" value={totalRequests} />, 'with a valid key'],
    ['Successful', <Count key="n" value={usage.successfulRequests} />, share(usage.successfulRequests)],
    ['Client errors', <Count key="n" value={usage.clientErrors} />, share(usage.clientErrors)],
    ['Rate limited', <Count key="n" value={usage.rateLimitedRequests} />, 'as client errors'],
    ['Server errors', <Count key="n" value={usage.serverErrors} />, share(usage.serverErrors)],
    [
      'Webhooks delivered',
      <Count key="n" value={webhookDeliveries.delivered} />,
      <>
        <Count value={webhookDeliveries.failed} /> failed
      </>,
    ],
    ['Limit of a key', <Count key="n" value={limits.requestsPerMinute} />, `a minute, ${limits.tier}`],
    ['Active webhooks', webhooks ? webhooks.active : '–', webhooks && `of ${webhooks.max}`],
  ];
  return <StatStrip stats={totals} />;
}

type Endpoint = UsageData['byEndpoint'][number];

const COLUMNS: Column<Endpoint>[] = [
  { key: 'method', name: 'Method', width: '1%', cell: ({ method }) => <span className="text-muted">{method}</span> },
  {
    key: 'path',
    name: 'Endpoint',
    width: '100%',
    cell: ({ path }) => (
      <span className={joinClasses(TRUNCATED, 'font-mono text-xs')} title={path}>
        {path}
      </span>
    ),
  },
  {
    key: 'requests',
    name: 'Requests',
    width: '1%',
    isNumber: true,
    cell: ({ requests }) => <Count value={requests} />,
  },
  { key: 'errors', name: 'Errors', width: '1%', isNumber: true, cell: ({ errors }) => <Count value={errors} /> },
  {
    key: 'share',
    name: 'Failing',
    from: 'sm',
    width: '1%',
    isNumber: true,
    cell: ({ requests, errors }) => <Percent share={requests === 0 ? 0 : errors / requests} />,
  },
];

function Endpoints({ rows }: { rows: Endpoint[] }) {
  return (
    <DataTable
      caption="Requests by endpoint"
      noun={['endpoint', 'endpoints']}
      columns={COLUMNS}
      rows={rows}
      rowKey={({ method, path }) => `${method} ${path}`}
      empty={
        <EmptyState title="No requests in these days">
          <p>Mint a key under Settings, API keys. Every request with it is counted here within seconds:</p>
          <Code>{'curl -H "Authorization: Bearer $API_KEY" "$BASE_URL/v1/stats"'}</Code>
        </EmptyState>
      }
    />
  );
}
