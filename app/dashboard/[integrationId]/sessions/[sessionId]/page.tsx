import type { Metadata } from 'next';
import { RULES } from '../../../../../server/detection/rules/table';
import { WRITING_RULES } from '../../../../../server/detection/writing-score';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../first-content';
import { PAGES } from '../../../list-pages';
import { SessionPage } from './session-page';

export const metadata: Metadata = { title: 'Session' };

/** The browser is sent the words alone, not the rules. They are Markdown for the documents. */
const EXPLANATIONS = RULES.map(({ rule }) => [rule.flag, rule.plainly.replaceAll('`', '')] as const);

const WRITING_EXPLANATIONS = WRITING_RULES.map(({ name, plainly }) => [name, plainly] as const);

export default async function Page(props: PageProps<{ sessionId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'sessions/[sessionId]');
  const { sessionId } = params;
  await Promise.all([
    orNotFound(queryClient.fetchQuery(trpc.sessions.get.queryOptions({ sessionId }))),
    queryClient.prefetchQuery(trpc.sessions.getEvidence.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.sessions.getTimeline.queryOptions({ sessionId })),
    queryClient.prefetchInfiniteQuery(trpc.sessions.listEvents.infiniteQueryOptions({ sessionId }, PAGES)),
    queryClient.prefetchInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions({ sessionId }, PAGES)),
    queryClient.prefetchQuery(trpc.sessions.listDeliveries.queryOptions({ sessionId })),
    queryClient.prefetchQuery(trpc.writing.list.queryOptions({ browsingSessionId: sessionId })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <SessionPage sessionId={sessionId} explanations={EXPLANATIONS} writingExplanations={WRITING_EXPLANATIONS} />
    </FirstContent>
  );
}
