import type { Finding } from '../../../../../contract/evidence';

/** The part of today's rules that the browser gets. */
export interface Scoring {
  ruleSetVersion: string;
  /** The log odds of a session in which nothing is found. */
  base: number;
  /** The score that a session without proof cannot pass. */
  maxUnprovenScore: number;
  rules: readonly RuleFacts[];
}

export interface RuleFacts {
  flag: string;
  group: Finding['group'];
  /** What it means, in plain words. */
  plainly: string;
  expected: string;
  needs: string;
  isProof: boolean;
}

/**
 * How a score follows from its findings. `sum`: it is their sum. `held`: the sum is higher, but nothing proves that a program
 * acted. `parts`: the sum is higher, because some of them were seen in parts of the session only. `other`: it is not of such a sum.
 */
export type ScoreKind = 'sum' | 'held' | 'parts' | 'other';

export interface ScoreSum {
  kind: ScoreKind;
  /** The log odds of the start and all weights. */
  total: number;
  /** By how much the score is lower than its sum, in log odds. */
  less: number;
  parts: { flag: string; weight: number; from: number }[];
}

/** A score and what explains it. */
export interface ScoredFindings {
  botScore: number;
  ruleSetVersion: string | null;
  findings: readonly Finding[];
}

/** Weights and scores are rounded to thousandths. */
const TOLERANCE = 0.002;

const toScore = (logOdds: number) => 1 / (1 + Math.exp(-logOdds));
const toLogOdds = (score: number) => Math.log(score / (1 - score));

/** Adds up what the findings of a score weigh, and says how that makes the score. */
export function sumUpScore(
  { botScore, ruleSetVersion, findings }: ScoredFindings,
  { base, maxUnprovenScore }: Pick<Scoring, 'base' | 'maxUnprovenScore'>,
): ScoreSum {
  let total = base;
  const parts: ScoreSum['parts'] = [];
  for (const { flag, state, weight } of findings) {
    if (state !== 'found' || weight === 0) continue;
    parts.push({ flag, weight, from: total });
    total += weight;
  }
  const sum = toScore(total);
  const kind =
    ruleSetVersion === null || botScore > sum + TOLERANCE
      ? 'other'
      : botScore >= sum - TOLERANCE
        ? 'sum'
        : Math.abs(botScore - maxUnprovenScore) < TOLERANCE
          ? 'held'
          : 'parts';
  return { kind, total, less: kind === 'parts' ? total - toLogOdds(botScore) : 0, parts };
}
