import type { Metadata } from 'next';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../../first-content';
import { EditWebhook } from './edit-webhook';

export const metadata: Metadata = { title: 'Edit webhook' };

export default async function EditWebhookPage(props: PageProps<{ id: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'webhooks/[id]/edit');
  const { id } = params;
  const { eventType, threshold } = await orNotFound(queryClient.fetchQuery(trpc.webhooks.get.queryOptions({ id })));
  await queryClient.prefetchQuery(trpc.webhooks.previewThreshold.queryOptions({ eventType, threshold }));
  return (
    <FirstContent queryClient={queryClient}>
      <EditWebhook id={id} />
    </FirstContent>
  );
}
