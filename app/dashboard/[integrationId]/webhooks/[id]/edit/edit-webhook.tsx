'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { Breadcrumb, PageHeader } from '../../../../components/page-header';
import { Pending } from '../../../../components/pending';
import { useToast } from '../../../../components/toast';
import { useTRPC } from '../../../../queries';
import { toDraft } from '../../threshold-draft';
import { type WebhookFields, WebhookForm } from '../../webhook-form';

/** Edits a subscription. Its secret stays the same. */
export function EditWebhook({ id }: { id: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const href = `${base}/${encodeURIComponent(id)}`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const query = useQuery(trpc.webhooks.get.queryOptions({ id }));
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      onSuccess: (after) => {
        queryClient.setQueryData(trpc.webhooks.get.queryKey({ id }), after);
        void queryClient.invalidateQueries({ queryKey: trpc.webhooks.list.queryKey() });
        toast({ text: 'Saved. It applies from the next attempt on.' });
        router.push(href);
      },
    }),
  );
  const webhook = query.data;
  if (!webhook) return <Pending query={query} className="h-96" />;
  const { url, eventType, name, threshold } = webhook;
  return (
    <>
      <Breadcrumb
        above={[
          { name: 'Webhooks', href: base },
          { name, href },
        ]}
      >
        Edit
      </Breadcrumb>
      <PageHeader title={`Edit ${name}`} about="Retries go to the new URL too." />
      <WebhookForm
        initial={{ url, eventType, name, threshold: threshold && toDraft(threshold) }}
        act="Save"
        cancelHref={href}
        // Also until the next page is there.
        isBusy={update.isPending || update.isSuccess}
        error={update.error}
        onSubmit={(fields, before) => {
          // A name that is the event type was not chosen, and would now mislead.
          const chosen = fields.name === before.eventType ? undefined : fields.name;
          update.mutate({ id, ...listChanges({ ...fields, name: chosen ?? fields.eventType }, before) });
        }}
      />
    </>
  );
}

/** Lists the fields that were edited. What others changed in the meantime stays theirs. */
const listChanges = (fields: WebhookFields, before: WebhookFields): Partial<WebhookFields> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof WebhookFields]),
    ),
  );
