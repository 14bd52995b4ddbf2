import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { RiskLevel } from '../../contract/sessions';

/**
 * The largest integer n with `botScore >= n/100`. Multiplying by 100 first would round (0.29 × 100 = 28.999…), so that a
 * customer's own `botScore >= 0.29` and the bin could disagree.
 */
export function computeScoreBin(botScore: number): number {
  let bin = Math.round(botScore * 100);
  while (bin > 0 && botScore < bin / 100) bin--;
  while (bin < 100 && botScore >= (bin + 1) / 100) bin++;
  return bin;
}

/** The class of a session (decisions: Scores and risk): `effectiveBin` is its score bin, 101 labelled bot, -1 labelled human. */
export function classifyRisk(effectiveBin: number | null, thresholds: RiskThresholds): RiskLevel | null {
  if (effectiveBin === null) return null;
  if (effectiveBin >= thresholds.botAt) return 'bot';
  return effectiveBin >= thresholds.mediumAt ? 'medium' : 'human';
}

/** The same classes as half-open ranges [from, below) of `effectiveBin`. */
export function findRiskRange(level: RiskLevel, { mediumAt, botAt }: RiskThresholds): { from: number; below: number } {
  if (level === 'bot') return { from: botAt, below: 102 };
  return level === 'medium' ? { from: mediumAt, below: botAt } : { from: -1, below: mediumAt };
}
