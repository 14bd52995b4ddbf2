'use client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { WebhookState, WebhookStateName } from '../../../../contract/webhook-states';
import { Badge, type Tone } from '../../components/badge';
import { CircleAlert, CircleCheck, CircleDashed, CirclePause, CircleX } from '../../components/icons';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { explainAttempt } from './attempt-faults';

const LOOKS: Record<WebhookStateName, { name: string; tone: Tone; color: string; Icon: typeof CircleX }> = {
  Healthy: { name: 'Healthy', tone: 'human', color: 'text-human', Icon: CircleCheck },
  Failing: { name: 'Failing', tone: 'medium', color: 'text-medium', Icon: CircleAlert },
  DisabledByFailures: { name: 'Disabled by failures', tone: 'danger', color: 'text-danger', Icon: CircleX },
  DisabledByHand: { name: 'Disabled by hand', tone: 'neutral', color: 'text-muted', Icon: CirclePause },
  DisabledByPlan: { name: 'Disabled by the plan', tone: 'danger', color: 'text-danger', Icon: CircleX },
  NoDeliveries: { name: 'No deliveries yet', tone: 'neutral', color: 'text-muted', Icon: CircleDashed },
};

const REFRESH_MS = 5_000;

/** The states of all webhooks; refreshed while the page is visible. Everything that shows a state reads it here. */
export function useWebhookStates() {
  return useQuery(useTRPC().webhookStates.list.queryOptions(undefined, { refetchInterval: REFRESH_MS })).data;
}

/** The state of one webhook; undefined until it is known. */
export const useWebhookState = (id: string) => useWebhookStates()?.find((one) => one.id === id);

/** The state of a webhook in a word, with a shape and a colour. */
export function WebhookStateBadge({ id }: { id: string }) {
  const state = useWebhookState(id);
  if (!state) return null;
  const { name, tone, Icon } = LOOKS[state.state];
  return (
    <Badge tone={tone}>
      <Icon size={12} aria-hidden />
      {name}
    </Badge>
  );
}

/** The state of a webhook as a sentence, with what follows from it. */
export function WebhookStateLine({ id }: { id: string }) {
  const state = useWebhookState(id);
  const { color, Icon } = LOOKS[state?.state ?? 'NoDeliveries'];
  return (
    <div role="status" className="min-h-5">
      {state && (
        <p className={`flex items-start gap-2 font-medium ${color}`}>
          <Icon size={16} className="mt-0.5 shrink-0" aria-hidden />
          <span>{describeState(state)}</span>
        </p>
      )}
    </div>
  );
}

function describeState(state: WebhookState): ReactNode {
  switch (state.state) {
    case 'Healthy':
      return 'Healthy: no failures in a row.';
    case 'Failing':
      return <FailingWords state={state} />;
    case 'DisabledByFailures':
      return (
        <>
          Disabled by failures since <Time at={state.since} absolute />.
        </>
      );
    case 'DisabledByHand':
      return 'Disabled by hand. New events are skipped; you can send them after you have enabled it again.';
    case 'DisabledByPlan':
      return 'Disabled because the plan allows fewer active webhooks.';
    case 'NoDeliveries':
      return 'No deliveries yet since it was enabled.';
  }
}

/** Says since when and why a webhook fails, and what to do. */
export function FailingWords({ state }: { state: WebhookState }) {
  const { since, isSinceExact, consecutiveFailures: failures, disabledAfter, fault } = state;
  const left = disabledAfter - failures;
  const explained = fault && explainAttempt(fault);
  return (
    <>
      Failing
      {since && (
        <>
          {' '}
          since {!isSinceExact && 'before '}
          <Time at={since} absolute />
        </>
      )}
      .{' '}
      {failures === 0
        ? 'The latest delivery is being retried; no failure counts yet.'
        : `${failures} ${failures === 1 ? 'failure' : 'failures'} in a row; ${left <= 1 ? 'the next disables it' : `${left} more disable it`}.`}{' '}
      {explained && (
        <span className="font-normal text-ink">
          {explained.what} {explained.act}
        </span>
      )}
    </>
  );
}
