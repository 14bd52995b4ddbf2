import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { readSessionFilters, readSessionList } from './session-filters';
import { Sessions } from './sessions';

export const metadata: Metadata = { title: 'Sessions' };

export default async function SessionsPage(props: PageProps) {
  const { search, trpc, queryClient, calendar } = await openPage(props, 'sessions');
  const selected = search.get('selected');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(
      trpc.sessions.listSorted.infiniteQueryOptions(readSessionList(search, calendar), PAGES),
    ),
    queryClient.prefetchQuery(trpc.sessions.count.queryOptions(readSessionFilters(search, calendar))),
    queryClient.prefetchQuery(trpc.savedViews.list.queryOptions()),
    selected && queryClient.prefetchQuery(trpc.sessions.get.queryOptions({ sessionId: selected })),
    selected && queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId: selected })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Sessions />
    </FirstContent>
  );
}
