import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Anomalies } from './anomalies';
import { readAnomalyFilters } from './anomaly-filters';

export const metadata: Metadata = { title: 'Anomalies' };

export default async function AnomaliesPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'anomalies');
  await queryClient.prefetchInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions(readAnomalyFilters(search), PAGES));
  return (
    <FirstContent queryClient={queryClient}>
      <Anomalies />
    </FirstContent>
  );
}
