'use client';
import type { ReviewQueueKind, ReviewWindow } from '../../../../contract/review';
import { Button, IconButton } from '../../components/button';
import { showCount } from '../../components/count';
import { RotateCw } from '../../components/icons';
import { PageHeader } from '../../components/page-header';
import { Time } from '../../components/time';
import { countOutcomes, type ReviewProgress } from './progress';
import { DEFAULT_WINDOW, QUEUE_NAMES, WINDOW_NAMES } from './queue-choice';

interface ReviewHeaderProps {
  progress: ReviewProgress | null;
  onChoose(choice: { queue: ReviewQueueKind; window: ReviewWindow }): void;
  onReopen(): void;
}

/** Which queue is shown and how far the reviewer is. */
export function ReviewHeader({ progress, onChoose, onReopen }: ReviewHeaderProps) {
  const { queue, window = DEFAULT_WINDOW } = progress ?? {};
  return (
    <>
      <PageHeader
        title="Review"
        about={
          <span className="max-sm:hidden">
            {queue === 'sample'
              ? 'Sessions drawn at random, without their score.'
              : 'Sessions without a verdict, highest score first.'}
          </span>
        }
      >
        <Choice
          label="Queue"
          names={QUEUE_NAMES}
          chosen={queue}
          onChoose={(chosen) => onChoose({ queue: chosen, window })}
        />
        {queue === 'score' && (
          <Choice
            label="Sessions that began"
            names={WINDOW_NAMES}
            chosen={window}
            onChoose={(chosen) => onChoose({ queue, window: chosen })}
          />
        )}
      </PageHeader>
      {progress && progress.sessions.length > 0 && <Position progress={progress} onReopen={onReopen} />}
    </>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  names: Record<Value, string>;
  chosen: Value | undefined;
  onChoose(value: Value): void;
}

function Choice<Value extends string>({ label, names, chosen, onChoose }: ChoiceProps<Value>) {
  return (
    <fieldset className="flex flex-wrap gap-1 sm:not-first:border-line sm:not-first:border-l sm:not-first:pl-2">
      <legend className="sr-only">{label}</legend>
      {(Object.entries(names) as [Value, string][]).map(([value, name]) => (
        <Button
          key={value}
          kind="quiet"
          aria-pressed={value === chosen}
          className="px-2! aria-pressed:bg-sunken aria-pressed:text-ink"
          onClick={() => onChoose(value)}
        >
          {name}
        </Button>
      ))}
    </fieldset>
  );
}

/** The place in the queue in words and as a bar. */
function Position({ progress, onReopen }: { progress: ReviewProgress; onReopen(): void }) {
  const { sessions, at, total, openedAt } = progress;
  const { reviewed, skipped, elsewhere } = countOutcomes(progress);
  const isEnd = at >= sessions.length;
  const more = total > sessions.length ? ` · the first ${showCount(sessions.length)} of ${showCount(total)}` : '';
  return (
    <div className="mb-4 space-y-1.5">
      <div className="flex flex-wrap items-center gap-x-3 text-muted">
        <span role="status" className="text-ink">
          <span className="font-semibold">
            {isEnd ? 'The end' : `${showCount(at + 1)} of ${showCount(sessions.length)}`}
          </span>
          {more}
        </span>
        <span>
          {[
            `${showCount(reviewed)} reviewed`,
            ...(skipped > 0 ? [`${showCount(skipped)} skipped`] : []),
            ...(elsewhere > 0 ? [`${showCount(elsewhere)} labelled by somebody else`] : []),
          ].join(' · ')}
        </span>
        <span className="ml-auto inline-flex items-center gap-1 text-xs">
          Opened <Time at={openedAt} />
          <IconButton label="Open a new queue" onClick={onReopen}>
            <RotateCw size={14} aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className="h-1 overflow-hidden rounded bg-line" aria-hidden>
        <div className="h-full bg-accent" style={{ width: `${((reviewed + elsewhere) / sessions.length) * 100}%` }} />
      </div>
    </div>
  );
}
