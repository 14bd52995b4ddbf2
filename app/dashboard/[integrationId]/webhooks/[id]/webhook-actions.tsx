'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { SkippedCount } from '../../../../../contract/deliveries';
import type { Webhook } from '../../../../../contract/webhooks';
import { Button, ButtonLink } from '../../../components/button';
import { SecretOnce } from '../../../components/copying';
import { ConfirmDialog, Dialog } from '../../../components/dialog';
import { Field, Select, Switch } from '../../../components/field';
import { useShortcuts } from '../../../components/shortcuts';
import { useToast } from '../../../components/toast';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { useStaff } from '../../../staff';
import { SendSkippedDialog } from './skipped-offer';
import { TestDialog } from './test-dialog';

type Asked = 'disable' | 'rotate' | 'delete' | 'test';

/** For how many seconds the old secret may sign next to the new one. */
const GRACE_PERIODS = [
  [0, 'At once'],
  [3_600, 'In an hour'],
  [86_400, 'In a day'],
  [604_800, 'In a week'],
] as const;

/** The actions on a subscription. Those that cannot be undone ask first. */
export function WebhookActions({ webhook, base }: { webhook: Webhook; base: string }) {
  const { id } = webhook;
  const { canWrite } = useStaff();
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [asked, setAsked] = useState<Asked | null>(null);
  // The mutation is pending only one task later, and until then React would put the switch back.
  const [isEnabling, setEnabling] = useState(false);
  const [gracePeriodSeconds, setGracePeriod] = useState(0);
  const [secret, setSecret] = useState<string | null>(null);
  /** What was skipped while it was disabled, once it is enabled again. */
  const [skipped, setSkipped] = useState<SkippedCount | null>(null);
  const ask = (what: Asked) => () => canWrite && setAsked(what);
  const close = () => setAsked(null);
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      onSuccess: async (after) => {
        // The state's banner moves what is below it. Nothing may move under the pointer once the change is announced.
        await queryClient.invalidateQueries({ queryKey: trpc.webhookStates.pathKey() });
        queryClient.setQueryData(trpc.webhooks.get.queryKey({ id }), after);
        void queryClient.invalidateQueries({ queryKey: trpc.webhooks.pathKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.integration.pathKey() });
      },
    }),
  );
  const rotate = useMutation(
    trpc.webhooks.rotateSecret.mutationOptions({ onSuccess: (made) => setSecret(made.secret) }),
  );
  const remove = useMutation(
    trpc.webhooks.delete.mutationOptions({
      onSuccess: () => {
        toast({ text: `${webhook.name} is deleted` });
        router.push(base);
        void queryClient.invalidateQueries({ queryKey: trpc.webhooks.list.queryKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.integration.pathKey() });
      },
    }),
  );
  const offerSkipped = async () => {
    const count = trpc.deliveries.countSkipped.queryOptions({ id }, { staleTime: 0 });
    const found = await queryClient.fetchQuery(count).catch(() => null);
    if (found && found.count > 0) setSkipped(found);
  };
  const enable = () => {
    setEnabling(true);
    update.mutate(
      { id, enabled: true },
      {
        onSuccess: () => {
          toast({ text: 'Enabled. What waited is sent now.' });
          void offerSkipped();
        },
        onError: (error) => toast({ text: `Not enabled. ${describeError(error)}`, isError: true }),
        onSettled: () => setEnabling(false),
      },
    );
  };
  const editHref = `${base}/${encodeURIComponent(id)}/edit`;
  useShortcuts(
    'Webhook',
    canWrite
      ? [
          { keys: 't', name: 'Send a test', run: ask('test') },
          { keys: 'e', name: 'Edit', run: () => router.push(editHref) },
        ]
      : [],
  );
  return (
    <>
      {!canWrite && <span className="text-muted">Your role is viewer: you can see everything and change nothing.</span>}
      <Switch
        label="Enabled"
        checked={webhook.enabled || isEnabling}
        disabled={!canWrite || update.isPending}
        onChange={webhook.enabled ? ask('disable') : enable}
      />
      <Button disabled={!canWrite} onClick={ask('test')}>
        Send test
      </Button>
      {canWrite ? <ButtonLink href={editHref}>Edit</ButtonLink> : <Button disabled>Edit</Button>}
      <Button disabled={!canWrite} onClick={ask('rotate')}>
        Rotate secret
      </Button>
      <Button disabled={!canWrite} onClick={ask('delete')}>
        Delete
      </Button>
      {skipped && <SendSkippedDialog id={id} skipped={skipped} isOpen onClose={() => setSkipped(null)} />}
      {asked === 'test' && <TestDialog webhook={webhook} onClose={close} />}
      <ConfirmDialog
        title="Disable this webhook?"
        act="Disable webhook"
        isOpen={asked === 'disable'}
        onClose={close}
        onConfirm={() => update.mutateAsync({ id, enabled: false })}
        consequence={
          <>
            Events that fire from now on are skipped. When you enable it again, you can send those of the last 30 days.
            Pending deliveries wait: enabling it within a day sends them; after that they end as aborted. Its slot in
            the plan is free at once.
          </>
        }
      />
      <ConfirmDialog
        title="Rotate the signing secret?"
        act="Rotate secret"
        isOpen={asked === 'rotate'}
        onClose={close}
        onConfirm={() => rotate.mutateAsync({ id, gracePeriodSeconds })}
        consequence={
          <>
            <p>
              The new secret is shown once. If the old one ends at once, the receiver refuses what is sent until it has
              the new one. If it ends later, deliveries carry a signature of each until then.
            </p>
            <Field label="The old secret ends">
              <Select value={gracePeriodSeconds} onChange={({ target }) => setGracePeriod(Number(target.value))}>
                {GRACE_PERIODS.map(([seconds, words]) => (
                  <option key={seconds} value={seconds}>
                    {words}
                  </option>
                ))}
              </Select>
            </Field>
          </>
        }
      />
      <ConfirmDialog
        title={`Delete ${webhook.name}?`}
        act="Delete webhook"
        isOpen={asked === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync({ id })}
        consequence={
          <>
            Pending deliveries end as aborted and never arrive. Its slot in the plan is free at once. This cannot be
            undone.
          </>
        }
      />
      <Dialog title="The new signing secret" isOpen={secret !== null} onClose={() => setSecret(null)}>
        <SecretOnce name="Signing secret" secret={secret ?? ''} />
        <p className="mt-3 text-muted">
          {gracePeriodSeconds === 0
            ? 'The old one is invalid from now on.'
            : 'Until the old one ends, a receiver may verify by either.'}
        </p>
      </Dialog>
    </>
  );
}
