import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Reports } from './reports';

export const metadata: Metadata = { title: 'Reports' };

export default async function ReportsPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'reports');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(trpc.reports.list.infiniteQueryOptions({}, PAGES)),
    queryClient.prefetchQuery(trpc.reports.jobs.queryOptions()),
    queryClient.prefetchQuery(trpc.reports.templates.queryOptions()),
    queryClient.prefetchQuery(trpc.reports.listSchedules.queryOptions()),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Reports />
    </FirstContent>
  );
}
