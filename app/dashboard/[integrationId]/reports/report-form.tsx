'use client';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../components/button';
import { Field, Input, Select } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { useTRPC } from '../../queries';
import { findFault } from '../../query-client';
import { readTemplateFields, TemplateFields } from './template-fields';

interface FormProps {
  /** The label of the button. */
  act: string;
  change: { error: unknown; isPending: boolean };
  /** `content`: what the report is. */
  onSubmit(event: FormEvent<HTMLFormElement>, content: object): void;
  onCancel(): void;
  children?: ReactNode;
}

/** What a report is: its template with its parameters, its format and its name. */
export function ReportForm({ act, change: { error, isPending }, onSubmit, onCancel, children }: FormProps) {
  const trpc = useTRPC();
  const [chosen, choose] = useState('sessions');
  const templates = useQuery(trpc.reports.templates.queryOptions()).data;
  const template = templates?.find(({ id }) => id === chosen);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit(event, { template: chosen, format: String(form.get('format')), ...readTemplateFields(form) });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label="Template" hint={template?.about} error={findFault(error, 'template')}>
        <Select value={chosen} onChange={({ target }) => choose(target.value)}>
          {templates?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      <TemplateFields template={template} error={error} />
      <Field label="Format" error={findFault(error, 'format')}>
        <Select name="format" defaultValue="csv">
          <option value="csv">CSV, for spreadsheets</option>
          <option value="json">JSON, for programs</option>
          <option value="pdf">PDF, for people: at most 1,000 rows</option>
        </Select>
      </Field>
      <Field label="Name" hint="If empty: the name of the template." error={findFault(error, 'name')}>
        <Input name="name" autoComplete="off" maxLength={200} />
      </Field>
      {children}
      <FormFault error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={isPending}>
          {act}
        </Button>
      </div>
    </form>
  );
}
