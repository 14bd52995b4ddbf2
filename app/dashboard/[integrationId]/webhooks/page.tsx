import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { prefetchWebhookBanners } from './first-banners';
import { Webhooks } from './webhooks';

export const metadata: Metadata = { title: 'Webhooks' };

export default async function WebhooksPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'webhooks');
  const readHealth = async () => {
    const list = await queryClient.fetchQuery(trpc.webhooks.list.queryOptions({})).catch(() => null);
    // At most ten, because plans allow no more.
    const enabled = list?.data.filter((webhook) => webhook.enabled) ?? [];
    await Promise.all(enabled.map(({ id }) => queryClient.prefetchQuery(trpc.webhooks.getHealth.queryOptions({ id }))));
  };
  await Promise.all([
    readHealth(),
    prefetchWebhookBanners(trpc, queryClient),
    queryClient.prefetchQuery(trpc.integration.get.queryOptions({})),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Webhooks />
    </FirstContent>
  );
}
