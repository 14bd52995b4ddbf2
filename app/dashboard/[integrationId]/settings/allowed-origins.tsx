'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button';
import { Field, Textarea } from '../../components/field';
import { Section } from '../../components/page-header';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, findFault } from '../../query-client';
import { useStaff } from '../../staff';

/** The origins whose pages may send. */
export function AllowedOrigins({ allowedOrigins }: { allowedOrigins: string[] }) {
  return (
    <Section title="Allowed origins">
      <OriginsForm allowedOrigins={allowedOrigins} />
    </Section>
  );
}

/** Edits the origins whose pages may send. */
export function OriginsForm({ allowedOrigins }: { allowedOrigins: string[] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { isAdmin } = useStaff();
  /** What is edited, and the origins that were there when it began. */
  const [draft, setDraft] = useState<{ text: string; replaced: string[] } | null>(null);
  const save = useMutation(
    trpc.sites.setOrigins.mutationOptions({
      onSuccess: async () => {
        toast({ text: 'Origins saved' });
        await queryClient.invalidateQueries();
        setDraft(null);
      },
      // They may be others by now.
      onError: () => void queryClient.invalidateQueries(),
    }),
  );
  const discard = () => {
    setDraft(null);
    save.reset();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (draft) save.mutate({ allowedOrigins: draft.text.split(/\s+/).filter(Boolean), replaced: draft.replaced });
  };
  return (
    <form data-draft={draft !== null} onSubmit={submit} className="space-y-3">
      <Field
        label="Origins"
        hint="Scheme, host and port, one per line, without patterns. Nothing is kept from pages elsewhere; without any origin nothing is collected."
        error={save.error && (findFault(save.error, 'allowedOrigins') ?? describeError(save.error))}
      >
        <Textarea
          name="allowedOrigins"
          placeholder="https://lms.example.edu"
          spellCheck={false}
          className="w-full font-mono text-xs"
          disabled={!isAdmin}
          // What is saved replaces the draft.
          readOnly={save.isPending}
          value={draft?.text ?? allowedOrigins.join('\n')}
          onChange={({ target }) =>
            setDraft((before) => ({ text: target.value, replaced: before?.replaced ?? allowedOrigins }))
          }
        />
      </Field>
      <div className="flex justify-end gap-2">
        <Button disabled={draft === null} onClick={discard}>
          Discard
        </Button>
        <Button kind="primary" type="submit" disabled={!isAdmin || draft === null || save.isPending}>
          Save origins
        </Button>
      </div>
    </form>
  );
}
