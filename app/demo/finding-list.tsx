import type { Finding } from '../../contract/evidence';
import { describeFlag } from '../dashboard/[integrationId]/sessions/flag-words';
import { joinClasses } from '../dashboard/components/classes';

type State = Finding['state'];

const STATES: Record<State, { word: string; className: string }> = {
  found: { word: 'Found', className: 'text-bot' },
  notFound: { word: 'Not found', className: 'text-human' },
  notMeasured: { word: 'Not measured', className: 'text-faint' },
};
const ORDER: State[] = ['found', 'notFound', 'notMeasured'];

/**
 * What each rule says: those that were found first. A row's key is its place and all rows have one height, so the list
 * changes its text without moving.
 */
export function FindingList({ findings }: { findings: Finding[] }) {
  const sorted = ORDER.flatMap((state) => findings.filter((finding) => finding.state === state));
  return (
    <div className="min-h-96">
      <p className="px-4 pt-3 pb-2 text-muted text-xs">
        {sorted.length === 0
          ? 'Each rule says what it measured, and what is usual for people.'
          : ORDER.map(
              (state) => `${sorted.filter((one) => one.state === state).length} ${STATES[state].word.toLowerCase()}`,
            ).join(' · ')}
      </p>
      <ul aria-label="Findings">
        {sorted.map((finding, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the row is the place, whatever finding it shows
          <Row key={place} finding={finding} />
        ))}
      </ul>
    </div>
  );
}

function Row({ finding: { flag, group, state, measured, expected } }: { finding: Finding }) {
  const { word } = STATES[state];
  // What says something of the data alone accuses nobody.
  const className = group === 'context' ? 'text-faint' : STATES[state].className;
  const values = [
    measured !== null && `measured ${showMeasured(measured)}`,
    expected !== null && `usual: ${expected}`,
  ].filter(Boolean);
  return (
    <li className="flex h-13 items-center gap-3 border-t px-4">
      <Mark state={state} className={className} />
      <div className="min-w-0 flex-1">
        <p className={joinClasses('truncate', state === 'found' ? 'font-medium' : 'text-muted')} title={flag}>
          {describeFlag(flag)}
        </p>
        <p className="truncate text-faint text-xs" title={values.join(' · ')}>
          {values.join(' · ') || '–'}
        </p>
      </div>
      <span className={joinClasses('shrink-0 text-xs', className)}>{word}</span>
    </li>
  );
}

const showMeasured = (measured: number | string) =>
  typeof measured === 'number' ? String(Math.round(measured * 1_000) / 1_000) : measured;

const SHAPES: Record<State, string> = {
  found: 'M5 1 9.5 9H.5z',
  notFound: 'M5 1a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  notMeasured: 'M1 4.25h8v1.5H1z',
};

/** A triangle, a circle or a dash, so that the states can be told apart without colour. */
function Mark({ state, className }: { state: State; className: string }) {
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
