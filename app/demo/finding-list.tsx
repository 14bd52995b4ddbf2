import type { Finding } from '../../contract/evidence';
import { describeFlag } from '../dashboard/[integrationId]/sessions/flag-words';
import { describeMeasured, describeUsual } from '../dashboard/[integrationId]/sessions/measured-words';
import { joinClasses } from '../dashboard/components/classes';
import { chooseFindingColor, FindingMark, type FindingState, STATE_WORDS } from '../dashboard/components/finding-mark';

const ORDER: FindingState[] = ['found', 'notFound', 'notMeasured'];

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
              (state) => `${sorted.filter((one) => one.state === state).length} ${STATE_WORDS[state].toLowerCase()}`,
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

function Row({ finding }: { finding: Finding }) {
  const { flag, state, measured, expected } = finding;
  const className = chooseFindingColor(finding);
  const values = [
    measured !== null && `measured ${describeMeasured({ flag, measured })}`,
    expected !== null && `usual: ${describeUsual({ flag, expected })}`,
  ].filter(Boolean);
  return (
    <li className="flex h-13 items-center gap-3 border-t px-4">
      <FindingMark state={state} className={className} />
      <div className="min-w-0 flex-1">
        <p className={joinClasses('truncate', state === 'found' ? 'font-medium' : 'text-muted')} title={flag}>
          {describeFlag(flag)}
        </p>
        <p className="truncate text-faint text-xs" title={values.join(' · ')}>
          {values.join(' · ') || '–'}
        </p>
      </div>
      <span className={joinClasses('shrink-0 text-xs', className)}>{STATE_WORDS[state]}</span>
    </li>
  );
}
