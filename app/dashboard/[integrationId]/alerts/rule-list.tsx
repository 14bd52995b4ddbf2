'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { AlertRule } from '../../../../contract/alert-rules';
import { Badge } from '../../components/badge';
import { Button, ButtonLink } from '../../components/button';
import { TRUNCATED } from '../../components/classes';
import { ShortId } from '../../components/copying';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, Facts, ListWithDetails } from '../../components/details-panel';
import { ConfirmDialog } from '../../components/dialog';
import { Switch } from '../../components/field';
import { HoverLink } from '../../components/hover-link';
import { UnreadRow, useLinkedRow } from '../../components/linked-row';
import { RoleNote } from '../../components/role-note';
import { SeverityBadge } from '../../components/severity-badge';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useSelection } from '../../components/url-state';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { showCondition, showMinutes } from './rule-words';

const LINK = 'text-accent underline-offset-2 hover:underline';

const COLUMNS: Column<AlertRule>[] = [
  {
    key: 'name',
    name: 'Rule',
    cell: ({ name }) => <CutText text={name} className="max-w-52 font-medium" />,
  },
  {
    key: 'state',
    name: 'State',
    width: '1%',
    cell: ({ enabled }) => (enabled ? <Badge tone="human">On</Badge> : <Badge>Off</Badge>),
  },
  {
    key: 'condition',
    name: 'Fires if',
    from: 'sm',
    width: '100%',
    cell: (rule) => (
      <span className={TRUNCATED} title={showCondition(rule)}>
        {showCondition(rule)}
      </span>
    ),
  },
  {
    key: 'severity',
    name: 'Severity',
    from: 'md',
    width: '1%',
    cell: ({ severity }) => <SeverityBadge severity={severity} />,
  },
  {
    key: 'last',
    name: 'Last alert',
    from: 'md',
    width: '1%',
    isNumber: true,
    cell: ({ lastTriggeredAt }) => <Time at={lastTriggeredAt} />,
  },
];

/** The alert rules, with a panel for the selected one. */
export function RuleList({ base }: { base: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { selected, select, readSelected } = useSelection();
  const list = useQuery(trpc.alertRules.list.queryOptions());
  const { listed, options } = useLinkedRow(list.data, selected);
  const elsewhere = useQuery(trpc.alertRules.get.queryOptions({ id: selected ?? '' }, options));
  const rule = listed ?? (options.enabled ? elsewhere.data : undefined);
  const hrefOf = ({ id }: AlertRule) => `${base}/rules/${encodeURIComponent(id)}`;
  return (
    <ListWithDetails
      list={
        <DataTable
          caption="Alert rules"
          noun={['rule', 'rules']}
          columns={COLUMNS}
          rows={list.data}
          rowKey={({ id }) => id}
          rowName={(one) => `${one.name}, ${showCondition(one)}`}
          selected={selected}
          onSelect={select}
          readSelected={readSelected}
          onOpen={(opened) => router.push(hrefOf(opened))}
          error={list.error && describeError(list.error)}
          onRetry={() => void list.refetch()}
          empty={
            <EmptyState title="No alert rules yet">
              <p>
                A rule watches a number, such as the bot sessions of a course within ten minutes, and tells you when it
                passes a limit: here, and in AlertTriggered webhooks.
              </p>
            </EmptyState>
          }
          shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
        />
      }
      details={
        rule ? (
          <RulePanel key={rule.id} rule={rule} base={base} onClose={() => select(null)} />
        ) : (
          options.enabled &&
          elsewhere.error && <UnreadRow title="Alert rule" query={elsewhere} onClose={() => select(null)} />
        )
      }
    />
  );
}

/** One rule, and what admins do with it. */
function RulePanel({ rule, base, onClose }: { rule: AlertRule; base: string; onClose(): void }) {
  const { id, name, enabled, severity, message, coolDownMinutes } = rule;
  const { isAdmin } = useStaff();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [isAsked, setAsked] = useState(false);
  const refresh = () => queryClient.invalidateQueries({ queryKey: trpc.alertRules.pathKey() });
  const setEnabled = useMutation(
    trpc.alertRules.setEnabled.mutationOptions({
      onSuccess: (after) => {
        queryClient.setQueryData(trpc.alertRules.list.queryKey(), (before) =>
          before?.map((one) => (one.id === id ? after : one)),
        );
        queryClient.setQueryData(trpc.alertRules.get.queryKey({ id }), after);
        void refresh();
        toast({ text: after.enabled ? 'Switched on. It judges what ends from now on.' : 'Switched off' });
      },
      onError: (error) => toast({ text: describeError(error), isError: true }),
    }),
  );
  const remove = useMutation(
    trpc.alertRules.delete.mutationOptions({
      onSuccess: () => {
        toast({ text: `${name} is deleted` });
        onClose();
        void refresh();
      },
    }),
  );
  return (
    <DetailsPanel title={name} onClose={onClose}>
      <p className="mb-4 break-words">{showCondition(rule)}</p>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Switch
          label="On"
          checked={setEnabled.isPending ? setEnabled.variables.enabled : enabled}
          disabled={!isAdmin || setEnabled.isPending}
          onChange={() => setEnabled.mutate({ id, enabled: !enabled })}
        />
        {isAdmin ? (
          <ButtonLink href={`${base}/rules/${encodeURIComponent(id)}`}>Edit</ButtonLink>
        ) : (
          <Button disabled>Edit</Button>
        )}
        <Button disabled={!isAdmin} onClick={() => setAsked(true)}>
          Delete
        </Button>
        <RoleNote needs="admin" act="change alert rules" />
      </div>
      <Facts
        facts={[
          ['Rule', <ShortId key="id" id={id} name="rule id" />],
          ['Severity', <SeverityBadge key="severity" severity={severity} />],
          ['Message', message],
          ['Cool-down', showMinutes(coolDownMinutes)],
          ['Created', <Done key="created" at={rule.createdAt} by={rule.createdBy} />],
          ['Changed', <Done key="changed" at={rule.updatedAt} by={rule.updatedBy} />],
          [
            'Alerts',
            <HoverLink key="alerts" className={LINK} href={`${base}?rule=${encodeURIComponent(id)}`}>
              Alerts of this rule
            </HoverLink>,
          ],
        ]}
      />
      <ConfirmDialog
        title={`Delete ${name}?`}
        act="Delete rule"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => remove.mutateAsync({ id })}
        consequence={<>It fires no more. Its alerts stay. This cannot be undone.</>}
      />
    </DetailsPanel>
  );
}

function Done({ at, by }: { at: string; by: string | null }) {
  return (
    <span>
      <Time at={at} absolute />
      {by && `, ${by}`}
    </span>
  );
}
