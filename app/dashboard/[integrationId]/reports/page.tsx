import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Reports } from './reports';

export const metadata: Metadata = { title: 'Reports' };

export default async function ReportsPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'reports');
  await queryClient.prefetchInfiniteQuery(trpc.reports.list.infiniteQueryOptions({}, PAGES));
  return (
    <FirstContent queryClient={queryClient}>
      <Reports />
    </FirstContent>
  );
}
