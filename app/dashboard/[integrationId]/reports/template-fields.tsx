'use client';
import type { ReportTemplateEntry } from '../../../../contract/reports';
import { Field, Input, Select } from '../../components/field';
import { findFault } from '../../query-client';

type ParameterName = ReportTemplateEntry['parameters'][number]['name'];

const WINDOWS: [days: number, words: string][] = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
  [31, '31 days: no month is longer'],
  [90, '90 days'],
  [365, '1 year'],
];
const DEFAULT_DAYS = 7;

interface FieldProps {
  isRequired: boolean;
  error: string | null;
}

function IdField({ name, label, hint, isRequired, error }: FieldProps & { name: string; label: string; hint: string }) {
  return (
    <Field label={label} hint={isRequired ? hint : `${hint} Empty: all.`} error={error}>
      <Input name={name} required={isRequired} autoComplete="off" spellCheck={false} />
    </Field>
  );
}

/** A control for each parameter. */
const CONTROLS: Record<ParameterName, (props: FieldProps) => React.ReactNode> = {
  courseId: (props) => <IdField {...props} name="courseId" label="Course" hint="The id on the page of the course." />,
  userId: (props) => <IdField {...props} name="userId" label="User" hint="The id on the page of the user." />,
  riskLevel: ({ error }) => (
    <Field label="Risk" error={error}>
      <Select name="riskLevel" defaultValue="">
        <option value="">All</option>
        <option value="bot">Bot</option>
        <option value="medium">Medium</option>
        <option value="human">Human</option>
      </Select>
    </Field>
  ),
  days: ({ error }) => (
    <Field label="Window" hint="Up to now; of a schedule, up to the time at which it is due." error={error}>
      <Select name="days" defaultValue={DEFAULT_DAYS}>
        {WINDOWS.map(([days, words]) => (
          <option key={days} value={days}>
            {words}
          </option>
        ))}
      </Select>
    </Field>
  ),
};

/** The controls of a template's parameters. */
export function TemplateFields({ template, error }: { template: ReportTemplateEntry | undefined; error: unknown }) {
  return template?.parameters.map(({ name, isRequired }) => {
    const Control = CONTROLS[name];
    return <Control key={name} isRequired={isRequired} error={findFault(error, name)} />;
  });
}

/** Reads the parameters of a form. An empty one is left out. */
export function readTemplateFields(form: FormData) {
  const read = (name: ParameterName | 'name') => String(form.get(name) ?? '').trim() || undefined;
  const days = read('days');
  return {
    ...{ courseId: read('courseId'), userId: read('userId'), riskLevel: read('riskLevel'), name: read('name') },
    ...(days === undefined ? {} : { days: Number(days) }),
  };
}
