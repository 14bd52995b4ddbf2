'use client';
import type { FormEvent, ReactNode } from 'react';
import { Button } from '../../components/button';
import { Field, Input } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { findFault } from '../../query-client';

export interface NameFormProps {
  /** What the name is for. */
  hint: string;
  placeholder: string;
  /** The name of the button that sends it. */
  act: string;
  /** The change that creates the named thing. */
  change: { error: unknown; isPending: boolean };
  /** What else it asks for. Shows the faults of its fields itself. */
  children?: ReactNode;
  onSubmit(name: string, form: FormData): void;
  onCancel(): void;
}

/** Asks for the name of a thing to create. */
export function NameForm({ hint, placeholder, act, change, children, onSubmit, onCancel }: NameFormProps) {
  const { error, isPending } = change;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit(String(form.get('name')), form);
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label="Name" hint={hint} error={findFault(error, 'name')}>
        <Input name="name" required placeholder={placeholder} autoComplete="off" />
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
