'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Finding } from '../../../../../contract/evidence';
import { useLoadedPart } from '../../../components/loaded-part';
import { Section } from '../../../components/page-header';
import { ErrorState, Skeleton } from '../../../components/states';
import { useTRPC } from '../../../queries';
import { describeFlag } from '../flag-words';
import type { MomentChoice } from './finding-row';
import type { FindingMoment } from './recording-track';

const REFRESH_MS = 3_000;

const loadPlayer = async () => (await import('./recording-player')).RecordingPlayer;

interface RecordingPanelProps extends MomentChoice {
  sessionId: string;
  findings: readonly Finding[] | undefined;
  startMs: number;
  isLive: boolean;
}

/** What pointer and keys did, if it was recorded and is still kept. Loaded when it comes into view or a moment is chosen. */
export function RecordingPanel({ sessionId, findings, startMs, isLive, chosenMs, choose }: RecordingPanelProps) {
  const trpc = useTRPC();
  const { data: found } = useQuery(
    trpc.recordings.find.queryOptions(
      { sessionId },
      { refetchInterval: ({ state }) => (isLive && state.data?.state !== 'kept' ? REFRESH_MS : false) },
    ),
  );
  const [isNear, setNear] = useState(false);
  const isShown = isNear || chosenMs !== null;
  const box = useRef<HTMLDivElement>(null);
  const moments = useMemo(() => listMoments(findings ?? [], startMs), [findings, startMs]);
  const isKept = found?.state === 'kept';
  const { part: RecordingPlayer, hasFailed, retry } = useLoadedPart(loadPlayer, isKept && isShown);
  useEffect(() => {
    if (!isKept || !box.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [isKept]);
  if (!found) return null;
  if (!isKept)
    return (
      <Section title="Recording">
        <p className="text-muted">
          {found.state === 'none'
            ? 'There is no recording: the facts of this session came from a pipeline, not from the pixel.'
            : found.removedOn === null
              ? 'The recording was removed; the findings stay.'
              : `The recording was removed on ${found.removedOn}; the findings stay.`}
        </p>
      </Section>
    );
  return (
    <Section title="Recording" actions={<span className="text-faint text-xs">Kept until {found.keptUntil}</span>}>
      {/* Its place does not change while it loads. */}
      <div ref={box} className="h-[46rem] sm:h-[57rem] lg:h-[40rem]" data-recording>
        {hasFailed && (
          <ErrorState message="The recording could not be loaded. Try again, or reload the page." onRetry={retry} />
        )}
        {isShown && !hasFailed && !RecordingPlayer && <Skeleton className="h-full" />}
        {isShown && RecordingPlayer && <RecordingPlayer {...{ sessionId, isLive, moments, chosenMs, choose }} />}
      </div>
    </Section>
  );
}

/** Lists the moments of findings in order. Evidence that never counts is left out. */
const listMoments = (findings: readonly Finding[], startMs: number): FindingMoment[] =>
  findings
    .filter(({ state, group }) => state === 'found' && group !== 'context')
    .flatMap(({ flag, moments }) =>
      moments.map((moment) => ({ atMs: Date.parse(moment) - startMs, name: describeFlag(flag) })),
    )
    .sort((a, b) => a.atMs - b.atMs);
