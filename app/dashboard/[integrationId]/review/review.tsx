'use client';
import { useParams, useRouter } from 'next/navigation';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ReviewQueue } from '../../../../contract/review';
import type { Verdict } from '../../../../contract/sessions';
import { useRowSelection } from '../../components/row-selection';
import { useShortcuts } from '../../components/shortcuts';
import { EmptyState, ErrorState, Skeleton } from '../../components/states';
import { useToast } from '../../components/toast';
import { describeError } from '../../query-client';
import type { Scoring } from '../sessions/[sessionId]/score-sum';
import { BulkBar } from '../sessions/bulk-labeling';
import { useLabeling } from '../sessions/labeling';
import { composeQueueOrigin, withOrigin } from '../sessions/list-origin';
import { CaseView } from './case-view';
import {
  decideCurrent,
  decideMany,
  findCurrent,
  findOutcome,
  forgetOutcomes,
  type ReviewProgress,
  resumeSkipped,
  returnTo,
  skipCurrent,
  stepTo,
} from './progress';
import { QueueList } from './queue-list';
import { EmptyQueue, ReviewEnd } from './review-end';
import { ReviewHeader } from './review-header';
import { StepBar } from './step-bar';
import { useCases } from './use-cases';
import { useReview } from './use-review';

interface ReviewProps {
  /** The queue as JSON, because React takes 7 ms longer to send a thousand objects. */
  first: string | null;
  scoring: Scoring;
}

/** What needs a verdict, one session after the other. */
export function Review({ first, scoring }: ReviewProps) {
  const queue = useMemo<ReviewQueue | null>(() => first && JSON.parse(first), [first]);
  const review = useReview(queue);
  const { progress, choice, open, error } = review;
  // Without a queue there is nothing to go back to.
  const reopen = () => void open(choice, progress === null);
  return (
    <>
      <ReviewHeader progress={progress} onChoose={(choice) => void open(choice)} onReopen={reopen} />
      {error && <ErrorState message={error} onRetry={reopen} />}
      {!progress ? (
        !error && <Skeleton className="h-96" />
      ) : progress.sessions.length === 0 ? (
        <EmptyQueue progress={progress} onWiden={() => void open({ queue: 'score', window: '7d' })} />
      ) : (
        <Desk key={progress.openedAt} {...{ review, progress, scoring }} onReopen={reopen} />
      )}
    </>
  );
}

interface DeskProps {
  review: ReturnType<typeof useReview>;
  progress: ReviewProgress;
  scoring: Scoring;
  onReopen(): void;
}

