import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { readSessionFilters } from './session-filters';
import { Sessions } from './sessions';

export const metadata: Metadata = { title: 'Sessions' };

export default async function SessionsPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'sessions');
  const selected = search.get('selected');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(trpc.sessions.list.infiniteQueryOptions(readSessionFilters(search), PAGES)),
    selected && queryClient.prefetchQuery(trpc.sessions.get.queryOptions({ sessionId: selected })),
    selected && queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId: selected })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Sessions />
    </FirstContent>
  );
}
