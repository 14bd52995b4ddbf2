'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Collecting } from '../../../../contract/sites';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { createSecretClose, SecretOnce } from '../../components/copying';
import { Dialog } from '../../components/dialog';
import { Switch } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { Section } from '../../components/page-header';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';

/** The secret under which the customer's server signs the ids of users, and whether unsigned ones count in spite of it. */
export function Identity({ collecting }: { collecting: Collecting }) {
  const { hasIdentitySecret: hasSecret, acceptsUnsignedUsers } = collecting;
  const isRequired = hasSecret && !acceptsUnsignedUsers;
  const { isAdmin } = useStaff();
  const [isAsking, setAsking] = useState(false);
  return (
    <Section
      title="Signed identity"
      actions={isRequired ? <Badge tone="human">Required</Badge> : <Badge tone="medium">Not required</Badge>}
    >
      <div className="space-y-3">
        <p className="text-muted">
          {isRequired
            ? 'A user that a page names needs a signature of your server. Others are ignored.'
            : hasSecret
              ? 'Users with a signature of your server are certain. Anybody can make a page name any other user.'
              : 'Anybody can make a page name any user. With a secret, your server signs the ids, and others are ignored.'}
        </p>
        <p className="text-muted">
          <code className="font-mono text-xs">data-user-hash</code> is the HMAC-SHA256 of the user’s id under the
          secret, in lower-case hexadecimal digits.
        </p>
        {hasSecret && <UnsignedUsers areAccepted={acceptsUnsignedUsers} />}
        <Button disabled={!isAdmin} onClick={() => setAsking(true)}>
          {hasSecret ? 'Rotate identity secret' : 'Create identity secret'}
        </Button>
      </div>
      <RotateDialog hasSecret={hasSecret} isOpen={isAsking} onClose={() => setAsking(false)} />
    </Section>
  );
}

/** Says what will happen, then shows the new secret once. */
function RotateDialog({ hasSecret, isOpen, onClose }: { hasSecret: boolean; isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const rotate = useMutation(trpc.sites.rotateIdentitySecret.mutationOptions());
  const secret = rotate.data?.identitySecret;
  const close = createSecretClose(rotate, () => {
    onClose();
    void queryClient.invalidateQueries({ queryKey: trpc.sites.getCollecting.pathKey() });
  });
  return (
    <Dialog title={secret ? 'Your new identity secret' : 'Identity secret'} isOpen={isOpen} onClose={close}>
      {secret ? (
        <SecretOnce name="Identity secret" secret={secret} onCopied={close} />
      ) : (
        <div className="space-y-4">
          <p className="text-muted">
            {hasSecret
              ? 'Signatures under the present secret are refused at once. Sessions go on, but their users are unknown until your server signs with the new one.'
              : 'From then on, users without a valid signature are ignored. Sessions go on, but their users are unknown until your server signs.'}
          </p>
          <FormFault error={rotate.error} />
          <div className="flex justify-end gap-2">
            <Button disabled={rotate.isPending} onClick={close}>
              Cancel
            </Button>
            <Button kind="danger" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
              {hasSecret ? 'Rotate secret' : 'Create secret'}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

/**
 * Changes one of the switches. Returns where it was put: the mutation is pending only one task later, and until then React
 * would put it back.
 */
function useSwitch(isOn: boolean) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [chosen, setChosen] = useState<boolean | null>(null);
  return {
    isOn: chosen ?? isOn,
    choose: setChosen,
    options: {
      // Pending until the new state is read, or the switch would show the old one in between.
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.sites.getCollecting.pathKey() }),
      onError: (error: Parameters<typeof describeError>[0]) =>
        toast({ text: `Not changed. ${describeError(error)}`, isError: true }),
    },
    release: { onSettled: () => setChosen(null) },
  };
}

/** Whether users without a signature count in spite of an identity secret. */
function UnsignedUsers({ areAccepted }: { areAccepted: boolean }) {
  const trpc = useTRPC();
  const { isAdmin } = useStaff();
  const { isOn, choose, options, release } = useSwitch(areAccepted);
  const change = useMutation(trpc.sites.setUnsignedUsers.mutationOptions(options));
  return (
    <Switch
      label="Accept users without a signature"
      disabled={!isAdmin || change.isPending}
      checked={isOn}
      onChange={({ target }) => {
        choose(target.checked);
        change.mutate({ acceptsUnsignedUsers: target.checked }, release);
      }}
    />
  );
}

/** Whether tags may ask to collect in spite of Global Privacy Control. */
export function PrivacyControl({ mayIgnore }: { mayIgnore: boolean }) {
  const trpc = useTRPC();
  const { isAdmin } = useStaff();
  const { isOn, choose, options, release } = useSwitch(mayIgnore);
  const change = useMutation(trpc.sites.setPrivacyControl.mutationOptions(options));
  return (
    <Section title="Global Privacy Control">
      <div className="space-y-3">
        <p className="text-muted">
          Browsers send it for visitors who refuse to be tracked. Nothing of them is kept, unless a tag says{' '}
          <code className="font-mono text-xs">data-gpc="ignore"</code> and this permits it. Ask your data-protection
          officer first.
        </p>
        <Switch
          label="Tags may ignore Global Privacy Control"
          disabled={!isAdmin || change.isPending}
          checked={isOn}
          onChange={({ target }) => {
            choose(target.checked);
            change.mutate({ mayIgnorePrivacyControl: target.checked }, release);
          }}
        />
      </div>
    </Section>
  );
}
