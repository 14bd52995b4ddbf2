import type { openPage } from '../../first-content';

type Opened = Awaited<ReturnType<typeof openPage>>;

/** Fetches what `WebhookBanners` shows, and the states of all webhooks with it. */
export async function prefetchWebhookBanners(trpc: Opened['trpc'], queryClient: Opened['queryClient']): Promise<void> {
  const states = await queryClient.fetchQuery(trpc.webhookStates.list.queryOptions()).catch(() => []);
  const disabled = states.filter(({ state }) => state === 'DisabledByFailures');
  await Promise.all(
    disabled.map(({ id }) => queryClient.prefetchQuery(trpc.deliveries.countSkipped.queryOptions({ id }))),
  );
}
