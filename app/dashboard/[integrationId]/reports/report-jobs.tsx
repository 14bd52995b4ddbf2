'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ReportJob } from '../../../../contract/reports';
import { Badge, type Tone } from '../../components/badge';
import { Button } from '../../components/button';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { Count } from '../../components/count';
import { type Column, DataTable } from '../../components/data-table';
import { Time } from '../../components/time';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { describeContent } from './report-words';

const UNFINISHED_REFRESH_MS = 2_000;
const TONES: Record<ReportJob['state'], Tone> = {
  Queued: 'neutral',
  Running: 'accent',
  Ready: 'human',
  Failed: 'danger',
};

/** One that is ready is in this list for a moment only, until the list of reports has it. */
const isUnfinished = ({ state }: ReportJob) => state !== 'Failed';

/**
 * Reads the reports that are not ready, again and again, and more often while one of them is being made. When one is done, reads the
 * list of reports again.
 */
function useReportJobs() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const query = useQuery(
    trpc.reports.jobs.queryOptions(undefined, {
      refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? UNFINISHED_REFRESH_MS : REFRESH_MS),
    }),
  );
  const unfinished = query.data?.filter(isUnfinished).length ?? 0;
  useEffect(() => {
    if (unfinished === 0) return;
    return () => void queryClient.invalidateQueries({ queryKey: trpc.reports.list.pathKey() });
  }, [unfinished, queryClient, trpc]);
  return query;
}

const columnsOf = (canWrite: boolean, onDelete: (job: ReportJob) => void): Column<ReportJob>[] => [
  {
    key: 'name',
    name: 'Name',
    width: '100%',
    cell: (job) => (
      <div className="py-1">
        <span className={joinClasses(TRUNCATED, 'font-medium')} title={job.name}>
          {job.name}
        </span>
        <span className={joinClasses(TRUNCATED, 'text-muted')} title={describeContent(job)}>
          {describeContent(job)}
        </span>
        {job.failure && (
          <span className="block whitespace-normal text-danger">
            Failed {job.failedAt && <Time at={job.failedAt} />}: {job.failure}
          </span>
        )}
      </div>
    ),
  },
  { key: 'state', name: 'State', width: '1%', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  {
    key: 'rows',
    name: 'Rows so far',
    from: 'sm',
    isNumber: true,
    cell: ({ recordCount }) => <Count value={recordCount} />,
  },
  {
    key: 'requested',
    name: 'Requested',
    from: 'sm',
    width: '1%',
    isNumber: true,
    cell: ({ requestedAt }) => <Time at={requestedAt} />,
  },
  {
    key: 'act',
    name: 'Action',
    width: '1%',
    isNumber: true,
    cell: (job) => (
      <Button
        isSmall
        disabled={!canWrite}
        aria-label={`${isUnfinished(job) ? 'Cancel' : 'Remove'} ${job.name}`}
        onClick={() => onDelete(job)}
      >
        {isUnfinished(job) ? 'Cancel' : 'Remove'}
      </Button>
    ),
  },
];

/** The reports that wait, are being made, or failed. Nothing is shown if there are none. */
export function ReportJobs({ onDelete }: { onDelete(report: { id: string; name: string }): void }) {
  const { canWrite } = useStaff();
  const query = useReportJobs();
  if (query.data?.length === 0) return null;
  return (
    <div className="mb-4">
      <DataTable
        caption="Reports that are being made"
        noun={['report', 'reports']}
        columns={columnsOf(canWrite, onDelete)}
        rows={query.data}
        rowKey={({ id }) => id}
        error={query.error ? describeError(query.error) : null}
        onRetry={() => void query.refetch()}
        empty={null}
      />
    </div>
  );
}
