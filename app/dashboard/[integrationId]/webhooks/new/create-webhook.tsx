'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { ButtonLink } from '../../../components/button';
import { SecretOnce } from '../../../components/copying';
import { Breadcrumb, PageHeader, Section } from '../../../components/page-header';
import { useTRPC } from '../../../queries';
import { PlanCap } from '../plan-cap';
import { VerifySignature } from '../verify-signature';
import { EMPTY_DRAFT, WebhookForm } from '../webhook-form';

/** Creates a subscription, then shows its secret once and how to verify signatures with it. */
export function CreateWebhook() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries({ queryKey: trpc.webhooks.list.queryKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.integration.pathKey() });
      },
    }),
  );
  const created = create.data;
  return (
    <>
      <Breadcrumb above={[{ name: 'Webhooks', href: base }]}>New</Breadcrumb>
      {created ? (
        <div className="max-w-3xl">
          <PageHeader title={`${created.name} is created`} about="Give its secret to the receiver before you go on." />
          <div className="space-y-4">
            <SecretOnce name="Signing secret" secret={created.secret} />
            <Section title="The receiver">
              <VerifySignature />
            </Section>
            <ButtonLink kind="primary" href={`${base}/${encodeURIComponent(created.id)}`}>
              Open webhook
            </ButtonLink>
          </div>
        </div>
      ) : (
        <>
          <PageHeader title="New webhook" about="One URL and one event type, with an optional condition." />
          <WebhookForm
            initial={EMPTY_DRAFT}
            act="Create webhook"
            cancelHref={base}
            isBusy={create.isPending}
            error={create.error}
            note={<PlanCap />}
            onSubmit={(fields) => create.mutate(fields)}
          />
        </>
      )}
    </>
  );
}
