'use client';
import type { ReactNode } from 'react';
import type { ScoreDistribution } from '../../../contract/analytics';
import type { RiskThresholds } from '../../../contract/risk-thresholds';
import type { RiskLevel } from '../../../contract/sessions';
import { RISK_WORDS } from '../components/badge';
import { showCount } from '../components/count';
import { Bars } from './bars';
import { ChartFrame, Legend } from './chart-frame';

const LABELED_BOT = 101;
const LABELED_HUMAN = -1;
/** One bar for each score from 0 to 100. */
export const BINS = 101;
/** Finds where the bar of a score begins, in percent from the left. */
export const placeBin = (bin: number) => (bin / BINS) * 100;
const LEVELS: RiskLevel[] = ['human', 'medium', 'bot'];
const colorOf = (level: RiskLevel) => `var(--color-${level}-fill)`;

/** Finds the class of an effective bin under cut points that may not be saved yet. */
const classify = (bin: number, { mediumAt, botAt }: RiskThresholds): RiskLevel =>
  bin >= botAt ? 'bot' : bin >= mediumAt ? 'medium' : 'human';

/** Counts the sessions of each class under these cut points. */
function countClasses(distribution: ScoreDistribution, thresholds: RiskThresholds): Record<RiskLevel, number> {
  const counts = { human: 0, medium: 0, bot: 0 };
  for (const { bin, sessions } of distribution) counts[classify(bin, thresholds)] += sessions;
  return counts;
}

export interface Move {
  from: RiskLevel;
  to: RiskLevel;
  sessions: number;
}

/** Counts the sessions that would change class, by direction. Labelled sessions never do. */
export function countMoves(distribution: ScoreDistribution, before: RiskThresholds, after: RiskThresholds): Move[] {
  const moves = new Map<string, Move>();
  for (const { bin, sessions } of distribution) {
    const [from, to] = [classify(bin, before), classify(bin, after)];
    if (from === to) continue;
    const move = moves.get(`${from} ${to}`) ?? { from, to, sessions: 0 };
    moves.set(`${from} ${to}`, { ...move, sessions: move.sessions + sessions });
  }
  return [...moves.values()];
}

interface ScoreHistogramProps {
  distribution: ScoreDistribution;
  thresholds: RiskThresholds;
  /** HTML above the bars, positioned in percent: the handles of the cut points. */
  overlay?: ReactNode;
}

/** All sessions by score, in the colours of the classes under these cut points. */
export function ScoreHistogram({ distribution, thresholds, overlay }: ScoreHistogramProps) {
  const sessionsOf = new Map(distribution.map(({ bin, sessions }) => [bin, sessions]));
  const counts = countClasses(distribution, thresholds);
  // Labels decide their class, whatever the score.
  const labeled = `${showCount(sessionsOf.get(LABELED_BOT) ?? 0)} labelled bot and ${showCount(sessionsOf.get(LABELED_HUMAN) ?? 0)} labelled human stand outside`;
  return (
    <ChartFrame
      title="Scores"
      summary={`${LEVELS.map((level) => `${RISK_WORDS[level]}: ${showCount(counts[level])}`).join(', ')}. Medium from ${thresholds.mediumAt}, bot from ${thresholds.botAt}. ${labeled}.`}
      table={{
        columns: ['Score', 'Sessions', 'Class'],
        rows: distribution.map(({ bin, sessions }) => [
          bin === LABELED_BOT ? 'labelled bot' : bin === LABELED_HUMAN ? 'labelled human' : String(bin),
          showCount(sessions),
          RISK_WORDS[classify(bin, thresholds)],
        ]),
      }}
    >
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Legend
          items={LEVELS.map((level) => ({
            name: `${RISK_WORDS[level]} ${showCount(counts[level])}`,
            color: colorOf(level),
          }))}
        />
        <span className="text-muted text-xs">{labeled}</span>
      </div>
      <Bars
        bars={Array.from({ length: BINS }, (_, bin) => {
          const level = classify(bin, thresholds);
          return {
            name: `Score ${bin}`,
            parts: [{ name: RISK_WORDS[level], color: colorOf(level), value: sessionsOf.get(bin) ?? 0 }],
          };
        })}
        labels={[0, 25, 50, 75, 100].map((score) => ({ at: placeBin(score), text: String(score) }))}
        overlay={
          overlay ??
          [thresholds.mediumAt, thresholds.botAt].map((cut) => (
            <div
              key={cut}
              className="absolute inset-y-0 border-faint border-l border-dashed"
              style={{ left: `${placeBin(cut)}%` }}
            />
          ))
        }
      />
    </ChartFrame>
  );
}
