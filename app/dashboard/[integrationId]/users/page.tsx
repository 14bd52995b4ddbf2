import type { Metadata } from 'next';
import { USER_SORTS } from '../../../../contract/sort-orders';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES, readSort } from '../../list-pages';
import { Users } from './users';

export const metadata: Metadata = { title: 'Users' };

export default async function UsersPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'users');
  const userId = search.get('selected');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(
      trpc.users.listSorted.infiniteQueryOptions({ sort: readSort(search, USER_SORTS) }, PAGES),
    ),
    queryClient.prefetchQuery(trpc.users.count.queryOptions()),
    queryClient.prefetchQuery(trpc.savedViews.list.queryOptions()),
    userId && queryClient.prefetchQuery(trpc.users.get.queryOptions({ userId })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Users />
    </FirstContent>
  );
}
