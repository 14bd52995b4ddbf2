'use client';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import type { FormEvent } from 'react';
import type { Integration } from '../../../contract/integrations';
import { Button } from '../components/button';
import { Dialog } from '../components/dialog';
import { Field, Input, Select, Textarea } from '../components/field';
import { FormFault } from '../components/form-fault';
import { mayLeave } from '../components/leave-question';
import { useTRPC } from '../queries';
import { findFault } from '../query-client';

export const PLAN_WORDS: Record<Integration['plan'], string> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

/** Creates an integration and opens its set-up. */
export function CreateIntegration({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const create = useMutation(
    trpc.integrations.create.mutationOptions({
      onSuccess: ({ id }) => {
        close();
        router.push(`/dashboard/${encodeURIComponent(id)}/setup`);
      },
    }),
  );
  const close = () => {
    create.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Its set-up is another page, and this one may have a form.
    if (!mayLeave()) return;
    const form = new FormData(event.currentTarget);
    create.mutate({
      name: String(form.get('name')),
      plan: String(form.get('plan')) as Integration['plan'],
      allowedOrigins: String(form.get('allowedOrigins')).split(/\s+/).filter(Boolean),
    });
  };
  return (
    <Dialog title="Create an integration" isOpen={isOpen} onClose={close}>
      <form onSubmit={submit} className="space-y-4">
        <Field label="Name" error={findFault(create.error, 'name')}>
          <Input name="name" required placeholder="Example University" autoComplete="off" />
        </Field>
        <Field label="Plan" error={findFault(create.error, 'plan')}>
          <Select name="plan" defaultValue="pro">
            {Object.entries(PLAN_WORDS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          label="Origins"
          hint="Where its pixel is, one per line. May be empty."
          error={findFault(create.error, 'allowedOrigins')}
        >
          <Textarea name="allowedOrigins" placeholder="https://lms.example.edu" spellCheck={false} />
        </Field>
        <FormFault error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            Create integration
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
