'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { useState } from 'react';
import type { Setup } from '../../../../contract/setup';
import { Button, ButtonLink } from '../../components/button';
import { RoleNote } from '../../components/role-note';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';
import { TestDialog } from '../webhooks/[id]/test-dialog';
import { DocumentLink } from './document-link';

/** The newest active webhook, or how to make one, and whether a receiver has taken a delivery. */
export function WebhookStep({ setup: { webhooks } }: { setup: Setup }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { canWrite } = useStaff();
  const [isTesting, setTesting] = useState(false);
  const id = webhooks.latestId ?? '';
  const webhook = useQuery(trpc.webhooks.get.queryOptions({ id }, { enabled: id !== '' }));
  const closeTest = () => {
    setTesting(false);
    void queryClient.invalidateQueries({ queryKey: trpc.setup.pathKey() });
  };
  if (webhooks.max === 0)
    return <p className="text-muted">The plan of this integration has no webhooks. Pro and Enterprise have.</p>;
  return (
    <>
      <p>
        {webhooks.active === 0 ? (
          <span className="text-muted">A webhook tells your server at once when a session turns out to be a bot.</span>
        ) : webhooks.deliveredAt ? (
          <>
            A receiver accepted a delivery <Time at={webhooks.deliveredAt} />.
          </>
        ) : (
          <>
            {webhook.data?.name ?? 'The webhook'} is active, but no receiver has accepted a delivery yet. Send a test:
            the step is done when it is answered with 2xx.
          </>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        {webhooks.active === 0 &&
          (canWrite ? (
            <ButtonLink kind="primary" href={`${base}/new`}>
              Create a webhook
            </ButtonLink>
          ) : (
            <Button disabled>Create a webhook</Button>
          ))}
        {webhooks.active > 0 && (
          <>
            <Button
              kind={webhooks.deliveredAt ? 'plain' : 'primary'}
              disabled={!canWrite || !webhook.data}
              onClick={() => setTesting(true)}
            >
              Send test
            </Button>
            <ButtonLink href={`${base}/${encodeURIComponent(id)}`}>Open the webhook</ButtonLink>
          </>
        )}
      </div>
      <RoleNote needs="analyst" act="create and test webhooks" />
      <p className="text-muted">
        <DocumentLink name="webhooks">Receiving webhooks</DocumentLink> has a receiver in Node and Python that checks
        signatures.
      </p>
      {isTesting && webhook.data && <TestDialog webhook={webhook.data} onClose={closeTest} />}
    </>
  );
}
