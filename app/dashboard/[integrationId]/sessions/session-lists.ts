import { type InfiniteData, matchQuery, type QueryClient, type QueryKey } from '@tanstack/react-query';
import type { Page } from '../../../../contract/pagination';
import type { Session } from '../../../../contract/sessions';

type Sessions = InfiniteData<Page<Session>>;

const putInto = (session: Session) => (data: Sessions | undefined) =>
  // The first page alone, which is read to know what is new, shows nothing.
  data?.pages && {
    ...data,
    pages: data.pages.map((page) => ({
      ...page,
      data: page.data.map((row) => (row.id === session.id ? session : row)),
    })),
  };

/** Shows a session in all lists of these keys. */
export function showInLists(queryClient: QueryClient, listKeys: readonly QueryKey[], session: Session): void {
  for (const queryKey of listKeys) queryClient.setQueriesData<Sessions>({ queryKey }, putInto(session));
}

/**
 * Shows what `find` finds in each answer to a read of these lists too, because the read may have begun before a change. Cancelling the
 * reads would lose a further page that was asked for. Returns how to end that: when the reads that have begun by then are over.
 */
export function holdInLists(
  queryClient: QueryClient,
  listKeys: readonly QueryKey[],
  find: () => Session | null,
): () => Promise<void> {
  const end = queryClient.getQueryCache().subscribe((event) => {
    const isAnswer = event.type === 'updated' && event.action.type === 'success' && !event.action.manual;
    const session = isAnswer && listKeys.some((queryKey) => matchQuery({ queryKey }, event.query)) && find();
    if (session) queryClient.setQueryData<Sessions>(event.query.queryKey, putInto(session));
  });
  return async () => {
    // This begins no read.
    const wait = (queryKey: QueryKey) =>
      queryClient.refetchQueries({ queryKey, fetchStatus: 'fetching' }, { cancelRefetch: false });
    await Promise.all(listKeys.map(wait));
    end();
  };
}
