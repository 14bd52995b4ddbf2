'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { Report } from '../../../../contract/findings';
import { Badge } from '../../components/badge';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { ShortId } from '../../components/copying';
import { Bytes, Count } from '../../components/count';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, Facts, ListWithDetails } from '../../components/details-panel';
import { PageHeader } from '../../components/page-header';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';

const STATUSES: Record<Report['status'], 'human' | 'neutral'> = { Ready: 'human', Expired: 'neutral' };
const NONE = <span className="text-faint">–</span>;

const Status = ({ status }: Report) => <Badge tone={STATUSES[status]}>{status}</Badge>;
const Records = ({ recordCount }: Report) => (recordCount === null ? NONE : <Count value={recordCount} />);
const Size = ({ fileSize }: Report) => (fileSize === null ? NONE : <Bytes value={fileSize} />);

/** Links to the file while it is available. */
function DownloadLink({ report: { name, status, downloadUrl } }: { report: Report }) {
  if (status === 'Expired') return NONE;
  return (
    <a
      href={downloadUrl}
      download
      aria-label={`Download ${name}`}
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
    cell: ({ name }) => (
      <span className={joinClasses(TRUNCATED, 'font-medium')} title={name}>
        {name}
      </span>
    ),
  },
  { key: 'status', name: 'Status', width: '1%', cell: Status },
  {
    key: 'template',
    name: 'Template',
    from: 'lg',
    cell: ({ templateId }) => <span className="block max-w-40 truncate text-muted">{templateId}</span>,
  },
  {
    key: 'format',
    name: 'Format',
    from: 'sm',
    width: '1%',
    cell: ({ format }) => <span className="text-muted uppercase">{format}</span>,
  },
  { key: 'records', name: 'Records', from: 'md', isNumber: true, cell: Records },
  { key: 'size', name: 'Size', from: 'sm', isNumber: true, cell: Size },
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
    from: 'md',
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

/** The completed reports, newest first. */
export function Reports() {
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const query = useInfiniteQuery(trpc.reports.list.infiniteQueryOptions({}, PAGES));
  const list = listRows(query);
  const report = list.rows?.find(({ id }) => id === selected);
  return (
    <>
      <PageHeader title="Reports" about="Files made from sessions, newest first." />
      <ListWithDetails
        list={
          <DataTable
            caption="Reports"
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            empty={
              <EmptyState title="No reports">
                <p>A report appears here, and is sent to ReportReady webhooks, once its file is available.</p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          report && (
            <DetailsPanel title={report.name} onClose={() => select(null)}>
              <Facts
                facts={[
                  ['Report', <ShortId key="id" id={report.id} name="report id" />],
                  ['Status', <Status key="status" {...report} />],
                  ['Template', report.templateId],
                  ['Format', report.format.toUpperCase()],
                  ['Records', <Records key="records" {...report} />],
                  ['Size', <Size key="size" {...report} />],
                  ['Completed', <Time key="completed" at={report.completedAt} absolute />],
                  ['Expires', <Time key="expires" at={report.expiresAt} absolute />],
                  ['File', <DownloadLink key="file" report={report} />],
                ]}
              />
            </DetailsPanel>
          )
        }
      />
    </>
  );
}
