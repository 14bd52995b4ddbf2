import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../../first-content';
import { CreateWebhook } from './create-webhook';

export const metadata: Metadata = { title: 'New webhook' };

export default async function NewWebhookPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'webhooks/new');
  await Promise.all([
    queryClient.prefetchQuery(trpc.integration.get.queryOptions({})),
    queryClient.prefetchQuery(
      trpc.webhooks.previewThreshold.queryOptions({ eventType: 'BotDetected', threshold: null }),
    ),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <CreateWebhook />
    </FirstContent>
  );
}
