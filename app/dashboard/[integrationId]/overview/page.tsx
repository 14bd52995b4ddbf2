import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { prefetchWebhookBanners } from '../webhooks/first-banners';
import { readWindow } from './analytics-window';
import { Overview } from './overview';

export const metadata: Metadata = { title: 'Overview' };

export default async function OverviewPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'overview');
  await Promise.all([
    prefetchWebhookBanners(trpc, queryClient),
    queryClient.prefetchQuery(trpc.stats.get.queryOptions({})),
    queryClient.prefetchQuery(trpc.analytics.getScoreDistribution.queryOptions()),
    queryClient.prefetchQuery(trpc.riskThresholds.get.queryOptions({})),
    queryClient.prefetchQuery(trpc.analytics.get.queryOptions(readWindow(search))),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Overview />
    </FirstContent>
  );
}
