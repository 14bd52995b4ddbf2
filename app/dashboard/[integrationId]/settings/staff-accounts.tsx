'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { StaffAccount, StaffRole } from '../../../../contract/staff';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { Facts } from '../../components/details-panel';
import { ConfirmDialog } from '../../components/dialog';
import { Select } from '../../components/field';
import { Section } from '../../components/page-header';
import { RoleNote } from '../../components/role-note';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { tellOtherTabs } from '../../other-tabs';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { ChangePassword } from '../change-password';
import { forgetUnsaved } from '../sessions/unsaved-verdicts';
import { useAccountRefresh } from './account-refresh';
import { CreateAccount } from './create-account';
import { InviteDialog, OpenInvitations, PasswordLinkDialog } from './invitations';
import { ROLE_WORDS } from './roles';

/** The dashboard's accounts, across all integrations. Staff who are not admins see only their own. */
export function StaffAccounts() {
  const { staff, isAdmin } = useStaff();
  const [isChanging, setChanging] = useState(false);
  if (isAdmin) return <Accounts />;
  return (
    <div className="max-w-lg space-y-3">
      <Section title="Your account">
        <Facts
          facts={[
            ['Name', staff.name],
            ['Email', staff.email],
            ['Role', ROLE_WORDS[staff.role]],
          ]}
        />
        <div className="mt-4">
          <Button onClick={() => setChanging(true)}>Change password</Button>
        </div>
      </Section>
      <ChangePassword isOpen={isChanging} onClose={() => setChanging(false)} />
      <RoleNote needs="admin" act="see and change other accounts, or sign you out elsewhere" />
    </div>
  );
}

type Question = { act: 'disable' | 'signOut' | 'newPassword'; account: StaffAccount };

function Accounts() {
  const trpc = useTRPC();
  const { staff } = useStaff();
  const [dialog, setDialog] = useState<'invite' | 'create' | null>(null);
  const closeDialog = () => setDialog(null);
  const [asked, ask] = useState<Question | null>(null);
  const [ownRole, askOwnRole] = useState<StaffRole | null>(null);
  const accounts = useQuery(trpc.staff.list.queryOptions());
  const changes = useAccountChanges();
  const own = accounts.data?.find(({ id }) => id === staff.id);
  const setRole = (account: StaffAccount, role: StaffRole) => {
    if (account.id === staff.id) askOwnRole(role);
    else void changes.setRole(account, role);
  };
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="min-w-[min(16rem,100%)] flex-1 text-muted">
          Accounts see every integration. Viewers read, analysts review and change an integration’s own data, admins
          also manage keys, plans and staff.
        </p>
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setDialog('create')}>Create with a password</Button>
          <Button kind="primary" onClick={() => setDialog('invite')}>
            Invite a person
          </Button>
        </div>
      </div>
      <DataTable
        caption="Staff"
        noun={['account', 'accounts']}
        columns={columnsOf(staff.id, { ...changes, setRole }, ask)}
        rows={accounts.data}
        rowKey={({ id }) => id}
        error={accounts.error && describeError(accounts.error)}
        onRetry={() => void accounts.refetch()}
        empty={null}
      />
      <OpenInvitations />
      <InviteDialog isOpen={dialog === 'invite'} onClose={closeDialog} />
      <CreateAccount isOpen={dialog === 'create'} onClose={closeDialog} />
      <PasswordLinkDialog account={asked?.act === 'newPassword' ? asked.account : null} onClose={() => ask(null)} />
      <AccountQuestion question={asked} onClose={() => ask(null)} changes={changes} />
      {own && ownRole && (
        <ConfirmDialog
          isOpen
          title={`Make yourself ${ROLE_WORDS[ownRole].toLowerCase()}?`}
          act="Give up the role"
          consequence={<p>You lose what only admins may do at once. Another admin must give you the role again.</p>}
          onClose={() => askOwnRole(null)}
          onConfirm={() => changes.setRole(own, ownRole)}
        />
      )}
    </div>
  );
}