/** The list of the queue and the current case. On a phone the case alone. */
function Desk({ review, progress, scoring, onReopen }: DeskProps) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const toast = useToast();
  const { act, readProgress } = review;
  const { sessions, at, queue } = progress;
  const [shown, setShown] = useState<readonly [number, number]>([0, 0]);
  const { findCase, readSession } = useCases(sessions, at, shown);
  const keys = sessions.map(({ id }) => id);
  const choice = useRowSelection(keys);
  // The sample is judged one by one: a verdict on sessions that nobody looked at would measure nothing.
  const selection = queue === 'sample' ? null : choice;
  const labeling = useLabeling({
    onUndo: ({ id, label }) => act((current) => returnTo(current, id, label?.verdict)),
    onRefused: ({ id }) => act((current) => forgetOutcomes(current, [id])),
  });

  const lastLabeled = useRef<string | null>(null);
  const readLabeled = (id: string) => readSession(sessions.findIndex((session) => session.id === id));

  const label = (verdict: Verdict) => () => {
    const current = readProgress();
    const session = current && readSession(current.at);
    if (!session || !labeling.label(session, verdict)) return;
    lastLabeled.current = session.id;
    act((before) => decideCurrent(before, verdict));
  };
  /** Asks for the reasons of the latest verdict, whose session the reviewer has left. */
  const askWhy = () => {
    const session = lastLabeled.current === null ? undefined : readLabeled(lastLabeled.current);
    if (session) void labeling.explain(session);
    else toast({ text: 'No verdict to explain yet' });
  };
  const step = (by: 1 | -1) => () => act((current) => stepTo(current, current.at + by));
  const skip = () => act(skipCurrent);
  const hrefOf = useCallback(
    (id: string, opened: ReviewProgress) =>
      withOrigin(`${base}/sessions/${encodeURIComponent(id)}`, composeQueueOrigin(opened.openedAt)),
    [base],
  );
  const openCurrent = () => {
    const current = readProgress();
    const session = current && readSession(current.at);
    if (!session) return;
    if (queue === 'sample' && session.label === null)
      toast({ text: 'Its page shows the score. Give your verdict first.' });
    else router.push(hrefOf(session.id, current));
  };
  const toggleCurrent = () => {
    const current = readProgress();
    const id = current && findCurrent(current)?.id;
    if (id) selection?.toggle(id);
  };
  useShortcuts('Review', [
    { keys: 'b', name: 'Label as bot, go on', run: label('bot') },
    { keys: 'h', name: 'Label as human, go on', run: label('human') },
    { keys: 'r', name: 'Say why, for the last verdict', run: askWhy },
    { keys: 's', name: 'Skip: it comes back at the end', run: skip },
    { keys: 'j', name: 'Next, without a verdict', mayRepeat: true, run: step(1) },
    { keys: 'k', name: 'Previous', mayRepeat: true, run: step(-1) },
    { keys: 'u', name: 'Undo the last label and return to it', run: labeling.undo },
    { keys: 'o', name: 'Open the session', run: openCurrent },
    ...(selection ? [{ keys: 'x', name: 'Choose it, to label several together', run: toggleCurrent }] : []),
    { keys: 'Escape', name: 'Choose none', run: choice.clear },
  ]);

  const current = findCurrent(progress);
  const loaded = findCase(at);
  const caseBox = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each case begins at its top
  useEffect(() => {
    const box = caseBox.current;
    if (box && box.getBoundingClientRect().top < 0) box.scrollIntoView();
  }, [current?.id]);
  return (
    <div className="lg:grid lg:grid-cols-[17rem_minmax(0,1fr)] lg:items-start lg:gap-4 xl:grid-cols-[20rem_minmax(0,1fr)]">
      <div className="sticky top-4 flex h-[calc(100dvh-2rem)] flex-col rounded border border-line bg-surface max-lg:hidden">
        <QueueList
          {...{ progress, findCase, selection }}
          onGo={(place) => act((before) => stepTo(before, place))}
          onShow={setShown}
        />
      </div>
      <div ref={caseBox} className="min-w-0 scroll-mt-4 max-lg:pb-16">
        {selection && (
          <BulkBar
            sessions={sessions.flatMap(({ id }, place) =>
              selection.chosen.has(id) ? { id, label: readSession(place)?.label ?? null } : [],
            )}
            labeling={labeling}
            onClear={selection.clear}
            onLabeled={(ids, verdict) => act((before) => decideMany(before, ids, verdict))}
            onUndone={(ids) => act((before) => forgetOutcomes(before, ids))}
          />
        )}
        {!current ? (
          <ReviewEnd progress={progress} onResume={() => act(resumeSkipped)} onReopen={onReopen} />
        ) : loaded.found ? (
          <CaseView
            key={current.id}
            found={loaded.found}
            readAtMs={loaded.readAtMs}
            outcome={findOutcome(progress, current.id)}
            href={hrefOf(current.id, progress)}
            canWrite={labeling.canWrite}
            onLabel={(verdict) => label(verdict)()}
            onExplain={(session) => void labeling.explain(session)}
            onRemove={(session) => {
              if (labeling.removeLabel(session)) act((before) => forgetOutcomes(before, [session.id]));
            }}
            {...{ base, scoring }}
          />
        ) : loaded.isGone ? (
          <EmptyState title="This session is gone">
            <p>Sessions are removed after the retention of the plan. Skip it.</p>
          </EmptyState>
        ) : loaded.error ? (
          <ErrorState message={describeError(loaded.error)} onRetry={() => void loaded.refetch()} />
        ) : (
          <Skeleton className="h-96" />
        )}
        {current && (
          <StepBar
            canWrite={labeling.canWrite}
            onStep={(by) => step(by)()}
            onLabel={(verdict) => label(verdict)()}
            onSkip={skip}
          />
        )}
      </div>
    </div>
  );
}
