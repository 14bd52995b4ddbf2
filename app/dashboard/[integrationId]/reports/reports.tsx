'use client';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Report } from '../../../../contract/findings';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { ShortId } from '../../components/copying';
import { Bytes, Count } from '../../components/count';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, Facts, ListWithDetails } from '../../components/details-panel';
import { ConfirmDialog } from '../../components/dialog';
import { Download } from '../../components/icons';
import { UnreadRow, useLinkedRow } from '../../components/linked-row';
import { PageHeader } from '../../components/page-header';
import { RoleNote } from '../../components/role-note';
import { EmptyState } from '../../components/states';
import { Time, useTimeZone } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES, refreshEvery } from '../../list-pages';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';
import { showInstant } from '../../time-zone';
import { ReportJobs } from './report-jobs';
import { describeContent, showFilters, showLength, showMaker, showRequester } from './report-words';
import { RequestReport } from './request-report';
import { Schedules } from './schedules';

const STATUSES: Record<Report['status'], 'human' | 'neutral'> = { Ready: 'human', Expired: 'neutral' };
const NONE = <span className="text-faint">–</span>;

const Status = ({ status }: Report) => <Badge tone={STATUSES[status]}>{status}</Badge>;
const Records = ({ recordCount }: Report) => (recordCount === null ? NONE : <Count value={recordCount} />);
const Size = ({ fileSize }: Report) => (fileSize === null ? NONE : <Bytes value={fileSize} />);

/** Names a report for screen readers: a schedule gives all of its reports one name. It begins with exactly what its button shows. */
const nameReport = ({ name, content, completedAt }: Report, timeZone: string) =>
  `${[name, content && describeContent(content)].filter(Boolean).join(' ')}, ${showInstant(completedAt, timeZone)}`;

/** Links to the file while it is available. */
function DownloadLink({ report }: { report: Report }) {
  const { timeZone } = useTimeZone();
  const { status, downloadUrl } = report;
  if (status === 'Expired') return NONE;
  return (
    <a
      href={downloadUrl}
      download
      aria-label={`Download ${nameReport(report, timeZone)}`}
      className="inline-flex items-center gap-1 align-middle text-accent underline-offset-2 hover:underline"
      onClick={(event) => event.stopPropagation()}
    >
      <Download size={14} aria-hidden />
      Download
    </a>
  );
}

const COLUMNS: Column<Report>[] = [
  {
    key: 'name',
    name: 'Name',
    width: '100%',
    cell: ({ name, content }) => (
      <div className="py-1">
        <span className={joinClasses(TRUNCATED, 'font-medium')} title={name}>
          {name}
        </span>{' '}
        {content && (
          <span className={joinClasses(TRUNCATED, 'text-muted')} title={describeContent(content)}>
            {describeContent(content)}
          </span>
        )}
      </div>
    ),
  },
  { key: 'status', name: 'Status', width: '1%', cell: Status },
  {
    key: 'format',
    name: 'Format',
    from: 'md',
    width: '1%',
    cell: ({ format }) => <span className="text-muted uppercase">{format}</span>,
  },
  { key: 'records', name: 'Records', from: 'lg', isNumber: true, cell: Records },
  { key: 'size', name: 'Size', from: 'sm', width: '1%', isNumber: true, cell: Size },
  {
    key: 'completed',
    name: 'Completed',
    width: '1%',
    isNumber: true,
    cell: ({ completedAt }) => <Time at={completedAt} />,
  },
  {
    key: 'expires',
    name: 'Expires',
    from: 'lg',
    width: '1%',
    isNumber: true,
    cell: ({ expiresAt }) => <Time at={expiresAt} />,
  },
  {
    key: 'download',
    name: 'File',
    from: 'sm',
    width: '1%',
    cell: (report) => <DownloadLink report={report} />,
  },
];

