import type { Finding } from '../../../contract/evidence';
import { joinClasses } from './classes';

export type FindingState = Finding['state'];

export const STATE_WORDS: Record<FindingState, string> = {
  found: 'Found',
  notFound: 'Not found',
  notMeasured: 'Not measured',
};

const COLOURS: Record<FindingState, string> = {
  found: 'text-bot',
  notFound: 'text-human',
  notMeasured: 'text-faint',
};

const SHAPES: Record<FindingState, string> = {
  found: 'M5 1 9.5 9H.5z',
  notFound: 'M5 1a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  notMeasured: 'M1 4.25h8v1.5H1z',
};

/** A finding about the data alone accuses nobody, so it has no colour. */
export const chooseFindingColor = ({ group, state }: Pick<Finding, 'group' | 'state'>): string =>
  group === 'context' ? 'text-faint' : COLOURS[state];

/** A triangle, a circle or a dash, so that the states can be told apart without colour. */
export function FindingMark({ state, className }: { state: FindingState; className: string }) {
  return (
    <svg
      width={10}
      height={10}
      viewBox="0 0 10 10"
      aria-hidden="true"
      className={joinClasses('shrink-0 fill-current', className)}
    >
      <path d={SHAPES[state]} />
    </svg>
  );
}
