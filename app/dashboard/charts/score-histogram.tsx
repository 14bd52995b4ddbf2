'use client';
import type { ReactNode } from 'react';
import type { ScoreDistribution } from '../../../server/contract/analytics';
import type { RiskThresholds } from '../../../server/contract/risk-thresholds';
import type { RiskLevel } from '../../../server/contract/sessions';
import { RISK_WORDS } from '../components/badge';
import { showCount } from '../components/count';
import { Bars } from './bars';
import { ChartFrame, Legend } from './chart-frame';

const LABELED_BOT = 101;
const LABELED_HUMAN = -1;
const LEVELS: RiskLevel[] = ['human', 'medium', 'bot'];
const colorOf = (level: RiskLevel) => `var(--color-${level}-fill)`;

/** The class of an effective bin under cut points that may not be saved yet. */
const classify = (bin: number, { mediumAt, botAt }: RiskThresholds): RiskLevel =>
  bin >= botAt ? 'bot' : bin >= mediumAt ? 'medium' : 'human';

/** How many sessions each class would hold under these cut points. */
export function countClasses(distribution: ScoreDistribution, thresholds: RiskThresholds): Record<RiskLevel, number> {
  const counts = { human: 0, medium: 0, bot: 0 };
  for (const { bin, sessions } of distribution) counts[classify(bin, thresholds)] += sessions;
  return counts;
}

interface ScoreHistogramProps {
  distribution: ScoreDistribution;
  thresholds: RiskThresholds;
  /** HTML above the bars, placed in percent: handles of the cut points. */
  overlay?: ReactNode;
}

/** Sessions of all time by their score, in the colours of the classes that the cut points make of them. */
export function ScoreHistogram({ distribution, thresholds, overlay }: ScoreHistogramProps) {
  const sessionsOf = new Map(distribution.map(({ bin, sessions }) => [bin, sessions]));
  const counts = countClasses(distribution, thresholds);
  // Their labels decide, whatever their score.
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
        bars={Array.from({ length: 101 }, (_, bin) => {
          const level = classify(bin, thresholds);
          return {
            name: `Score ${bin}`,
            parts: [{ name: RISK_WORDS[level], color: colorOf(level), value: sessionsOf.get(bin) ?? 0 }],
          };
        })}
        labels={[0, 25, 50, 75, 100].map((score) => ({ at: (score / 101) * 100, text: String(score) }))}
        overlay={
          overlay ??
          [thresholds.mediumAt, thresholds.botAt].map((cut) => (
            <div
              key={cut}
              className="absolute inset-y-0 border-faint border-l border-dashed"
              style={{ left: `${(cut / 101) * 100}%` }}
            />
          ))
        }
      />
    </ChartFrame>
  );
}
