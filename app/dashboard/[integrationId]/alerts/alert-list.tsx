'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Alert } from '../../../../contract/findings';
import { ActiveFilters } from '../../components/active-filters';
import { TRUNCATED } from '../../components/classes';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { ListWithDetails } from '../../components/details-panel';
import { UnreadRow, useLinkedRow } from '../../components/linked-row';
import { ListTools } from '../../components/list-tools';
import { SeverityBadge } from '../../components/severity-badge';
import { EmptyState } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { useSelection, useUrlState } from '../../components/url-state';
import { listRows, PAGES, refreshEvery } from '../../list-pages';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { showInstant } from '../../time-zone';
import { IncidentBadge, StatusFilter, useIncidentShortcuts } from '../incident-handling';
import { readAlertFilters } from './alert-filters';
import { AlertPanel } from './alert-panel';

const COLUMNS: Column<Alert>[] = [
  {
    key: 'severity',
    name: 'Severity',
    from: 'sm',
    width: '1%',
    cell: ({ severity }) => (
      <span className="flex max-w-24">
        <SeverityBadge severity={severity} />
      </span>
    ),
  },
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
    cell: ({ rule }) => <CutText text={rule?.name ?? 'the customer’s'} className="max-w-40 text-muted" />,
  },
  { key: 'status', name: 'Status', width: '1%', cell: IncidentBadge },
  {
    key: 'triggered',
    name: 'Triggered',
    width: '1%',
    isNumber: true,
    cell: ({ triggeredAt }) => <Time at={triggeredAt} />,
  },
];

const NOUN = ['alert', 'alerts'] as const;

/** The alerts, newest first. A link to an alert shows it even if it is not on the first page. */
export function AlertList({ base }: { base: string }) {
  const trpc = useTRPC();
  const { timeZone } = useTimeZone();
  const { params, change } = useUrlState();
  const { selected, select, readSelected } = useSelection();
  const shortcuts = useIncidentShortcuts('alerts', readSelected);
  const filters = readAlertFilters(params);
  const query = useInfiniteQuery(
    trpc.alerts.list.infiniteQueryOptions(filters, { ...PAGES, refetchInterval: refreshEvery(REFRESH_MS) }),
  );
  const total = useQuery(trpc.alerts.count.queryOptions(filters, { refetchInterval: REFRESH_MS })).data;
  const list = listRows(query);
  const { listed, options } = useLinkedRow(list.rows, selected);
  const elsewhere = useQuery(trpc.alerts.get.queryOptions({ id: selected ?? '' }, options));
  const alert = listed ?? (options.enabled ? elsewhere.data : undefined);
  const set = (param: string, value: string | null) => change({ [param]: value, selected: null });
  const rules = useQuery(trpc.alertRules.list.queryOptions(undefined, { enabled: filters.ruleId !== undefined }));
  // A rule that has not fired has no alert, and one that is deleted is only in its alerts.
  const rule =
    rules.data?.find(({ id }) => id === filters.ruleId) ??
    list.rows?.find((one) => one.rule?.id === filters.ruleId)?.rule;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <StatusFilter value={filters.status} onChange={(status) => set('status', status)} />
        <ActiveFilters
          filters={filters.ruleId ? [{ param: 'rule', name: 'Rule', value: rule?.name ?? filters.ruleId }] : []}
          onRemove={(param) => set(param, null)}
        />
      </div>
      <ListTools
        {...{ list: 'alerts', page: 'alerts', noun: NOUN, filters, total, rows: list.rows, hasMore: list.hasMore }}
      />
      <ListWithDetails
        list={
          <DataTable
            caption="Alerts"
            noun={NOUN}
            total={total}
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            rowName={({ message, triggeredAt }) => `${message}, ${showInstant(triggeredAt, timeZone)}`}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={<NoAlerts isFiltered={Boolean(filters.status || filters.ruleId)} />}
            shortcuts={[...shortcuts, { keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          alert ? (
            <AlertPanel key={alert.id} alert={alert} base={base} onClose={() => select(null)} />
          ) : (
            options.enabled &&
            elsewhere.error && <UnreadRow title="Alert" query={elsewhere} onClose={() => select(null)} />
          )
        }
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
