'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { RequestReportInput } from '../../../../contract/reports';
import { Button } from '../../components/button';
import { Dialog } from '../../components/dialog';
import { Field, Input, Select } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { findFault } from '../../query-client';
import { readTemplateFields, TemplateFields } from './template-fields';

/** Asks for a report that is made once. */
export function RequestReport({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [chosen, choose] = useState('sessions');
  const templates = useQuery(trpc.reports.templates.queryOptions()).data;
  const template = templates?.find(({ id }) => id === chosen);
  const request = useMutation(
    trpc.reports.request.mutationOptions({
      onSuccess: () => {
        toast({ text: 'The report is being made. It appears in the list when it is ready.' });
        void queryClient.invalidateQueries({ queryKey: trpc.reports.jobs.queryKey() });
        close();
      },
    }),
  );
  const close = () => {
    request.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    // The server checks that the fields are those of the template.
    const input = { template: chosen, format: String(form.get('format')), ...readTemplateFields(form) };
    request.mutate(input as RequestReportInput);
  };
  return (
    <Dialog title="Request a report" isOpen={isOpen} onClose={close}>
      <form onSubmit={submit} className="space-y-4">
        <Field label="Template" hint={template?.about} error={findFault(request.error, 'template')}>
          <Select value={chosen} onChange={({ target }) => choose(target.value)}>
            {templates?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <TemplateFields template={template} error={request.error} />
        <Field label="Format" error={findFault(request.error, 'format')}>
          <Select name="format" defaultValue="csv">
            <option value="csv">CSV, for spreadsheets</option>
            <option value="json">JSON, for programs</option>
            <option value="pdf">PDF, for people: at most 1,000 rows</option>
          </Select>
        </Field>
        <Field label="Name" hint="If empty: the name of the template." error={findFault(request.error, 'name')}>
          <Input name="name" autoComplete="off" maxLength={200} />
        </Field>
        <FormFault error={request.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={request.isPending}>
            Request report
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
