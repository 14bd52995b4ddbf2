import type { Metadata } from 'next';
import { MIN_GAP } from '../../../../contract/risk-thresholds';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { readPixelTag } from './pixel-tag';
import { Settings } from './settings';
import { readAuditScope, readSettingsTab } from './tabs';

export const metadata: Metadata = { title: 'Settings' };

export default async function SettingsPage(props: PageProps) {
  const { search, trpc, queryClient, staff } = await openPage(props, 'settings');
  const fill = {
    'api-keys': () => [queryClient.prefetchQuery(trpc.apiKeys.list.queryOptions())],
    sites: () => [
      queryClient.prefetchQuery(trpc.sites.list.queryOptions()),
      queryClient.prefetchQuery(trpc.sites.getCollecting.queryOptions()),
    ],
    thresholds: () => [
      queryClient.prefetchQuery(trpc.riskThresholds.get.queryOptions({})),
      queryClient.prefetchQuery(trpc.analytics.getScoreDistribution.queryOptions()),
    ],
    findings: () => [queryClient.prefetchQuery(trpc.findingRules.list.queryOptions())],
    integration: () => [queryClient.prefetchQuery(trpc.integration.get.queryOptions({}))],
    staff: () =>
      staff.role === 'admin'
        ? [
            queryClient.prefetchQuery(trpc.staff.list.queryOptions()),
            queryClient.prefetchQuery(trpc.invitations.list.queryOptions()),
          ]
        : [],
    audit: () => {
      const scope = readAuditScope(search);
      const list = trpc.audit.list.infiniteQueryOptions({ scope }, PAGES);
      const count = trpc.audit.count.queryOptions({ scope });
      return staff.role === 'admin' ? [queryClient.prefetchInfiniteQuery(list), queryClient.prefetchQuery(count)] : [];
    },
  };
  await Promise.all(fill[readSettingsTab(search)]());
  return (
    <FirstContent queryClient={queryClient}>
      <Settings minGap={MIN_GAP} tag={await readPixelTag()} />
    </FirstContent>
  );
}
