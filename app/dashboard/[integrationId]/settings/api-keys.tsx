'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../../contract/integrations';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { SecretOnce } from '../../components/copying';
import { type Column, DataTable } from '../../components/data-table';
import { ConfirmDialog, Dialog } from '../../components/dialog';
import { RoleNote } from '../../components/role-note';
import { Code, EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { NameForm } from './name-form';

const columnsOf = (isAdmin: boolean, onRevoke: (key: ApiKey) => void): Column<ApiKey>[] => [
  {
    key: 'name',
    name: 'Name',
    cell: ({ name }) => <span className="block max-w-60 truncate font-medium max-sm:max-w-24">{name}</span>,
  },
  { key: 'key', name: 'Key', cell: ({ masked }) => <code className="font-mono text-muted text-xs">{masked}</code> },
  { key: 'created', name: 'Created', from: 'md', isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    key: 'used',
    name: 'Last used',
    from: 'sm',
    isNumber: true,
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : <span className="text-faint">never</span>),
  },
  {
    key: 'state',
    name: 'State',
    width: '1%',
    isNumber: true,
    cell: (key) =>
      key.revokedAt ? (
        <span className="inline-flex items-center gap-2 whitespace-nowrap text-faint">
          <Badge>Revoked</Badge>
          <span className="max-sm:hidden">
            <Time at={key.revokedAt} />
          </span>
        </span>
      ) : (
        <Button isSmall disabled={!isAdmin} aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
          Revoke
        </Button>
      ),
  },
];

/** The API keys of the integration: list, create, revoke. */
export function ApiKeys() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { isAdmin } = useStaff();
  const [isMinting, setMinting] = useState(false);
  const [asked, ask] = useState<ApiKey | null>(null);
  const keys = useQuery(trpc.apiKeys.list.queryOptions());
  const revoke = useMutation(
    trpc.apiKeys.revoke.mutationOptions({
      onSuccess: () => {
        toast({ text: 'Key revoked: requests with it now answer 401.' });
        void queryClient.invalidateQueries({ queryKey: trpc.apiKeys.pathKey() });
      },
    }),
  );
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">A key may read and change everything of this integration over the API.</p>
        <Button kind="primary" disabled={!isAdmin} onClick={() => setMinting(true)}>
          Mint a key
        </Button>
      </div>
      <RoleNote needs="admin" act="mint or revoke keys" />
      <DataTable
        caption="API keys"
        noun={['key', 'keys']}
        columns={columnsOf(isAdmin, ask)}
        rows={keys.data}
        rowKey={({ id }) => id}
        error={keys.error && describeError(keys.error)}
        onRetry={() => void keys.refetch()}
        empty={
          <EmptyState title="No keys yet">
            <p>Customers call the API with a key. Mint the first one, and try it:</p>
            <Code>{'curl -H "Authorization: Bearer $API_KEY" "$BASE_URL/v1/integration"'}</Code>
          </EmptyState>
        }
      />
      <MintDialog isOpen={isMinting} onClose={() => setMinting(false)} />
      <ConfirmDialog
        title={`Revoke ${asked?.name ?? 'the key'}?`}
        act="Revoke key"
        isOpen={asked !== null}
        onClose={() => ask(null)}
        onConfirm={async () => {
          if (asked) await revoke.mutateAsync({ id: asked.id });
        }}
        consequence={
          <>
            <p>
              The next request with <code className="font-mono text-xs">{asked?.masked}</code> fails with 401. A revoked
              key cannot be restored: its users need a new one.
            </p>
            <p className="mt-2">
              {asked?.lastUsedAt ? (
                <>
                  It was last used <Time at={asked.lastUsedAt} />.
                </>
              ) : (
                'It was never used.'
              )}
            </p>
          </>
        }
      />
    </div>
  );
}

/** Asks for a name, then shows the new key once. */
export function MintDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const mint = useMutation(
    trpc.apiKeys.mint.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries({ queryKey: trpc.apiKeys.pathKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.setup.pathKey() });
      },
    }),
  );
  const close = () => {
    // Drops the last copy of the key in the browser.
    mint.reset();
    onClose();
  };
  return (
    <Dialog title={mint.data ? 'Your new key' : 'Mint a key'} isOpen={isOpen} onClose={close}>
      {mint.data ? (
        <SecretOnce name="API key" secret={mint.data.key} onCopied={close} />
      ) : (
        <NameForm
          hint="Says who uses it, so that it can be revoked without guessing."
          placeholder="Nightly export"
          act="Mint key"
          change={mint}
          onCancel={close}
        />
      )}
    </Dialog>
  );
}
