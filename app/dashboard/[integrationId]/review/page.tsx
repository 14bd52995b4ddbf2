import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { SCORING } from '../sessions/scoring';
import { listTogether } from './case-calls';
import { readQueueChoice } from './queue-choice';
import { Review } from './review';

export const metadata: Metadata = { title: 'Review' };

export default async function ReviewPage(props: PageProps) {
  const { search, trpc, queryClient, calendar } = await openPage(props, 'review');
  // A queue that is open is in the browser's tab.
  const isOpen = search.has('opened');
  const queue = isOpen
    ? null
    : await queryClient.fetchQuery(
        trpc.review.listQueue.queryOptions({ ...readQueueChoice(search), timeZone: calendar.timeZone }),
      );
  // It reaches the browser as a property; in the cache it would go there twice.
  queryClient.removeQueries({ queryKey: trpc.review.listQueue.pathKey() });
  if (queue && queue.sessions.length > 0)
    await queryClient.prefetchQuery(
      trpc.review.listCases.queryOptions({ sessionIds: listTogether(queue.sessions, 0) }),
    );
  return (
    <FirstContent queryClient={queryClient}>
      <Review first={queue && JSON.stringify(queue)} scoring={SCORING} />
    </FirstContent>
  );
}
