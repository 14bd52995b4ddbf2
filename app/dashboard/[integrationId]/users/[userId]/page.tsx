import type { Metadata } from 'next';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../first-content';
import { PAGES } from '../../../list-pages';
import { UserPage } from './user-page';

export const metadata: Metadata = { title: 'User' };

export default async function Page(props: PageProps<{ userId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'users/[userId]');
  const { userId } = params;
  await Promise.all([
    orNotFound(queryClient.fetchQuery(trpc.users.get.queryOptions({ userId }))),
    queryClient.prefetchQuery(trpc.users.listDevices.queryOptions({ userId })),
    queryClient.prefetchInfiniteQuery(trpc.sessions.list.infiniteQueryOptions({ userId }, PAGES)),
    queryClient.prefetchInfiniteQuery(trpc.anomalies.list.infiniteQueryOptions({ userId }, PAGES)),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <UserPage userId={userId} />
    </FirstContent>
  );
}
