'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { ApiKey, KeyScope } from '../../../../contract/integrations';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { createSecretClose, SecretOnce } from '../../components/copying';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { ConfirmDialog, Dialog } from '../../components/dialog';
import { Checkbox, Field, Select } from '../../components/field';
import { RoleNote } from '../../components/role-note';
import { Code, EmptyState } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, findFault } from '../../query-client';
import { useStaff } from '../../staff';
import { NameForm } from './name-form';

/** The scopes in words, and whether a new key has them unless somebody says otherwise. */
const SCOPES: Record<KeyScope, { words: string; isUsual: boolean }> = {
  read: { words: 'Read everything', isUsual: true },
  'sessions:write': { words: 'Label sessions, confirm devices', isUsual: true },
  'webhooks:write': { words: 'Manage webhooks', isUsual: true },
  'settings:write': { words: 'Change settings', isUsual: true },
  'users:erase': { words: 'Erase users for good', isUsual: false },
};
const SCOPE_NAMES = Object.keys(SCOPES) as KeyScope[];

/** The days after which a key may expire. */
const LIFETIMES = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

const columnsOf = (isAdmin: boolean, onRevoke: (key: ApiKey) => void): Column<ApiKey>[] => [
  {
    key: 'name',
    name: 'Name',
    cell: ({ name }) => <CutText text={name} className="max-w-60 font-medium max-sm:max-w-24" />,
  },
  {
    key: 'key',
    name: 'Key',
    cell: ({ masked }) => <code className="whitespace-nowrap font-mono text-muted text-xs">{masked}</code>,
  },
  {
    key: 'scopes',
    name: 'Scopes',
    from: 'lg',
    cell: ({ scopes }) => <span className="text-muted text-xs">{scopes.join(', ')}</span>,
  },
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
    cell: (key) => (
      <span className="inline-flex items-center justify-end gap-2 whitespace-nowrap text-faint">
        <KeyEnd apiKey={key} />
        {!key.revokedAt && (
          <Button isSmall disabled={!isAdmin} aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        )}
      </span>
    ),
  },
];

/** When a key stopped to work, or will. */
function KeyEnd({ apiKey: { revokedAt, expiresAt } }: { apiKey: ApiKey }) {
  const { nowMs } = useTimeZone();
  const at = revokedAt ?? expiresAt;
  if (at === null) return null;
  const hasEnded = revokedAt !== null || Date.parse(at) <= nowMs;
  return (
    <>
      {hasEnded && <Badge>{revokedAt ? 'Revoked' : 'Expired'}</Badge>}
      <span className="max-sm:hidden">
        {!hasEnded && 'expires '}
        <Time at={at} />
      </span>
    </>
  );
}

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
        <p className="text-muted">A key may do over the API what its scopes say, in this integration alone.</p>
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

/** Asks for name, scopes and expiry, then shows the new key once. */
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
  const close = createSecretClose(mint, onClose);
  const faultId = useId();
  const scopesFault = findFault(mint.error, 'scopes');
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
          onSubmit={(name, form) => {
            const days = Number(form.get('expiresInDays'));
            const scopes = SCOPE_NAMES.filter((scope) => form.has(scope));
            mint.mutate({ name, scopes, expiresInDays: days || null });
          }}
          onCancel={close}
        >
          <fieldset aria-describedby={scopesFault ? faultId : undefined} className="flex flex-col gap-1.5">
            <legend className="mb-1 font-medium text-muted text-xs">Scopes</legend>
            {SCOPE_NAMES.map((scope) => (
              <Checkbox
                key={scope}
                name={scope}
                defaultChecked={SCOPES[scope].isUsual}
                label={
                  <>
                    {SCOPES[scope].words} <code className="font-mono text-faint text-xs">{scope}</code>
                  </>
                }
              />
            ))}
            {scopesFault && (
              <p id={faultId} role="alert" className="text-danger text-xs">
                {scopesFault}
              </p>
            )}
          </fieldset>
          <Field
            label="Expires"
            hint="From then on requests with it answer 401."
            error={findFault(mint.error, 'expiresInDays')}
          >
            <Select name="expiresInDays">
              {LIFETIMES.map(([days, words]) => (
                <option key={days} value={days}>
                  {words}
                </option>
              ))}
            </Select>
          </Field>
        </NameForm>
      )}
    </Dialog>
  );
}
