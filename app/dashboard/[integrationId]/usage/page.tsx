import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { UsageFigures } from './usage';
import { readRange } from './usage-range';

export const metadata: Metadata = { title: 'Usage' };

export default async function UsagePage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'usage');
  await Promise.all([
    queryClient.prefetchQuery(trpc.usage.get.queryOptions(readRange(search))),
    queryClient.prefetchQuery(trpc.integration.get.queryOptions({})),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <UsageFigures />
    </FirstContent>
  );
}
