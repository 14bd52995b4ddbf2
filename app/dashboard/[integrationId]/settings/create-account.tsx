'use client';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import type { StaffRole } from '../../../../contract/staff';
import { Button } from '../../components/button';
import { Dialog } from '../../components/dialog';
import { Field, Input, Select } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { findFault } from '../../query-client';
import { useAccountRefresh } from './account-refresh';
import { ROLE_WORDS } from './roles';

/** Creates an account with its first password. */
export function CreateAccount({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const refresh = useAccountRefresh();
  const toast = useToast();
  const create = useMutation(
    trpc.staff.create.mutationOptions({
      onSuccess: (_, { email }) => {
        toast({ text: `Created: ${email} may sign in now` });
        refresh();
        close();
      },
    }),
  );
  const close = () => {
    create.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name));
    create.mutate({
      email: text('email').trim(),
      password: text('password'),
      role: text('role') as StaffRole,
      name: text('name').trim() || undefined,
    });
  };
  return (
    <Dialog title="Create an account" isOpen={isOpen} onClose={close}>
      <form onSubmit={submit} className="space-y-4">
        <Field label="Email" error={findFault(create.error, 'email')}>
          <Input name="email" type="email" required autoComplete="off" />
        </Field>
        <Field
          label="Name"
          hint="If empty: the part of the address before the @."
          error={findFault(create.error, 'name')}
        >
          <Input name="name" autoComplete="off" />
        </Field>
        <Field label="Role" error={findFault(create.error, 'role')}>
          <Select name="role" defaultValue="viewer">
            {Object.entries(ROLE_WORDS).map(([role, name]) => (
              <option key={role} value={role}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          label="Password"
          hint="12 characters or more. Pass it on over a secure channel."
          error={findFault(create.error, 'password')}
        >
          <Input name="password" type="password" required autoComplete="new-password" />
        </Field>
        <FormFault error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            Create account
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