const columnsOf = (
  ownId: string,
  {
    setRole,
    enable,
  }: { setRole(account: StaffAccount, role: StaffRole): void; enable(account: StaffAccount): Promise<void> },
  ask: (question: Question) => void,
): Column<StaffAccount>[] => [
  {
    key: 'name',
    name: 'Name',
    width: '100%',
    cell: ({ id, name, email }) => (
      <span className="block min-w-0 py-1 leading-4 [contain:inline-size]">
        <span className="flex items-center gap-2">
          <CutText text={name} className="font-medium" />
          {id === ownId && <Badge tone="accent">You</Badge>}
        </span>
        <CutText text={email} className="text-muted text-xs" />
      </span>
    ),
  },
  {
    key: 'role',
    name: 'Role',
    width: '1%',
    cell: (account) => (
      <Select
        className="w-24"
        aria-label={`Role of ${account.name}`}
        value={account.role}
        onChange={({ target }) => setRole(account, target.value as StaffRole)}
      >
        {Object.entries(ROLE_WORDS).map(([role, name]) => (
          <option key={role} value={role}>
            {name}
          </option>
        ))}
      </Select>
    ),
  },
  {
    key: 'sessions',
    name: 'Signed in',
    from: 'sm',
    width: '1%',
    isNumber: true,
    cell: ({ sessions }) => (sessions === 0 ? <span className="text-faint">no</span> : `${sessions} ×`),
  },
  {
    key: 'created',
    name: 'Created',
    from: 'md',
    width: '1%',
    isNumber: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    key: 'acts',
    name: 'Account',
    width: '1%',
    isNumber: true,
    cell: (account) => (
      <span className="inline-flex items-center justify-end gap-1 py-1 max-sm:flex-col max-sm:items-end">
        {account.disabled && <Badge tone="danger">Disabled</Badge>}
        {account.sessions > 0 && (
          <Button
            isSmall
            aria-label={`Sign out ${account.name} everywhere`}
            onClick={() => ask({ act: 'signOut', account })}
          >
            Sign out
          </Button>
        )}
        {!account.disabled && (
          <Button
            isSmall
            aria-label={`New password for ${account.name}`}
            onClick={() => ask({ act: 'newPassword', account })}
          >
            New password
          </Button>
        )}
        {account.disabled ? (
          <Button isSmall aria-label={`Enable ${account.name}`} onClick={() => void enable(account)}>
            Enable
          </Button>
        ) : (
          <Button isSmall aria-label={`Disable ${account.name}`} onClick={() => ask({ act: 'disable', account })}>
            Disable
          </Button>
        )}
      </span>
    ),
  },
];

/** The changes that an admin can make to accounts. Each reports success or the reason for failure. */
function useAccountChanges() {
  const trpc = useTRPC();
  const router = useRouter();
  const toast = useToast();
  const { staff } = useStaff();
  const refresh = useAccountRefresh();
  const refuse = (error: unknown) => {
    toast({ text: describeError(error), isError: true });
    refresh();
  };
  const role = useMutation(trpc.staff.setRole.mutationOptions());
  const enabling = useMutation(trpc.staff.enable.mutationOptions());
  const disabling = useMutation(trpc.staff.disable.mutationOptions({ onSuccess: refresh }));
  const revoking = useMutation(trpc.staff.revokeSessions.mutationOptions({ onSuccess: refresh }));

  // Promises, because callbacks of `mutate` are called for the last change alone.
  const setRole = (account: StaffAccount, to: StaffRole, isUndo = false): Promise<void> =>
    role.mutateAsync({ id: account.id, role: to, replaced: account.role }).then(() => {
      toast({
        text: `${account.name} is now ${ROLE_WORDS[to].toLowerCase()}`,
        ...(isUndo || account.id === staff.id
          ? {}
          : { undo: () => void setRole({ ...account, role: to }, account.role, true) }),
      });
      // The server renders what the signed-in account may do.
      if (account.id === staff.id) router.refresh();
      else refresh();
    }, refuse);
  const enable = (account: StaffAccount): Promise<void> =>
    enabling.mutateAsync({ id: account.id }).then(() => {
      toast({ text: `${account.name} may sign in again` });
      refresh();
    }, refuse);
  return { setRole, enable, disable: disabling.mutateAsync, signOut: revoking.mutateAsync };
}

/** Asks for confirmation before it ends an account's sessions. */
function AccountQuestion({
  question,
  onClose,
  changes,
}: {
  question: Question | null;
  onClose(): void;
  changes: ReturnType<typeof useAccountChanges>;
}) {
  const { staff } = useStaff();
  const isOwn = question?.account.id === staff.id;
  const name = isOwn ? 'yourself' : question?.account.name;
  const act = question?.act === 'newPassword' ? undefined : question?.act;
  const isDisabling = act === 'disable';
  return (
    <ConfirmDialog
      title={isDisabling ? `Disable ${name}?` : `Sign ${name} out everywhere?`}
      act={isDisabling ? 'Disable account' : 'Sign out everywhere'}
      isOpen={act !== undefined}
      onClose={onClose}
      onConfirm={async () => {
        if (!question || !act) return;
        await changes[act]({ id: question.account.id });
        if (!isOwn) return;
        forgetUnsaved(window.sessionStorage, staff.id);
        tellOtherTabs();
        window.location.assign('/sign-in');
      }}
      consequence={
        <p>
          {isDisabling
            ? 'All sessions of the account end at once, and it cannot sign in until it is enabled again. Its past changes stay.'
            : 'All sessions of the account end at once, on every device. It can sign in again with its password.'}
          {isOwn && ' That includes this one.'}
        </p>
      }
    />
  );
}
