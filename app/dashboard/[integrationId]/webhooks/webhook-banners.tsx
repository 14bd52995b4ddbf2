'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import type { SkippedCount } from '../../../../contract/deliveries';
import type { WebhookState } from '../../../../contract/webhook-states';
import { HoverLink } from '../../components/hover-link';
import { CircleAlert, CircleX } from '../../components/icons';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { explainAttempt } from './attempt-faults';
import { FailingWords, useWebhookStates } from './webhook-state';

const REFRESH_MS = 30_000;
/** How many banners a page shows. The others are counted. */
const MAX_BANNERS = 3;

/** One banner for each webhook that failures have disabled, then for each that is failing. */
export function WebhookBanners() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const states = useWebhookStates() ?? [];
  const troubled = (['DisabledByFailures', 'Failing'] as const).flatMap((name) =>
    states.filter(({ state }) => state === name),
  );
  if (troubled.length === 0) return null;
  const hidden = troubled.length - MAX_BANNERS;
  return (
    <div className="mb-4 space-y-2">
      {troubled.slice(0, MAX_BANNERS).map((state) => {
        const Banner = state.state === 'Failing' ? FailingBanner : DisabledBanner;
        return <Banner key={state.id} state={state} href={`${base}/${encodeURIComponent(state.id)}`} />;
      })}
      {hidden > 0 && (
        <p>
          <HoverLink href={base} className="text-accent hover:underline">
            {hidden} more {hidden === 1 ? 'webhook is' : 'webhooks are'} failing or disabled by failures
          </HoverLink>
        </p>
      )}
    </div>
  );
}

/** Says since when and why a webhook fails, and what to do. */
function FailingBanner({ state, href }: { state: WebhookState; href: string }) {
  return (
    <section
      aria-label={`${state.name} is failing`}
      className="flex items-start gap-3 rounded border border-medium/40 bg-medium-soft px-3 py-2"
    >
      <CircleAlert size={16} className="mt-0.5 shrink-0 text-medium" aria-hidden />
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <HoverLink href={href} className="font-medium text-ink underline">
          {state.name}
        </HoverLink>
        {': '}
        <FailingWords state={state} />
      </p>
    </section>
  );
}

/** Says since when and why failures have disabled a webhook, and what to do. Without `href` it is on the webhook's own page. */
export function DisabledBanner({ state, href }: { state: WebhookState; href?: string }) {
  const { id, name, since, fault, disabledAfter } = state;
  const skipped = useQuery(
    useTRPC().deliveries.countSkipped.queryOptions({ id }, { refetchInterval: REFRESH_MS }),
  ).data;
  const explained = fault && explainAttempt(fault);
  return (
    <section
      aria-label={`${name} is disabled`}
      className="flex items-start gap-3 rounded border border-danger/40 bg-danger-soft px-3 py-2"
    >
      <CircleX size={16} className="mt-0.5 shrink-0 text-danger" aria-hidden />
      <div className="min-w-0 flex-1 space-y-1">
        <p className="font-medium [overflow-wrap:anywhere]">
          {href ? (
            <HoverLink href={href} className="text-ink underline">
              {name}
            </HoverLink>
          ) : (
            'This webhook'
          )}{' '}
          was disabled by failures: nothing has been sent since <Time at={since} absolute />.
        </p>
        <p>
          {disabledAfter} deliveries in a row failed. {explained?.what}
        </p>
        <p>
          <span className="font-medium">Fix the receiver.</span> {explained?.act} Then send a test, and enable the
          webhook again.
        </p>
        {skipped && skipped.count > 0 && (
          <p>
            {countEvents(skipped)} {skipped.count === 1 ? 'was' : 'were'} skipped since. You can send{' '}
            {skipped.count === 1 ? 'it' : 'them'} when the webhook is enabled.
          </p>
        )}
      </div>
    </section>
  );
}

/** Counts skipped events in words: `5 events`, `at least 5 events`. */
export const countEvents = ({ count, isMore }: SkippedCount): string =>
  `${isMore ? 'At least ' : ''}${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'}`;
