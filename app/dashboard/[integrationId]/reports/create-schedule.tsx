'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Cadence, CreateScheduleInput } from '../../../../contract/reports';
import { Dialog } from '../../components/dialog';
import { Field, Input, Select } from '../../components/field';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { findFault } from '../../query-client';
import { ReportForm } from './report-form';
import { WEEKDAYS } from './weekdays';

const CADENCE_WORDS: Record<Cadence, string> = { daily: 'Each day', weekly: 'Each week', monthly: 'Each month' };
const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);
// Every month has these.
const DAYS_OF_MONTH = Array.from({ length: 28 }, (_, index) => String(index + 1));

/** A list to choose a number from: `options` are the words, from `first` on. */
function NumberSelect({
  options,
  first,
  ...rest
}: {
  name: string;
  options: string[];
  first: number;
  defaultValue: number;
}) {
  return (
    <Select {...rest}>
      {options.map((words, index) => (
        <option key={words} value={index + first}>
          {words}
        </option>
      ))}
    </Select>
  );
}

/** Creates a schedule. */
export function CreateSchedule({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [cadence, setCadence] = useState<Cadence>('weekly');
  const create = useMutation(
    trpc.reports.createSchedule.mutationOptions({
      onSuccess: () => {
        toast({ text: 'The schedule is set.' });
        void queryClient.invalidateQueries({ queryKey: trpc.reports.listSchedules.queryKey() });
        close();
      },
    }),
  );
  const close = () => {
    create.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>, content: object) => {
    const form = new FormData(event.currentTarget);
    const number = (name: string) => (form.has(name) ? Number(form.get(name)) : undefined);
    const timing = { weekday: number('weekday'), dayOfMonth: number('dayOfMonth'), hour: number('hour') };
    const timeZone = String(form.get('timeZone')).trim();
    // The server checks that the fields are those of the template.
    create.mutate({ ...content, cadence, ...timing, timeZone } as CreateScheduleInput);
  };
  const { error } = create;
  return (
    <Dialog title="Schedule a report" isOpen={isOpen} onClose={close}>
      <ReportForm act="Create schedule" change={create} onSubmit={submit} onCancel={close}>
        <Field label="How often" error={findFault(error, 'cadence')}>
          <Select value={cadence} onChange={({ target }) => setCadence(target.value as Cadence)}>
            {Object.entries(CADENCE_WORDS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </Select>
        </Field>
        {cadence === 'weekly' && (
          <Field label="Day" error={findFault(error, 'weekday')}>
            <NumberSelect name="weekday" options={WEEKDAYS} first={1} defaultValue={1} />
          </Field>
        )}
        {cadence === 'monthly' && (
          <Field label="Day of the month" error={findFault(error, 'dayOfMonth')}>
            <NumberSelect name="dayOfMonth" options={DAYS_OF_MONTH} first={1} defaultValue={1} />
          </Field>
        )}
        <Field label="Hour" error={findFault(error, 'hour')}>
          <NumberSelect name="hour" options={HOURS} first={0} defaultValue={6} />
        </Field>
        <Field label="Time zone" hint="For example Europe/Paris." error={findFault(error, 'timeZone')}>
          <Input
            name="timeZone"
            required
            autoComplete="off"
            spellCheck={false}
            defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
          />
        </Field>
      </ReportForm>
    </Dialog>
  );
}
