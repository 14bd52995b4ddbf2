'use client';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button } from '../components/button';
import { Dialog } from '../components/dialog';
import { Field, Input } from '../components/field';
import { FormFault } from '../components/form-fault';
import { useToast } from '../components/toast';
import { postForm } from '../post-form';
import { findFault } from '../query-client';
import { useStaff } from '../staff';

/** Changes the own password. */
export function ChangePassword({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const { staff } = useStaff();
  const toast = useToast();
  const change = useMutation({
    mutationFn: (input: { currentPassword: string; newPassword: string }) =>
      postForm('/api/auth/password', input, staff.id),
    onSuccess: () => {
      toast({ text: 'Password changed. Your other sessions have ended.' });
      close();
    },
  });
  const close = () => {
    change.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => String(form.get(name));
    change.mutate({ currentPassword: read('currentPassword'), newPassword: read('newPassword') });
  };
  return (
    <Dialog title="Change your password" isOpen={isOpen} onClose={close}>
      <form method="post" onSubmit={submit} className="space-y-4">
        {/* Password managers ask whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={staff.email} />
        <Field label="Current password" error={findFault(change.error, 'currentPassword')}>
          <Input name="currentPassword" type="password" autoComplete="current-password" required />
        </Field>
        <Field label="New password" hint="12 characters or more." error={findFault(change.error, 'newPassword')}>
          <Input name="newPassword" type="password" autoComplete="new-password" required />
        </Field>
        <p className="text-muted">You stay signed in here. Everywhere else your account is signed out.</p>
        <FormFault error={change.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
