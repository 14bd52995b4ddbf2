'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Alert } from '../../../../contract/findings';
import { ActiveFilters } from '../../components/active-filters';
import { Badge, type Tone } from '../../components/badge';
import { TRUNCATED } from '../../components/classes';
import { type Column, DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { Select } from '../../components/field';
import { SeverityBadge } from '../../components/severity-badge';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection, useUrlState } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';
import { useAlertChanges } from './alert-changes';
import { readAlertFilters, STATUS_WORDS } from './alert-filters';
import { AlertPanel } from './alert-panel';

const REFRESH_MS = 10_000;
const TONES: Record<Alert['status'], Tone> = { Open: 'danger', Acknowledged: 'medium', Resolved: 'neutral' };

const COLUMNS: Column<Alert>[] = [
  { key: 'severity', name: 'Severity', width: '1%', cell: ({ severity }) => <SeverityBadge severity={severity} /> },
  {
    key: 'message',
    name: 'Message',
    width: '100%',
    cell: ({ message }) => (
      <span className={TRUNCATED} title={message}>
        {message}
      </span>
    ),
  },
  {
    key: 'rule',
    name: 'Rule',
    from: 'lg',
    width: '1%',
    cell: ({ rule }) => <span className="block max-w-40 truncate text-muted">{rule?.name ?? 'the customer’s'}</span>,
  },
  {
    key: 'status',
    name: 'Status',
    from: 'sm',
    width: '1%',
    cell: ({ status }) => <Badge tone={TONES[status]}>{STATUS_WORDS[status]}</Badge>,
  },
  {
    key: 'triggered',
    name: 'Triggered',
    width: '1%',
    isNumber: true,
    cell: ({ triggeredAt }) => <Time at={triggeredAt} />,
  },
];

/** The alerts, newest first. A link to an alert shows it even if it is not on the first page. */
export function AlertList({ base }: { base: string }) {
  const trpc = useTRPC();
  const { params, change } = useUrlState();
  const { selected, select, readSelected } = useSelection();
  const { canWrite } = useStaff();
  const filters = readAlertFilters(params);
  const query = useInfiniteQuery(
    trpc.alerts.list.infiniteQueryOptions(filters, { ...PAGES, refetchInterval: REFRESH_MS }),
  );
  const list = listRows(query);
  const listed = list.rows?.find(({ id }) => id === selected);
  const isElsewhere = selected !== null && list.rows !== undefined && listed === undefined;
  const elsewhere = useQuery(trpc.alerts.get.queryOptions({ id: selected ?? '' }, { enabled: isElsewhere }));
  const alert = listed ?? (isElsewhere ? elsewhere.data : undefined);
  const { acknowledge, resolve } = useAlertChanges();
  const set = (param: string, value: string | null) => change({ [param]: value, selected: null });
  const acts = [
    { keys: 'a', name: 'Acknowledge', run: () => selected && acknowledge.mutate({ id: selected }) },
    { keys: 'r', name: 'Resolve', run: () => selected && resolve.mutate({ id: selected }) },
  ];
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Select
          aria-label="Status"
          className="w-44"
          value={filters.status ?? ''}
          onChange={({ target }) => set('status', target.value)}
        >
          <option value="">Status: any</option>
          {Object.entries(STATUS_WORDS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Select>
        <ActiveFilters
          filters={filters.ruleId ? [{ param: 'rule', name: 'Rule', value: alert?.rule?.name ?? filters.ruleId }] : []}
          onRemove={(param) => set(param, null)}
        />
      </div>
      <ListWithDetails
        list={
          <DataTable
            caption="Alerts"
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={<NoAlerts isFiltered={Boolean(filters.status || filters.ruleId)} />}
            shortcuts={[...(canWrite ? acts : []), { keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={alert && <AlertPanel key={alert.id} alert={alert} base={base} onClose={() => select(null)} />}
      />
    </>
  );
}

function NoAlerts({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title="No alert matches">
        <p>Choose another status, or remove the filter.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No alerts">
      <p>
        An alert appears here, and is sent to AlertTriggered webhooks, when a rule holds in its window of time. Make a
        rule: its preview says when it would have fired in the last 30 days.
      </p>
    </EmptyState>
  );
}
