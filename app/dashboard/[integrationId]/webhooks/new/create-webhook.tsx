'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { useState } from 'react';
import { ButtonLink } from '../../../components/button';
import { SecretOnce } from '../../../components/copying';
import { Dialog } from '../../../components/dialog';
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
  const [secret, setSecret] = useState<string | null>(null);
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      onSuccess: (created) => {
        setSecret(created.secret);
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
          <PageHeader title={`${created.name} is created`} about="Its receiver verifies deliveries with the secret." />
          <Dialog title="The signing secret" isOpen={secret !== null} onClose={() => setSecret(null)}>
            <SecretOnce name="Signing secret" secret={secret ?? ''} />
          </Dialog>
          <div className="space-y-4">
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
