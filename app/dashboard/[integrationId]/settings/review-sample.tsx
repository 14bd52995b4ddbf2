'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { useState } from 'react';
import { Button } from '../../components/button';
import { Field, Input } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { HoverLink } from '../../components/hover-link';
import { Section } from '../../components/page-header';
import { RoleNote } from '../../components/role-note';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { findFault } from '../../query-client';
import { useStaff } from '../../staff';
import { countWords } from './rate-words';

/** How many sessions of a day are drawn for review, and the way to them. */
export function ReviewSampleForm({ sampleSize, waiting }: { sampleSize: number; waiting: number }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { isAdmin } = useStaff();
  const [typed, setTyped] = useState<string | null>(null);
  const queryKey = trpc.errorRates.get.queryKey();
  const change = useMutation(
    trpc.errorRates.setSampleSize.mutationOptions({
      onSuccess: ({ sampleSize: stored }, { sampleSize: sent }) => {
        toast({
          text: stored === 0 ? 'No more sessions are drawn' : `${countWords(stored, 'session')} a day are drawn`,
        });
        queryClient.setQueryData(queryKey, (rates) => rates && { ...rates, sampleSize: stored });
        // What was typed while it was on its way is not saved.
        setTyped((now) => (now === String(sent) ? null : now));
        return queryClient.invalidateQueries({ queryKey });
      },
    }),
  );
  const value = typed ?? String(sampleSize);
  return (
    <Section title="Random sample">
      <form
        data-draft={typed !== null}
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ sampleSize: value.trim() === '' ? Number.NaN : Number(value) });
        }}
      >
        <p className="text-muted">
          So many sessions of each day (UTC) are drawn at random, whatever their score, and reviewed with the score
          hidden. Those of a day are drawn the next morning. Their verdicts give error rates of all sessions.
        </p>
        <div className="flex flex-wrap items-start gap-4">
          <Field label="Sessions a day" hint="0 draws none." error={findFault(change.error, 'sampleSize')}>
            <Input
              type="number"
              min={0}
              max={200}
              className="w-28"
              disabled={!isAdmin}
              value={value}
              onChange={({ target }) => setTyped(target.value)}
            />
          </Field>
          <div className="flex flex-wrap items-center gap-4 sm:pt-5">
            <Button
              type="submit"
              disabled={!isAdmin || change.isPending || typed === null || Number(typed) === sampleSize}
            >
              Save sample
            </Button>
            <HoverLink
              className="flex h-8 items-center text-accent underline-offset-2 hover:underline"
              href={`/dashboard/${integrationId}/review?queue=sample`}
            >
              Review the sample ({waiting} waiting)
            </HoverLink>
          </div>
        </div>
        <FormFault error={change.error} />
        <RoleNote needs="admin" act="change the sample" />
      </form>
    </Section>
  );
}
