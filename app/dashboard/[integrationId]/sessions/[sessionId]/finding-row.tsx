import type { ReactNode } from 'react';
import type { Finding } from '../../../../../contract/evidence';
import { Badge } from '../../../components/badge';
import { joinClasses } from '../../../components/classes';
import { chooseFindingColor, FindingMark, STATE_WORDS } from '../../../components/finding-mark';
import { describeFlag } from '../flag-words';
import { describeMeasured, describeUsual } from '../measured-words';
import { RangeBar } from '../range-bar';
import { showOffset } from '../timeline';

const GROUP_WORDS: Record<Finding['group'], string> = {
  environment: 'Environment',
  integrity: 'Integrity',
  pointer: 'Pointer',
  typing: 'Typing',
  flow: 'Flow',
  network: 'Network',
  context: 'Context',
};

/** The moment that the reader looks at, in milliseconds since the start of the session. */
export interface MomentChoice {
  chosenMs: number | null;
  choose(momentMs: number | null): void;
}

interface FindingRowProps extends MomentChoice {
  finding: Finding;
  /** What it means, in plain words. Undefined for a rule that is not ours. */
  explanation: string | undefined;
  /** Why nothing was measured. Null for what was. */
  why: string | null;
  /** Only a program leaves such a mark. */
  isProof: boolean;
  heaviest: number;
  startMs: number;
}

/** One finding: what it means, what was measured and is usual, when it was seen, and how much it counts. */
export function FindingRow({ finding, explanation, why, isProof, heaviest, startMs, ...choice }: FindingRowProps) {
  const { flag, group, state, measured, expected, weight, moments } = finding;
  const isFound = state === 'found';
  return (
    <li className="flex gap-3 py-3">
      <FindingMark state={state} className={joinClasses('mt-1.5', chooseFindingColor(finding))} />
      <div className="min-w-0 flex-1 space-y-1">
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
            <span className={joinClasses('wrap-anywhere', isFound ? 'font-medium' : 'text-muted')} title={flag}>
              {describeFlag(flag)}
            </span>
            <Badge>{GROUP_WORDS[group]}</Badge>
            {isFound && isProof && (
              <Badge tone="bot" title="Only a program leaves such a mark">
                Proof
              </Badge>
            )}
            <span className="sr-only">{STATE_WORDS[state]}</span>
          </p>
          {isFound && <Weight weight={weight} heaviest={heaviest} />}
        </div>
        {explanation && <p className="text-muted">{explanation}</p>}
        {why !== null && <p className="text-xs">{why}</p>}
        {(measured !== null || expected !== null || moments.length > 0) && (
          <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1 text-xs">
            {measured !== null && <Fact name="Measured">{describeMeasured({ flag, measured })}</Fact>}
            {expected !== null && (
              <Fact name="Usual">
                <span className="inline-flex flex-wrap gap-x-2">
                  {describeUsual({ flag, expected })}
                  <RangeBar {...{ flag, state, measured, expected }} />
                </span>
              </Fact>
            )}
            {moments.length > 0 && (
              <Fact name="Seen at">
                <Moments moments={moments} startMs={startMs} {...choice} />
              </Fact>
            )}
          </dl>
        )}
      </div>
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 items-baseline gap-1.5">
      <dt className="shrink-0 text-faint">{name}</dt>
      <dd className="wrap-anywhere min-w-0">{children}</dd>
    </div>
  );
}

/** The moments as buttons, which show them on the timeline and in the recording. Moments of one second are one. */
function Moments({ moments, startMs, chosenMs, choose }: { moments: string[]; startMs: number } & MomentChoice) {
  const bySecond = new Map(moments.map((moment) => Date.parse(moment) - startMs).map((ms) => [showOffset(ms), ms]));
  return (
    <span className="flex flex-wrap gap-x-2 gap-y-1">
      {[...bySecond].map(([offset, ms]) => (
        <button
          key={offset}
          type="button"
          aria-pressed={chosenMs === ms}
          aria-label={`${offset}, show it on the timeline`}
          title="Show it on the timeline"
          onClick={() => choose(chosenMs === ms ? null : ms)}
          className="min-h-6 min-w-6 rounded px-1 text-accent underline underline-offset-2 aria-pressed:bg-accent-soft"
        >
          {offset}
        </button>
      ))}
    </span>
  );
}

function Weight({ weight, heaviest }: { weight: number; heaviest: number }) {
  if (weight === 0) return <span className="text-faint text-xs">does not count</span>;
  return (
    <span
      className="inline-flex items-center gap-2 text-muted text-xs"
      title="How much it adds to the sum of the score"
    >
      weight {Number(weight.toPrecision(3))}
      <span className="h-1.5 w-16 overflow-hidden rounded bg-line" aria-hidden>
        <span className="block h-full rounded bg-bot-fill" style={{ width: `${(weight / heaviest) * 100}%` }} />
      </span>
    </span>
  );
}
