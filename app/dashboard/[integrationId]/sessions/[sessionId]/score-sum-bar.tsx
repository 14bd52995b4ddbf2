import type { ReactNode } from 'react';
import { showScore } from '../../../components/score-bar';
import { describeFlag } from '../flag-words';
import { type ScoredFindings, type ScoreSum, type Scoring, sumUpScore } from './score-sum';

const showWeight = (weight: number) => String(Number(weight.toFixed(2))).replace('-', '−');

/** Scores that the scale names, and how far it goes beyond the sum. */
const NAMED = [0.1, 0.5, 0.9, 0.99];
const MARGIN = 0.6;
const toLogOdds = (score: number) => Math.log(score / (1 - score));

interface ScoreSumBarProps extends ScoredFindings {
  scoring: Scoring;
}

/** How the weights of the findings make the score: a bar of their parts, and the sum in words. */
export function ScoreSumBar({ scoring, ...score }: ScoreSumBarProps) {
  const sum = sumUpScore(score, scoring);
  if (sum.kind === 'other')
    return (
      <p className="text-muted text-xs">
        The score is {showScore(score.botScore)}. It is not the sum of these weights:{' '}
        {score.ruleSetVersion === null ? 'a pipeline gave it.' : 'it is of other rules than those of today.'}
      </p>
    );
  const { base } = scoring;
  const from = base - MARGIN;
  const to = Math.max(sum.total, toLogOdds(NAMED.at(-1)!)) + MARGIN;
  const place = (logOdds: number) => ((logOdds - from) / (to - from)) * 100;
  return (
    <figure aria-label="How the score adds up" className="space-y-1">
      <div className="relative h-9 overflow-hidden text-faint text-xs" aria-hidden>
        <span className="absolute inset-x-0 top-0 h-3 rounded bg-sunken" />
        <span className="absolute top-0 h-3 w-[3px] -translate-x-1/2 bg-ink" style={{ left: `${place(base)}%` }} />
        {sum.parts.map(({ flag, weight, from: start }) => (
          <span
            key={flag}
            title={`${describeFlag(flag)}: +${showWeight(weight)}`}
            className="absolute top-0 h-3 border-surface border-r bg-bot-fill"
            style={{ left: `${place(start)}%`, width: `${place(start + weight) - place(start)}%` }}
          />
        ))}
        {NAMED.map((named) => (
          <span
            key={named}
            className="absolute top-3 -translate-x-1/2 border-line-strong border-l pt-1.5 leading-none"
            style={{ left: `${place(toLogOdds(named))}%` }}
          >
            <span className="-translate-x-1/2 inline-block">{Math.round(named * 100)}</span>
          </span>
        ))}
      </div>
      <figcaption className="text-muted text-xs">
        <span data-sum>
          Start {showWeight(base)}
          {sum.parts.length > 0 && (
            <>
              , {sum.parts.length === 1 ? 'one finding' : `${sum.parts.length} findings`} +
              {showWeight(sum.total - base)}
            </>
          )}
          : together {showWeight(sum.total)}
        </span>{' '}
        <Outcome sum={sum} botScore={score.botScore} />
      </figcaption>
    </figure>
  );
}

/** Says how the sum makes the score. The weights are log odds, so the score is not a percentage of them. */
function Outcome({ sum, botScore }: { sum: ScoreSum; botScore: number }): ReactNode {
  const shown = <strong className="font-semibold text-ink">score {showScore(botScore)}</strong>;
  const summed = showScore(1 / (1 + Math.exp(-sum.total)));
  if (sum.kind === 'held')
    return (
      <>
        would be {summed}, held at {shown}: without proof a session is no bot on one group of findings, on what
        assistive technology can explain, or on little that was done.
      </>
    );
  if (sum.kind === 'parts')
    return (
      <>
        would be {summed}. {showWeight(sum.less)} less, because not all was found in the whole session: {shown}.
      </>
    );
  return (
    <>
      = {shown} of 100. Weights are log odds: 0 is a score of 50, and each 1 makes a program 2.7 times as likely against
      a person.
    </>
  );
}
