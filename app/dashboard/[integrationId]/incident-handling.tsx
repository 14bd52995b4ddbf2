'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Handling, IncidentStatus } from '../../../contract/findings';
import { Badge, type Tone } from '../components/badge';
import { Button } from '../components/button';
import { Select } from '../components/field';
import { RoleNote } from '../components/role-note';
import type { Shortcut } from '../components/shortcuts';
import { Time } from '../components/time';
import { useToast } from '../components/toast';
import { useTRPC } from '../queries';
import { describeError } from '../query-client';
import { useStaff } from '../staff';

// What staff do with alerts and with anomalies: the same words, the same keys.

const STATUS_WORDS: Record<IncidentStatus, string> = {
  Open: 'Open',
  Acknowledged: 'Acknowledged',
  Resolved: 'Resolved',
};
const TONES: Record<IncidentStatus, Tone> = { Open: 'danger', Acknowledged: 'medium', Resolved: 'neutral' };

export type IncidentKind = 'alerts' | 'anomalies';

export const IncidentBadge = ({ status }: Pick<Handling, 'status'>) => (
  <Badge tone={TONES[status]}>{STATUS_WORDS[status]}</Badge>
);

/** Changes the status of alerts or anomalies. Each change shows the incident as it is then, and says so. */
function useIncidentChanges(kind: IncidentKind) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const say = (asked: IncidentStatus, words: string) => ({
    onSuccess: (incident: { id: string } & Handling) => {
      const { id, status } = incident;
      // It may leave the filter of its list. Its panel shows it all the same, without waiting for it.
      queryClient.setQueryData<unknown>(trpc[kind].get.queryKey({ id }), incident);
      // A colleague was faster, or a key was pressed where the button is off.
      toast({ text: status === asked ? words : `Already ${STATUS_WORDS[status].toLowerCase()}` });
      return queryClient.invalidateQueries({ queryKey: trpc[kind].pathKey() });
    },
    onError: (error: unknown) => toast({ text: describeError(error), isError: true }),
  });
  const acknowledged = say('Acknowledged', 'Acknowledged');
  const resolved = say('Resolved', 'Resolved');
  const reopened = say('Open', 'Opened again');
  const changes = {
    alerts: {
      acknowledge: useMutation(trpc.alerts.acknowledge.mutationOptions(acknowledged)),
      resolve: useMutation(trpc.alerts.resolve.mutationOptions(resolved)),
      reopen: useMutation(trpc.alerts.reopen.mutationOptions(reopened)),
    },
    anomalies: {
      acknowledge: useMutation(trpc.anomalies.acknowledge.mutationOptions(acknowledged)),
      resolve: useMutation(trpc.anomalies.resolve.mutationOptions(resolved)),
      reopen: useMutation(trpc.anomalies.reopen.mutationOptions(reopened)),
    },
  };
  return changes[kind];
}

/** The keys that change the selected incident. */
export function useIncidentShortcuts(kind: IncidentKind, readSelected: () => string | null): Shortcut[] {
  const { canWrite } = useStaff();
  const { acknowledge, resolve } = useIncidentChanges(kind);
  if (!canWrite) return [];
  const change = (mutate: (input: { id: string }) => void) => () => {
    const id = readSelected();
    if (id) mutate({ id });
  };
  return [
    { keys: 'a', name: 'Acknowledge', run: change(acknowledge.mutate) },
    { keys: 'r', name: 'Resolve', run: change(resolve.mutate) },
  ];
}

/** What can be done with an incident. */
export function IncidentActions({ kind, incident }: { kind: IncidentKind; incident: { id: string } & Handling }) {
  const { id, status } = incident;
  const { canWrite } = useStaff();
  const { acknowledge, resolve, reopen } = useIncidentChanges(kind);
  const isBusy = [acknowledge, resolve, reopen].some(({ isPending }) => isPending);
  /** A button that has been pressed keeps the focus: `disabled` would take it away. */
  const act = (change: () => void, isOff: boolean) => ({
    disabled: !canWrite,
    'aria-disabled': isBusy || isOff,
    onClick: () => {
      if (!isBusy && !isOff) change();
    },
  });
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Button {...act(() => acknowledge.mutate({ id }), status !== 'Open')}>Acknowledge</Button>
      <Button {...act(() => resolve.mutate({ id }), status === 'Resolved')}>Resolve</Button>
      <Button kind="quiet" {...act(() => reopen.mutate({ id, seenStatus: status }), status === 'Open')}>
        Open again
      </Button>
      <RoleNote needs="analyst" act={`change the status of ${kind}`} />
    </div>
  );
}

/** The status of an incident, with who and when. */
export const listHandling = (incident: Handling): [string, ReactNode][] => [
  ['Status', <IncidentBadge key="status" status={incident.status} />],
  ['Acknowledged', <Done key="acknowledged" at={incident.acknowledgedAt} by={incident.acknowledgedBy} />],
  ['Resolved', <Done key="resolved" at={incident.resolvedAt} by={incident.resolvedBy} />],
];

function Done({ at, by }: { at: string | null; by: string | null }) {
  if (at === null) return <span className="text-faint">–</span>;
  return (
    <span>
      <Time at={at} absolute />
      {by && `, ${by}`}
    </span>
  );
}

/** Chooses the status of the listed incidents. */
export function StatusFilter({ value, onChange }: { value: string | undefined; onChange(value: string): void }) {
  return (
    <Select aria-label="Status" className="w-44" value={value ?? ''} onChange={({ target }) => onChange(target.value)}>
      <option value="">Status: any</option>
      {Object.entries(STATUS_WORDS).map(([status, name]) => (
        <option key={status} value={status}>
          {name}
        </option>
      ))}
    </Select>
  );
}
