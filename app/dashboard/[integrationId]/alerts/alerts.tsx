'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Alert } from '../../../../contract/findings';
import { TRUNCATED } from '../../components/classes';
import { ShortId } from '../../components/copying';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, Facts, ListWithDetails } from '../../components/details-panel';
import { PageHeader } from '../../components/page-header';
import { SeverityBadge } from '../../components/severity-badge';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { OutsideLink } from '../sessions/session-facts';

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
    key: 'triggered',
    name: 'Triggered',
    width: '1%',
    isNumber: true,
    cell: ({ triggeredAt }) => <Time at={triggeredAt} />,
  },
];

/** The alerts that the customer's rules fired, newest first. */
export function Alerts() {
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const query = useInfiniteQuery(trpc.alerts.list.infiniteQueryOptions({}, PAGES));
  const list = listRows(query);
  const alert = list.rows?.find(({ id }) => id === selected);
  return (
    <>
      <PageHeader title="Alerts" about="The customer’s alert rules that fired, newest first." />
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
            empty={
              <EmptyState title="No alerts">
                <p>
                  An alert appears here, and is sent to AlertTriggered webhooks, when a rule of the customer fires
                  within its time window.
                </p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          alert && (
            <DetailsPanel title="Alert" onClose={() => select(null)}>
              <p className="mb-4 break-words">{alert.message}</p>
              <Facts
                facts={[
                  ['Alert', <ShortId key="id" id={alert.id} name="alert id" />],
                  ['Severity', <SeverityBadge key="severity" severity={alert.severity} />],
                  ['Triggered', <Time key="at" at={alert.triggeredAt} absolute />],
                  [
                    'Link',
                    alert.url && (
                      <OutsideLink key="url" url={alert.url}>
                        {alert.url}
                      </OutsideLink>
                    ),
                  ],
                ]}
              />
            </DetailsPanel>
          )
        }
      />
    </>
  );
}
