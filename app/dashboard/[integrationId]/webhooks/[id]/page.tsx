import type { Metadata } from 'next';
import { TIME_SORTS } from '../../../../../contract/sort-orders';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../first-content';
import { PAGES, readSort } from '../../../list-pages';
import { readDeliveryFilters, readWebhookTab } from './delivery-filters';
import { WebhookPage } from './webhook-page';

export const metadata: Metadata = { title: 'Webhook' };

export default async function Page(props: PageProps<{ id: string }>) {
  const { params, search, trpc, queryClient, calendar } = await openPage(props, 'webhooks/[id]');
  const { id } = params;
  const tab = readWebhookTab(search);
  const delivery = search.get('delivery');
  await Promise.all([
    orNotFound(queryClient.fetchQuery(trpc.webhooks.get.queryOptions({ id }))),
    queryClient.prefetchQuery(trpc.webhooks.getHealth.queryOptions({ id })),
    queryClient.prefetchQuery(trpc.webhookStates.list.queryOptions()),
    queryClient.prefetchQuery(trpc.deliveries.countSkipped.queryOptions({ id })),
    tab === 'deliveries' &&
      queryClient.prefetchInfiniteQuery(
        trpc.deliveries.list.infiniteQueryOptions(
          { id, ...readDeliveryFilters(search, calendar), sort: readSort(search, TIME_SORTS) },
          PAGES,
        ),
      ),
    tab === 'deliveries' &&
      queryClient.prefetchQuery(trpc.deliveries.count.queryOptions({ id, ...readDeliveryFilters(search, calendar) })),
    tab === 'deliveries' && delivery && queryClient.prefetchQuery(trpc.deliveries.get.queryOptions({ id: delivery })),
    tab === 'skipped' &&
      queryClient.prefetchInfiniteQuery(trpc.deliveries.listSkipped.infiniteQueryOptions({ id }, PAGES)),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <WebhookPage id={id} />
    </FirstContent>
  );
}
