'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { ChartFrame } from '../../../charts/chart-frame';
import { HoverLink } from '../../../components/hover-link';
import { NotFoundState } from '../../../components/not-found-state';
import { Breadcrumb, PageHeader, Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { ErrorState } from '../../../components/states';
import { Tabs } from '../../../components/tabs';
import { showDuration, Time } from '../../../components/time';
import { useUrlState } from '../../../components/url-state';
import { useTRPC } from '../../../queries';
import { describeError, findCode } from '../../../query-client';
import { AttemptStrip, summarizeAttempts } from '../attempt-strip';
import { VerifySignature } from '../verify-signature';
import { DisabledBanner } from '../webhook-banners';
import { WebhookFacts } from '../webhook-panel';
import { useWebhookState, WebhookStateBadge, WebhookStateLine } from '../webhook-state';
import { readWebhookTab, TAB_NAMES } from './delivery-filters';
import { DeliveryLog } from './delivery-log';
import { SkippedEvents } from './skipped-events';
import { SkippedOffer } from './skipped-offer';
import { WebhookActions } from './webhook-actions';

const REFRESH_MS = 5_000;

/** One subscription: its state, what was sent, what was skipped, and the actions on it. */
export function WebhookPage({ id }: { id: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/webhooks`;
  const href = `${base}/${encodeURIComponent(id)}`;
  const trpc = useTRPC();
  const { params } = useUrlState();
  const query = useQuery(trpc.webhooks.get.queryOptions({ id }, { refetchInterval: REFRESH_MS }));
  const health = useQuery(trpc.webhooks.getHealth.queryOptions({ id }, { refetchInterval: REFRESH_MS }));
  const state = useWebhookState(id);
  const webhook = query.data;
  // Somebody has deleted it since.
  if (findCode(query.error) === 'NOT_FOUND') return <NotFoundState />;
  if (!webhook) return <Pending query={query} className="h-96" />;
  const tab = readWebhookTab(params);
  return (
    <>
      <Breadcrumb above={[{ name: 'Webhooks', href: base }]}>
        <span className="[overflow-wrap:anywhere]">{webhook.name}</span>
      </Breadcrumb>
      <PageHeader
        title={
          <span className="inline-flex flex-wrap items-center gap-2">
            <span className="min-w-0 [overflow-wrap:anywhere]">{webhook.name}</span>
            <WebhookStateBadge id={id} />
          </span>
        }
        about={
          <>
            {webhook.eventType} to <span className="break-all">{webhook.url}</span>
          </>
        }
      >
        <WebhookActions webhook={webhook} base={base} />
      </PageHeader>
      <div className="mb-4 grid gap-4">
        {state?.state === 'DisabledByFailures' ? <DisabledBanner state={state} /> : <WebhookStateLine id={id} />}
        <SkippedOffer webhook={webhook} />
        {health.error && !health.data ? (
          <ErrorState message={describeError(health.error)} onRetry={() => void health.refetch()} />
        ) : (
          <ChartFrame
            title="Last 100 attempts"
            summary={health.data ? summarizeAttempts(health.data.attempts) : ''}
            table={{
              columns: ['Delivery', 'Outcome', 'Response', 'Class', 'Took', 'At'],
              rows: (health.data?.attempts ?? []).map((attempt) => [
                <HoverLink
                  key="delivery"
                  className="text-accent hover:underline"
                  href={`${href}?delivery=${encodeURIComponent(attempt.deliveryId)}`}
                >
                  {attempt.deliveryId.slice(-8)}
                </HoverLink>,
                attempt.test ? `${attempt.outcome} (test)` : attempt.outcome,
                attempt.responseStatus ?? 'none',
                attempt.failureClass ?? '–',
                showDuration(attempt.durationMs),
                <Time key="at" at={attempt.at} />,
              ]),
            }}
          >
            <div className="h-14">
              {health.data && <AttemptStrip attempts={health.data.attempts} height={56} hasLabels />}
            </div>
          </ChartFrame>
        )}
      </div>
      <Tabs
        label="Parts of the webhook"
        current={tab}
        tabs={Object.entries(TAB_NAMES).map(([key, name]) => ({ key, name, href: `${href}?tab=${key}` }))}
      />
      <div className="mt-3">
        {tab === 'deliveries' && <DeliveryLog webhook={webhook} />}
        {tab === 'skipped' && <SkippedEvents id={id} />}
        {tab === 'setup' && (
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <Section title="What it sends">
              <WebhookFacts webhook={webhook} />
            </Section>
            <Section title="The receiver">
              <VerifySignature />
            </Section>
          </div>
        )}
      </div>
    </>
  );
}
