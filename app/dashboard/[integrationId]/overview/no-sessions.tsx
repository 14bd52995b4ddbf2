'use client';
import { useParams } from 'next/navigation';
import { ButtonLink } from '../../components/button';
import { CircleCheck, CircleDashed } from '../../components/icons';
import { Pending } from '../../components/pending';
import { EmptyState } from '../../components/states';
import { countSteps, listSteps, useSetup } from '../setup/use-setup';

/** Shown instead of empty charts: what an integration without sessions still needs. */
export function NoSessionsYet() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const setup = useSetup({ isLive: true });
  return (
    <div className="rounded border border-line bg-surface">
      <EmptyState title="No sessions yet">
        <p>Sessions appear here as soon as a page with the pixel, or your own pipeline, reports the first one.</p>
        {setup.data ? (
          <>
            <p className="font-medium text-ink">{countSteps(setup.data)}</p>
            <ul className="space-y-1">
              {listSteps(setup.data).flatMap(({ step, name, isDone }) =>
                isDone === null ? (
                  []
                ) : (
                  <li key={step} className="flex items-center gap-2">
                    {isDone ? (
                      <CircleCheck size={16} className="text-human" aria-label="Done:" />
                    ) : (
                      <CircleDashed size={16} className="text-faint" aria-label="Not done:" />
                    )}
                    {name}
                  </li>
                ),
              )}
            </ul>
          </>
        ) : (
          <Pending query={setup} className="h-32" />
        )}
        <p>
          <ButtonLink kind="primary" href={`/dashboard/${integrationId}/setup`}>
            Set up this integration
          </ButtonLink>
        </p>
      </EmptyState>
    </div>
  );
}
