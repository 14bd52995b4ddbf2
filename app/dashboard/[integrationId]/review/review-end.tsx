import { Button } from '../../components/button';
import { showCount } from '../../components/count';
import { EmptyState } from '../../components/states';
import { countOutcomes, type ReviewProgress } from './progress';
import { WINDOW_NAMES } from './queue-choice';

/** Says what was done: `400 reviewed: 31 bot, 369 human, 3 skipped`. */
export function describeDone(progress: ReviewProgress): string {
  const { reviewed, bot, human, skipped, elsewhere } = countOutcomes(progress);
  const parts = [
    `${showCount(bot)} bot`,
    `${showCount(human)} human`,
    ...(skipped > 0 ? [`${showCount(skipped)} skipped`] : []),
    ...(elsewhere > 0 ? [`${showCount(elsewhere)} labelled by somebody else`] : []),
  ];
  return `${showCount(reviewed)} reviewed: ${parts.join(', ')}`;
}

interface ReviewEndProps {
  progress: ReviewProgress;
  onResume(): void;
  onReopen(): void;
}

/** The end of a queue: what was done, and what can follow. */
export function ReviewEnd({ progress, onResume, onReopen }: ReviewEndProps) {
  const { skipped } = countOutcomes(progress);
  const left = progress.total - progress.sessions.length;
  return (
    <section aria-label="The end of the queue" className="rounded border border-line bg-surface">
      <EmptyState title="That was the queue">
        <p role="status" className="text-base text-ink">
          {describeDone(progress)}
        </p>
        {left > 0 && <p>{showCount(left)} more were waiting when the queue was opened.</p>}
        <div className="flex flex-wrap gap-2">
          {skipped > 0 && (
            <Button onClick={onResume}>
              Review the {showCount(skipped)} skipped {skipped === 1 ? 'one' : 'ones'}
            </Button>
          )}
          <Button kind="primary" onClick={onReopen}>
            Look for more
          </Button>
        </div>
      </EmptyState>
    </section>
  );
}

/** Nothing waits: says where else to look. */
export function EmptyQueue({ progress, onWiden }: { progress: ReviewProgress; onWiden(): void }) {
  const { queue, window } = progress;
  return (
    <div className="rounded border border-line bg-surface">
      {queue === 'sample' ? (
        <EmptyState title="No session of the sample waits">
          <p>
            A random sample of each day makes error rates honest. Settings → Risk thresholds says how many sessions of a
            day are drawn.
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="Nothing needs a verdict">
          <p>
            {WINDOW_NAMES[window]}: every session with a score from the medium cut point on has a verdict, or there was
            none.
          </p>
          {window !== '7d' && (
            <p>
              <Button onClick={onWiden}>Look at the last 7 days</Button>
            </p>
          )}
        </EmptyState>
      )}
    </div>
  );
}