/** Reports: those that are being made, and the completed ones, newest first. A link to a report shows it even if it is not on the first page. */
export function Reports() {
  const trpc = useTRPC();
  const { canWrite } = useStaff();
  const { timeZone } = useTimeZone();
  const { selected, select, readSelected } = useSelection();
  const [isRequesting, setRequesting] = useState(false);
  const [asked, ask] = useState<{ id: string; name: string } | null>(null);
  const query = useInfiniteQuery(
    trpc.reports.list.infiniteQueryOptions({}, { ...PAGES, refetchInterval: refreshEvery(REFRESH_MS) }),
  );
  const list = listRows(query);
  const { listed, options } = useLinkedRow(list.rows, selected);
  const elsewhere = useQuery(trpc.reports.get.queryOptions({ id: selected ?? '' }, options));
  const report = listed ?? (options.enabled ? elsewhere.data : undefined);
  const templates = useQuery(trpc.reports.templates.queryOptions()).data;
  return (
    <>
      <PageHeader title="Reports" about="Files made from sessions, newest first. They can be downloaded for 30 days.">
        <Button kind="primary" disabled={!canWrite} onClick={() => setRequesting(true)}>
          Request a report
        </Button>
      </PageHeader>
      <RoleNote needs="analyst" act="request reports" />
      <ReportJobs onDelete={ask} />
      <ListWithDetails
        list={
          <DataTable
            caption="Reports"
            noun={['report', 'reports']}
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            rowName={(row) => nameReport(row, timeZone)}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={
              <EmptyState title="No reports">
                <p>Request one. It appears here, and is sent to ReportReady webhooks, once its file is available.</p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          report ? (
            <DetailsPanel title={report.name} onClose={() => select(null)}>
              <Facts
                facts={[
                  ['Status', <Status key="status" {...report} />],
                  ...listContent(report),
                  ['Template', templates?.find(({ id }) => id === report.templateId)?.name ?? report.templateId],
                  ['Format', report.format.toUpperCase()],
                  ['Records', <Records key="records" {...report} />],
                  ['Size', <Size key="size" {...report} />],
                  ['Completed', <Time key="completed" at={report.completedAt} absolute />],
                  ['Expires', <Time key="expires" at={report.expiresAt} absolute />],
                  ['File', <DownloadLink key="file" report={report} />],
                  ['Report', <ShortId key="id" id={report.id} name="report id" />],
                ]}
              />
              {report.content && (
                <Button className="mt-4" disabled={!canWrite} onClick={() => ask(report)}>
                  Delete report
                </Button>
              )}
            </DetailsPanel>
          ) : (
            options.enabled &&
            elsewhere.error && <UnreadRow title="Report" query={elsewhere} onClose={() => select(null)} />
          )
        }
      />
      <Schedules />
      <RequestReport isOpen={isRequesting} onClose={() => setRequesting(false)} />
      <DeleteDialog
        report={asked}
        onClose={() => ask(null)}
        onDeleted={(id) => id === readSelected() && select(null)}
      />
    </>
  );
}

/** Who asked for a report of ours, and what for. */
function listContent(report: Report): [string, ReactNode][] {
  const { content } = report;
  if (content === null) {
    const maker = showMaker(report);
    return maker === null ? [] : [['Made by', maker]];
  }
  return [
    ['Asked for by', showRequester(content)],
    ['Asked for', <Time key="requested" at={content.requestedAt} absolute />],
    [
      'Range',
      <span key="range">
        {showLength(content)}: <Time at={content.startAt} absolute /> to <Time at={content.endAt} absolute />
      </span>,
    ],
    ['Filters', showFilters(content)],
  ];
}

/** Asks before a report is deleted or cancelled. */
function DeleteDialog({
  report,
  onClose,
  onDeleted,
}: {
  report: { id: string; name: string } | null;
  onClose(): void;
  onDeleted(id: string): void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const remove = useMutation(
    trpc.reports.delete.mutationOptions({
      onSuccess: ({ id }) => {
        onDeleted(id);
        void queryClient.invalidateQueries({ queryKey: trpc.reports.pathKey() });
      },
    }),
  );
  return (
    <ConfirmDialog
      title={`Delete ${report?.name ?? 'the report'}?`}
      act="Delete report"
      isOpen={report !== null}
      onClose={onClose}
      onConfirm={async () => {
        if (report) await remove.mutateAsync({ id: report.id });
      }}
      consequence={<p>Its file is removed, and links to it stop working. If it is being made, that ends.</p>}
    />
  );
}
