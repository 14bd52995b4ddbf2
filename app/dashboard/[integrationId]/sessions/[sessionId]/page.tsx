import type { Metadata } from 'next';
import { WRITING_RULES } from '../../../../../server/detection/writing-score';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../first-content';
import { PAGES } from '../../../list-pages';
import { SCORING } from '../scoring';
import { SessionPage } from './session-page';
import { VISITED_PAGES } from './visited-pages-query';

export const metadata: Metadata = { title: 'Session' };

const WRITING_EXPLANATIONS = WRITING_RULES.map(({ name, plainly }) => [name, plainly] as const);

export default async function Page(props: PageProps<{ sessionId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'sessions/[sessionId]');
  const { sessionId } = params;
  await Promise.all([
    orNotFound(queryClient.fetchQuery(trpc.sessions.get.queryOptions({ sessionId }))),
    queryClient.prefetchQuery(trpc.sessions.getEvidence.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.recordings.find.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.sessions.getHistory.queryOptions({ sessionId })),
    queryClient.prefetchInfiniteQuery(trpc.sessions.listEvents.infiniteQueryOptions({ sessionId }, PAGES)),
    queryClient.prefetchInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions({ sessionId }, PAGES)),
    queryClient.prefetchInfiniteQuery(trpc.sessions.listPages.infiniteQueryOptions({ sessionId }, VISITED_PAGES)),
    queryClient.prefetchQuery(trpc.sessions.getContext.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.sessions.listDeliveries.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.writing.list.queryOptions({ browsingSessionId: sessionId })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <SessionPage sessionId={sessionId} scoring={SCORING} writingExplanations={WRITING_EXPLANATIONS} />
    </FirstContent>
  );
}
