import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { RiskLevel } from '../../contract/sessions';

/**
 * Computes the largest integer n with `botScore >= n/100`. It does not just multiply by 100, because that rounds
 * (0.29 × 100 = 28.999…), and then the bin could contradict a customer's own `botScore >= 0.29`.
 */
export function computeScoreBin(botScore: number): number {
  let bin = Math.round(botScore * 100);
  while (bin > 0 && botScore < bin / 100) bin--;
  while (bin < 100 && botScore >= (bin + 1) / 100) bin++;
  return bin;
}

/**
 * Finds the class of a session (decisions: Scores and risk). `effectiveBin` is its score bin, 101 if it is labelled bot, -1 if
 * it is labelled human.
 */
export function classifyRisk(effectiveBin: number | null, thresholds: RiskThresholds): RiskLevel | null {
  if (effectiveBin === null) return null;
  if (effectiveBin >= thresholds.botAt) return 'bot';
  return effectiveBin >= thresholds.mediumAt ? 'medium' : 'human';
}

/** Finds the half-open range [from, below) of `effectiveBin` that belongs to a class. */
export function findRiskRange(level: RiskLevel, { mediumAt, botAt }: RiskThresholds): { from: number; below: number } {
  if (level === 'bot') return { from: botAt, below: 102 };
  return level === 'medium' ? { from: mediumAt, below: botAt } : { from: -1, below: mediumAt };
}
