import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { readAlertFilters, readAlertsTab } from './alert-filters';
import { Alerts } from './alerts';

export const metadata: Metadata = { title: 'Alerts' };

export default async function AlertsPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'alerts');
  if (readAlertsTab(search) === 'rules') await queryClient.prefetchQuery(trpc.alertRules.list.queryOptions());
  else {
    const filters = readAlertFilters(search);
    await Promise.all([
      queryClient.prefetchInfiniteQuery(trpc.alerts.list.infiniteQueryOptions(filters, PAGES)),
      queryClient.prefetchQuery(trpc.alerts.count.queryOptions(filters)),
      filters.ruleId && queryClient.prefetchQuery(trpc.alertRules.list.queryOptions()),
    ]);
  }
  return (
    <FirstContent queryClient={queryClient}>
      <Alerts />
    </FirstContent>
  );
}
