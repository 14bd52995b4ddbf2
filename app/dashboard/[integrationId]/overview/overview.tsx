'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { ScoreHistogram } from '../../charts/score-histogram';
import { PageHeader } from '../../components/page-header';
import { ErrorState, Skeleton } from '../../components/states';
import { Time } from '../../components/time';
import { useUrlState } from '../../components/url-state';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { WebhookBanners } from '../webhooks/webhook-banners';
import { readWindow } from './analytics-window';
import { BrowserShares, ClassShares, DeviceShares, TopOrigins } from './breakdowns';
import { Counters } from './counters';
import { NoSessionsYet } from './no-sessions';
import { SessionsOverTime } from './sessions-over-time';

/** The integration at a glance: counters, classes, sessions over time and where sessions come from. */
export function Overview() {
  const trpc = useTRPC();
  const { integrationId } = useParams<{ integrationId: string }>();
  const { params } = useUrlState();
  const stats = useQuery({ ...trpc.stats.get.queryOptions({}), refetchInterval: REFRESH_MS });
  const analytics = useQuery({
    ...trpc.analytics.get.queryOptions(readWindow(params)),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const distribution = useQuery(
    trpc.analytics.getScoreDistribution.queryOptions(undefined, { refetchInterval: REFRESH_MS }),
  );
  const thresholds = useQuery(trpc.riskThresholds.get.queryOptions({}, { refetchInterval: REFRESH_MS }));
  const failed = [stats, analytics, distribution, thresholds].find(({ error }) => error);
  return (
    <>
      <PageHeader
        title="Overview"
        about={
          stats.data?.lastSessionAt && (
            <>
              Last session <Time at={stats.data.lastSessionAt} />
            </>
          )
        }
      />
      <WebhookBanners />
      {failed && (
        <div className="mb-4">
          <ErrorState message={describeError(failed.error)} onRetry={() => void failed.refetch()} />
        </div>
      )}
      {stats.data?.totalSessions === 0 ? (
        <NoSessionsYet />
      ) : (
        <div className="grid grid-cols-12 gap-4">
          <div className="col-span-12">
            {stats.data ? (
              <Counters stats={stats.data} base={`/dashboard/${integrationId}`} />
            ) : (
              <Skeleton className="h-[76px]" />
            )}
          </div>
          {analytics.data ? (
            <>
              <div className="col-span-12">
                <SessionsOverTime analytics={analytics.data} isStale={analytics.isPlaceholderData} />
              </div>
              <div className="col-span-12 xl:col-span-7">
                {distribution.data && thresholds.data ? (
                  <ScoreHistogram distribution={distribution.data} thresholds={thresholds.data} />
                ) : (
                  <Skeleton className="h-[280px]" />
                )}
              </div>
              <div className="col-span-12 xl:col-span-5">
                <ClassShares analytics={analytics.data} />
              </div>
              <div className="col-span-12 xl:col-span-4">
                <TopOrigins analytics={analytics.data} />
              </div>
              <div className="col-span-12 md:col-span-6 xl:col-span-4">
                <DeviceShares analytics={analytics.data} />
              </div>
              <div className="col-span-12 md:col-span-6 xl:col-span-4">
                <BrowserShares analytics={analytics.data} />
              </div>
            </>
          ) : (
            <Skeleton className="col-span-12 h-[360px]" />
          )}
        </div>
      )}
    </>
  );
}
