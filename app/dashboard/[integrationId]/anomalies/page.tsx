import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Anomalies } from './anomalies';
import { readAnomalyFilters } from './anomaly-filters';

export const metadata: Metadata = { title: 'Anomalies' };

export default async function AnomaliesPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'anomalies');
  const filters = readAnomalyFilters(search);
  await Promise.all([
    queryClient.prefetchInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions(filters, PAGES)),
    queryClient.prefetchQuery(trpc.anomalies.count.queryOptions(filters)),
    queryClient.prefetchQuery(trpc.savedViews.list.queryOptions()),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Anomalies />
    </FirstContent>
  );
}
