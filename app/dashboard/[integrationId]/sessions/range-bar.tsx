import type { Finding } from '../../../../contract/evidence';
import { describeMeasured, describeUsual } from './measured-words';
import { chooseScaleEnd, isDecided, readUsualRange } from './usual-range';

/**
 * A bar with the usual range, and a mark where the measured value is. Nothing if either is no number, or if the rule went by more than
 * this one number, so that the mark would say something else than the rule.
 */
export function RangeBar({
  flag,
  state,
  measured,
  expected,
}: Pick<Finding, 'flag' | 'state' | 'measured' | 'expected'>) {
  const range = typeof measured === 'number' && expected !== null ? readUsualRange(expected) : null;
  if (range === null || typeof measured !== 'number' || expected === null || !isDecided(range, state, measured))
    return null;
  const isShare = / of /.test(describeMeasured({ flag, measured }));
  const end = chooseScaleEnd(range, measured, isShare);
  const place = (value: number) => Math.min(100, Math.max(0, (value / end) * 100));
  const [from, to] = [place(range.from), place(range.to)];
  return (
    <span
      aria-hidden
      data-range
      title={`Measured ${describeMeasured({ flag, measured })}, usual ${describeUsual({ flag, expected })}`}
      className="relative mt-1 inline-block h-2 w-28 shrink-0 self-start rounded bg-line"
    >
      <span
        className="absolute inset-y-0 min-w-1 rounded bg-human-fill"
        style={{ left: `${from}%`, width: `${to - from}%` }}
      />
      <span
        className="absolute -inset-y-1 w-[3px] -translate-x-1/2 rounded bg-ink"
        style={{ left: `${place(measured)}%` }}
      />
    </span>
  );
}
