import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Alerts } from './alerts';

export const metadata: Metadata = { title: 'Alerts' };

export default async function AlertsPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'alerts');
  await queryClient.prefetchInfiniteQuery(trpc.alerts.list.infiniteQueryOptions({}, PAGES));
  return (
    <FirstContent queryClient={queryClient}>
      <Alerts />
    </FirstContent>
  );
}
