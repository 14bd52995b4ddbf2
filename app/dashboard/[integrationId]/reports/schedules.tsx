'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReportSchedule } from '../../../../contract/reports';
import { Button } from '../../components/button';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { type Column, DataTable } from '../../components/data-table';
import { ConfirmDialog } from '../../components/dialog';
import { RoleNote } from '../../components/role-note';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { CreateSchedule } from './create-schedule';
import { describeScheduled } from './report-words';
import { WEEKDAYS } from './weekdays';

/** Describes when a schedule is due: `Mondays at 06:00, Europe/Paris`. */
function describeTiming({ cadence, weekday, dayOfMonth, hour, timeZone }: ReportSchedule): string {
  const day =
    cadence === 'daily'
      ? 'Each day'
      : cadence === 'weekly'
        ? `${WEEKDAYS[weekday! - 1]}s`
        : `On day ${dayOfMonth} of each month`;
  return `${day} at ${String(hour).padStart(2, '0')}:00, ${timeZone}`;
}

const columnsOf = (isAdmin: boolean, onDelete: (schedule: ReportSchedule) => void): Column<ReportSchedule>[] => [
  {
    key: 'name',
    name: 'Name',
    width: '100%',
    cell: (schedule) => (
      <div className="py-1">
        <span className={joinClasses(TRUNCATED, 'font-medium')} title={schedule.name}>
          {schedule.name}
        </span>
        <span className={joinClasses(TRUNCATED, 'text-muted')} title={describeScheduled(schedule)}>
          {describeScheduled(schedule)}
        </span>
      </div>
    ),
  },
  {
    key: 'format',
    name: 'Format',
    from: 'sm',
    width: '1%',
    cell: ({ format }) => <span className="text-muted uppercase">{format}</span>,
  },
  {
    key: 'timing',
    name: 'Due',
    from: 'sm',
    width: '1%',
    cell: (schedule) => <span className="whitespace-nowrap text-muted">{describeTiming(schedule)}</span>,
  },
  { key: 'next', name: 'Next', width: '1%', isNumber: true, cell: ({ nextDueAt }) => <Time at={nextDueAt} /> },
  {
    key: 'by',
    name: 'By',
    from: 'lg',
    width: '1%',
    cell: ({ createdBy }) => <span className="text-muted">{createdBy ?? '–'}</span>,
  },
  {
    key: 'act',
    name: 'Action',
    width: '1%',
    isNumber: true,
    cell: (schedule) => (
      <Button
        isSmall
        disabled={!isAdmin}
        aria-label={`Delete the schedule of ${schedule.name}`}
        onClick={() => onDelete(schedule)}
      >
        Delete
      </Button>
    ),
  },
];

/** The schedules of the integration: list, create, delete. */
export function Schedules() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { isAdmin } = useStaff();
  const [isCreating, setCreating] = useState(false);
  const [asked, ask] = useState<ReportSchedule | null>(null);
  const query = useQuery(trpc.reports.listSchedules.queryOptions());
  const remove = useMutation(
    trpc.reports.deleteSchedule.mutationOptions({
      onSuccess: () => void queryClient.invalidateQueries({ queryKey: trpc.reports.listSchedules.queryKey() }),
    }),
  );
  return (
    <section aria-labelledby="schedules" className="mt-8 space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="schedules" className="font-semibold text-lg">
          Schedules
        </h2>
        <Button disabled={!isAdmin} onClick={() => setCreating(true)}>
          Schedule a report
        </Button>
      </div>
      <RoleNote needs="admin" act="change schedules" />
      <DataTable
        caption="Schedules"
        noun={['schedule', 'schedules']}
        columns={columnsOf(isAdmin, ask)}
        rows={query.data}
        rowKey={({ id }) => id}
        error={query.error ? describeError(query.error) : null}
        onRetry={() => void query.refetch()}
        empty={
          <EmptyState title="No schedules">
            <p>A schedule makes a report each day, week or month.</p>
          </EmptyState>
        }
      />
      <CreateSchedule isOpen={isCreating} onClose={() => setCreating(false)} />
      <ConfirmDialog
        title={`Delete the schedule of ${asked?.name ?? 'the report'}?`}
        act="Delete schedule"
        isOpen={asked !== null}
        onClose={() => ask(null)}
        onConfirm={async () => {
          if (asked) await remove.mutateAsync({ id: asked.id });
        }}
        consequence={<p>It makes no more reports. Those that it made stay.</p>}
      />
    </section>
  );
}
