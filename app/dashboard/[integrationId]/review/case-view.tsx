'use client';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import type { ReviewCase } from '../../../../contract/review';
import type { Session, Verdict } from '../../../../contract/sessions';
import { Badge } from '../../components/badge';
import { ExternalLink } from '../../components/icons';
import { Section } from '../../components/page-header';
import { Skeleton } from '../../components/states';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { FRESH_MS } from '../../query-client';
import { Findings, listFoundMoments } from '../sessions/[sessionId]/findings';
import type { Scoring } from '../sessions/[sessionId]/score-sum';
import { SessionFacts } from '../sessions/session-facts';
import { Timeline } from '../sessions/timeline';
import { VerdictBar } from '../sessions/verdict-bar';
import type { ReviewOutcome } from './progress';

interface CaseViewProps {
  found: ReviewCase;
  /** When it was read. */
  readAtMs: number;
  outcome: ReviewOutcome | undefined;
  base: string;
  /** The address of the session's own page. */
  href: string;
  scoring: Scoring;
  canWrite: boolean;
  onLabel(verdict: Verdict): void;
  onExplain(session: Session): void;
  onRemove(session: Session): void;
}

/** One session to decide on: the verdict and why, then who and what. Blind until the verdict if it is of the random sample. */
export function CaseView(props: CaseViewProps) {
  const { found, readAtMs, outcome, base, href, scoring, canWrite, onLabel, onExplain, onRemove } = props;
  const trpc = useTRPC();
  const { isBlind } = found;
  const input = { sessionId: found.session.id };
  // What a blind case leaves out is not even asked for before the verdict.
  const first = <Data,>(data: Data) => (isBlind ? {} : { initialData: data, initialDataUpdatedAt: readAtMs });
  const live = useQuery({
    ...trpc.sessions.get.queryOptions(input),
    ...first(found.session),
    enabled: !isBlind || outcome !== undefined,
    // It was labelled after the cases were read. A label that is shown may be on its way still, so nothing older replaces it.
    staleTime: ({ state }) => (outcome === undefined || state.data?.label ? FRESH_MS : 0),
  });
  const isHidden = isBlind && !live.data?.label;
  const session = isHidden ? found.session : (live.data ?? found.session);
  const details = useQuery({
    ...trpc.sessions.getTimeline.queryOptions(input),
    ...first(found.details),
    enabled: !isHidden,
  });
  const evidence = useQuery({
    ...trpc.sessions.getEvidence.queryOptions(input),
    ...first(found.evidence ?? undefined),
    enabled: !isHidden,
  });
  const [chosenMs, choose] = useState<number | null>(null);
  const startMs = Date.parse(session.createdAt);
  const shownDetails = (isHidden ? undefined : details.data) ?? found.details;
  return (
    <article
      data-session={session.id}
      aria-label={session.userName ?? 'Unmatched session'}
      className="min-w-0 space-y-4"
    >
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0">
          <h2 className="line-clamp-2 wrap-anywhere font-semibold text-lg" title={session.userName ?? undefined}>
            {session.userName ?? session.userId ?? 'Unmatched session'}
          </h2>
          <p className="text-muted">
            Began <Time at={session.createdAt} />, {session.userAgentSummary}{' '}
            {session.status === 'Active' && <Badge tone="accent">Live</Badge>}
          </p>
        </div>
        {!isHidden && (
          <Link
            href={href}
            prefetch={false}
            className="inline-flex items-center gap-1 text-accent underline-offset-2 hover:underline"
          >
            Open session <ExternalLink size={12} aria-hidden />
          </Link>
        )}
      </div>
      <Section title="Verdict">
        {isHidden && <p className="mb-3 text-muted">The score is hidden, so that the verdict does not depend on it.</p>}
        {outcome === 'elsewhere' && (
          <p role="status" className="mb-3 text-muted">
            Somebody else has labelled this session since the queue was opened.
          </p>
        )}
        <VerdictBar
          session={session}
          details={shownDetails}
          isBlind={isHidden}
          onExplain={() => onExplain(session)}
          onRemove={() => onRemove(session)}
          {...{ canWrite, onLabel }}
        />
      </Section>
      {!isHidden && (
        <Findings query={evidence} isLive={false} {...{ scoring, startMs, details: shownDetails, chosenMs, choose }} />
      )}
      {shownDetails ? (
        <Timeline
          details={shownDetails}
          momentsMs={isHidden ? [] : listFoundMoments(evidence.data?.findings ?? [], startMs)}
          chosenMs={isHidden ? null : chosenMs}
          height={110}
        />
      ) : (
        <Skeleton className="h-[240px]" />
      )}
      <Section title="Who and where">
        <SessionFacts session={session} base={base} />
      </Section>
    </article>
  );
}
