'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { CreatedInvitation, PendingInvitation } from '../../../../contract/invitations';
import type { StaffAccount, StaffRole } from '../../../../contract/staff';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { createSecretClose, SecretOnce } from '../../components/copying';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { ConfirmDialog, Dialog } from '../../components/dialog';
import { Field, Input, Select } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, findFault } from '../../query-client';
import { ROLE_WORDS } from './roles';

/** The token is in the fragment: browsers send it to no server, so it is in no log and no Referer. */
const writeLink = ({ token }: CreatedInvitation) => `${window.location.origin}/invitation#${token}`;

/** A new link, shown once, and what to do with it. */
function LinkOnce({ created, onStored }: { created: CreatedInvitation; onStored(): void }) {
  return (
    <div className="space-y-4">
      <p className="text-muted">
        Pass it on to {created.email} yourself, over a channel that only they read: no email is sent. It works once,
        until <Time at={created.expiresAt} absolute />.
      </p>
      <SecretOnce name="Link" secret={writeLink(created)} onCopied={onStored} />
    </div>
  );
}

/** Invites a person to an account: the admin says who and in which role, they choose their password. */
export function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.invitations.create.mutationOptions({
      onSuccess: () => void queryClient.invalidateQueries({ queryKey: trpc.invitations.pathKey() }),
    }),
  );
  const close = createSecretClose(create, onClose);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => String(form.get(name)).trim();
    create.mutate({ email: read('email'), name: read('name'), role: read('role') as StaffRole });
  };
  return (
    <Dialog
      title={create.data ? `Invitation for ${create.data.name}` : 'Invite a person'}
      isOpen={isOpen}
      onClose={close}
    >
      {create.data ? (
        <LinkOnce created={create.data} onStored={close} />
      ) : (
        <form onSubmit={submit} className="space-y-4">
          <Field label="Email" error={findFault(create.error, 'email')}>
            <Input name="email" type="email" required autoComplete="off" />
          </Field>
          <Field label="Name" hint="They can correct it." error={findFault(create.error, 'name')}>
            <Input name="name" required maxLength={100} autoComplete="off" />
          </Field>
          <Field label="Role" error={findFault(create.error, 'role')}>
            <Select name="role" defaultValue="viewer">
              {Object.entries(ROLE_WORDS).map(([role, name]) => (
                <option key={role} value={role}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
          <p className="text-muted">
            You get a link, which you pass on. The person who opens it chooses a password and is signed in. An earlier
            link for the same address stops working.
          </p>
          <FormFault error={create.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" type="submit" disabled={create.isPending}>
              Make the link
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

/** Makes a link with which the owner of an account sets a new password. */
export function PasswordLinkDialog({ account, onClose }: { account: StaffAccount | null; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.invitations.createPasswordLink.mutationOptions({
      onSuccess: () => void queryClient.invalidateQueries({ queryKey: trpc.invitations.pathKey() }),
    }),
  );
  const close = createSecretClose(create, onClose);
  return (
    <Dialog title={`New password for ${account?.name ?? ''}`} isOpen={account !== null} onClose={close}>
      {create.data ? (
        <LinkOnce created={create.data} onStored={close} />
      ) : (
        <div className="space-y-4">
          <p className="text-muted">
            With a link, {account?.email} chooses a new password. Until then the present one works. Using the link ends
            all sessions of the account.
          </p>
          {/* No field is shown here that an error could stand at. */}
          {create.error && (
            <p role="alert" className="text-danger">
              {describeError(create.error)}
            </p>
          )}
          <div className="flex justify-end gap-2">
            <Button onClick={close}>Cancel</Button>
            <Button
              kind="primary"
              disabled={create.isPending}
              onClick={() => account && create.mutate({ id: account.id })}
            >
              Make the link
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

const columnsOf = (ask: (invitation: PendingInvitation) => void): Column<PendingInvitation>[] => [
  {
    key: 'email',
    name: 'For',
    width: '100%',
    cell: ({ name, email }) => (
      <span className="block min-w-0 py-1 leading-4 [contain:inline-size]">
        <CutText text={name} className="font-medium" />
        <CutText text={email} className="text-muted text-xs" />
      </span>
    ),
  },
  {
    key: 'kind',
    name: 'Link to',
    width: '1%',
    cell: ({ kind, role }) =>
      kind === 'NewAccount' ? <Badge tone="accent">{`Account, ${role}`}</Badge> : <Badge>New password</Badge>,
  },
  {
    key: 'by',
    name: 'Made by',
    from: 'md',
    width: '1%',
    cell: ({ createdBy }) => <span className="whitespace-nowrap text-muted">{createdBy ?? 'command line'}</span>,
  },
  {
    key: 'expires',
    name: 'Ends',
    from: 'sm',
    width: '1%',
    isNumber: true,
    cell: ({ expiresAt }) => <Time at={expiresAt} />,
  },
  {
    key: 'acts',
    name: 'State',
    width: '1%',
    isNumber: true,
    cell: (invitation) => (
      <Button isSmall aria-label={`Revoke the link of ${invitation.name}`} onClick={() => ask(invitation)}>
        Revoke
      </Button>
    ),
  },
];

/** The links that nobody has used yet. Shown if there are any. */
export function OpenInvitations() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [asked, ask] = useState<PendingInvitation | null>(null);
  const open = useQuery(trpc.invitations.list.queryOptions());
  const revoke = useMutation(
    trpc.invitations.revoke.mutationOptions({
      onSuccess: () => {
        toast({ text: 'Link revoked' });
        void queryClient.invalidateQueries({ queryKey: trpc.invitations.pathKey() });
      },
    }),
  );
  if (!open.data?.length && !open.error) return null;
  return (
    <section className="space-y-2">
      <h2 className="font-semibold">Open links</h2>
      <DataTable
        caption="Open links"
        noun={['link', 'links']}
        columns={columnsOf(ask)}
        rows={open.data}
        rowKey={({ email }) => email}
        error={open.error && describeError(open.error)}
        onRetry={() => void open.refetch()}
        empty={null}
      />
      <ConfirmDialog
        title={`Revoke the link of ${asked?.name ?? ''}?`}
        act="Revoke link"
        isOpen={asked !== null}
        onClose={() => ask(null)}
        onConfirm={async () => {
          if (asked) await revoke.mutateAsync({ email: asked.email });
        }}
        consequence={<p>The link stops working at once. You can make another one.</p>}
      />
    </section>
  );
}
