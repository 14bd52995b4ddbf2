'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Site } from '../../../../contract/sites';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { ConfirmDialog, Dialog } from '../../components/dialog';
import { RoleNote } from '../../components/role-note';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { NameForm } from './name-form';

const columnsOf = (isAdmin: boolean, onRevoke: (site: Site) => void): Column<Site>[] => [
  {
    key: 'name',
    name: 'Name',
    cell: ({ name }) => <CutText text={name} className="max-w-60 font-medium max-sm:max-w-24" />,
  },
  {
    key: 'key',
    name: 'Site key',
    from: 'sm',
    cell: ({ siteKey }) => <code className="font-mono text-muted text-xs">{siteKey}</code>,
  },
  { key: 'created', name: 'Created', from: 'md', isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    key: 'first',
    name: 'First event',
    isNumber: true,
    cell: ({ firstReceivedAt, revokedAt }) =>
      firstReceivedAt ? (
        <Time at={firstReceivedAt} />
      ) : (
        <span className="text-faint">{revokedAt ? 'never' : 'waiting'}</span>
      ),
  },
  {
    key: 'state',
    name: 'State',
    width: '1%',
    isNumber: true,
    cell: (site) =>
      site.revokedAt ? (
        <Badge>Revoked</Badge>
      ) : (
        <Button isSmall disabled={!isAdmin} aria-label={`Revoke ${site.name}`} onClick={() => onRevoke(site)}>
          Revoke
        </Button>
      ),
  },
];

interface SiteList {
  data: Site[] | undefined;
  error: unknown;
  refetch(): unknown;
}

/** The sites of the integration: list, create, revoke. */
export function SiteKeys({ sites }: { sites: SiteList }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { isAdmin } = useStaff();
  const [isCreating, setCreating] = useState(false);
  const [asked, ask] = useState<Site | null>(null);
  const revoke = useMutation(
    trpc.sites.revoke.mutationOptions({
      onSuccess: () => {
        toast({ text: 'Site revoked: nothing is kept from its pages any more.' });
        void queryClient.invalidateQueries({ queryKey: trpc.sites.list.pathKey() });
      },
    }),
  );
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">A site key is public: it tells which integration a page belongs to.</p>
        <Button kind="primary" disabled={!isAdmin} onClick={() => setCreating(true)}>
          Create a site
        </Button>
      </div>
      <RoleNote needs="admin" act="change sites" />
      <DataTable
        caption="Sites"
        noun={['site', 'sites']}
        columns={columnsOf(isAdmin, ask)}
        rows={sites.data}
        rowKey={({ id }) => id}
        error={sites.error ? describeError(sites.error) : null}
        onRetry={() => void sites.refetch()}
        empty={
          <EmptyState title="No sites yet">
            <p>Create a site for each place where the pixel is, such as the LMS and the library, and copy its tag.</p>
          </EmptyState>
        }
      />
      <CreateSite isOpen={isCreating} onClose={() => setCreating(false)} />
      <ConfirmDialog
        title={`Revoke ${asked?.name ?? 'the site'}?`}
        act="Revoke site"
        isOpen={asked !== null}
        onClose={() => ask(null)}
        onConfirm={async () => {
          if (asked) await revoke.mutateAsync({ id: asked.id });
        }}
        consequence={
          <p>
            Nothing of pages with the key <code className="break-all font-mono text-xs">{asked?.siteKey}</code> is kept
            from then on. A revoked site cannot be restored: its pages need the tag of another one.
          </p>
        }
      />
    </div>
  );
}

/** Asks for a name, then makes the site. */
export function CreateSite({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.sites.create.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries({ queryKey: trpc.sites.list.pathKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.setup.pathKey() });
        close();
      },
    }),
  );
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <Dialog title="Create a site" isOpen={isOpen} onClose={close}>
      <NameForm
        hint="Says where the pixel is."
        placeholder="Campus LMS"
        act="Create site"
        change={create}
        onSubmit={(name) => create.mutate({ name })}
        onCancel={close}
      />
    </Dialog>
  );
}
