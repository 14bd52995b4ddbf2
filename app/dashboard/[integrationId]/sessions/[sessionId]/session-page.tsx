'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { useRef, useState } from 'react';
import { Badge } from '../../../components/badge';
import { ButtonLink } from '../../../components/button';
import { ShortId } from '../../../components/copying';
import { Printer } from '../../../components/icons';
import { Breadcrumb, PageHeader, Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { useShortcuts } from '../../../components/shortcuts';
import { ErrorState, Skeleton } from '../../../components/states';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { AnomalyList } from '../../anomalies/anomaly-list';
import { useLabeling } from '../labeling';
import { SessionFacts } from '../session-facts';
import { Timeline } from '../timeline';
import { VerdictBar } from '../verdict-bar';
import { ClassHistory } from './class-history';
import { ConfirmDevice } from './confirm-device';
import { Events } from './events';
import { type Explanations, Findings, listFoundMoments } from './findings';
import { useLiveSession } from './live-session';
import { Neighbours } from './neighbours';
import { RecordingPanel } from './recording-panel';
import { RelatedSessions } from './related-sessions';
import type { Scoring } from './score-sum';
import { SessionDeliveries } from './session-deliveries';
import { Pages } from './visited-pages';
import { WritingSessions } from './writing';

interface SessionPageProps {
  sessionId: string;
  scoring: Scoring;
  writingExplanations: Explanations;
}

/** Everything about one session: the verdict and its reasons first, then who it was, what happened, and what followed. */
export function SessionPage({ sessionId, scoring, writingExplanations }: SessionPageProps) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const trpc = useTRPC();
  const { query, isLive, refetchInterval } = useLiveSession(sessionId);
  const details = useQuery(trpc.sessions.getTimeline.queryOptions({ sessionId }, { refetchInterval }));
  const evidence = useQuery(trpc.sessions.getEvidence.queryOptions({ sessionId }, { refetchInterval }));
  const labeling = useLabeling();
  const [chosenMs, setChosen] = useState<number | null>(null);
  const timeline = useRef<HTMLDivElement>(null);
  const recording = useRef<HTMLDivElement>(null);
  function choose(momentMs: number | null) {
    setChosen(momentMs);
    if (momentMs === null) return;
    const shown = recording.current?.querySelector('[data-recording]') ? recording : timeline;
    shown.current?.scrollIntoView({ block: 'nearest' });
  }
  const session = query.data;
  useShortcuts('Session', [
    { keys: 'b', name: 'Label as bot', run: () => session && labeling.label(session, 'bot') },
    { keys: 'h', name: 'Label as human', run: () => session && labeling.label(session, 'human') },
    { keys: 'u', name: 'Undo the last label', run: labeling.undo },
    { keys: 'r', name: 'Give a reason for the label', run: () => session && void labeling.explain(session) },
  ]);
  if (!session) return <Pending query={query} className="h-96" />;
  const startMs = Date.parse(session.createdAt);
  return (
    <>
      <Breadcrumb above={[{ name: 'Sessions', href: `${base}/sessions` }]}>
        <ShortId id={session.id} name="session id" />{' '}
        {session.status === 'Active' && (
          <Badge tone="accent" title="The page refreshes itself while the session is active">
            Live
          </Badge>
        )}
      </Breadcrumb>
      <PageHeader
        title={session.userName ?? 'Unmatched session'}
        about={
          <>
            Began <Time at={session.createdAt} />, {session.userAgentSummary}
          </>
        }
      >
        <ButtonLink href={`${base}/sessions/${encodeURIComponent(sessionId)}/evidence`} prefetch={false}>
          <Printer size={14} aria-hidden />
          Evidence report
        </ButtonLink>
        <Neighbours sessionId={sessionId} />
      </PageHeader>
      {/* Two columns on a wide screen; otherwise one column, in the order in which a reviewer asks. */}
      <div className="flex flex-col gap-4 lg:grid lg:grid-cols-12 lg:items-start">
        <div className="order-1 lg:col-span-12">
          <Section title="Verdict">
            <VerdictBar
              session={session}
              details={details.data}
              canWrite={labeling.canWrite}
              onLabel={(verdict) => labeling.label(session, verdict)}
              onExplain={() => void labeling.explain(session)}
              onRemove={() => labeling.removeLabel(session)}
            />
          </Section>
        </div>
        <div className="order-1 empty:hidden lg:col-span-12">
          <Findings query={evidence} details={details.data} {...{ scoring, startMs, isLive, chosenMs, choose }} />
        </div>
        <div className="order-1 scroll-mt-4 empty:hidden lg:col-span-12" ref={recording}>
          <RecordingPanel findings={evidence.data?.findings} {...{ sessionId, startMs, isLive, chosenMs, choose }} />
        </div>
        <div className="order-1 empty:hidden lg:col-span-12">
          <WritingSessions sessionId={sessionId} explanations={writingExplanations} />
        </div>
        <div className="contents lg:order-2 lg:col-span-8 lg:flex lg:flex-col lg:gap-4">
          <div className="order-3 scroll-mt-4" ref={timeline}>
            {details.data ? (
              <Timeline
                details={details.data}
                momentsMs={listFoundMoments(evidence.data?.findings ?? [], startMs)}
                chosenMs={chosenMs}
              />
            ) : details.error ? (
              <ErrorState message={describeError(details.error)} onRetry={() => void details.refetch()} />
            ) : (
              <Skeleton className="h-[270px]" />
            )}
          </div>
          <div className="order-5">
            <Events session={session} refetchInterval={refetchInterval} />
          </div>
        </div>
        <div className="contents lg:order-3 lg:col-span-4 lg:flex lg:flex-col lg:gap-4">
          <div className="order-2">
            <Section title="Who and where">
              <SessionFacts session={session} base={base} device={<ConfirmDevice session={session} />} />
            </Section>
          </div>
          <div className="order-4">
            <ClassHistory sessionId={sessionId} refetchInterval={refetchInterval} />
          </div>
          <div className="order-2">
            <RelatedSessions sessionId={sessionId} base={base} />
          </div>
          <div className="order-4">
            <Pages session={session} refetchInterval={refetchInterval} />
          </div>
          <div className="order-6">
            <Section title="Anomalies">
              <AnomalyList filters={{ sessionId }} base={base} refetchInterval={refetchInterval} />
            </Section>
          </div>
          <div className="order-7">
            <SessionDeliveries sessionId={sessionId} base={base} refetchInterval={refetchInterval} />
          </div>
        </div>
      </div>
    </>
  );
}
