import type { Finding } from '../../contract/evidence';
import { type Features, mergeFeatures } from './features';
import type { RuleOutcome } from './rules/rule';
import { RULE_SET_VERSION, RULES, type WeightedRule } from './rules/table';
import { readTrace } from './segments';
import type { Trace } from './trace';

export { RULE_SET_VERSION };

/** What the rules say of a session. */
export interface Judgement {
  botScore: number;
  detectionFlags: string[];
  /** Those that count most first. */
  findings: Finding[];
  ruleSetVersion: string;
}

/** The log odds of a session in which nothing is found: a score of 0.029. */
const BASE = -3.5;
/** What further findings of a group count, because they often have the same cause. */
const SUPPORT = 0.25;
/** The score that a session without proof cannot pass on one group, or on too little to judge: below `bot`, 70 by default. */
const MAX_UNPROVEN_SCORE = 0.69;
const MAX_UNPROVEN = Math.log(MAX_UNPROVEN_SCORE / (1 - MAX_UNPROVEN_SCORE));
/** The same trace has a few moments in the evidence, so that it stays small. */
const MAX_MOMENTS = 5;

/**
 * Scores a session. The same trace gives the same bytes, whatever the order in which its batches arrived. Never throws on
 * batches that `readBeacon` accepted.
 */
export function scoreTrace(trace: Trace): Judgement {
  const { userAgent, segments, telemetry } = readTrace(trace);
  const parts = segments.map(({ features }) => features);
  const whole = judgeFeatures(mergeFeatures(userAgent, parts, telemetry));
  const isThin = whole.some(({ state }, index) => state === 'found' && RULES[index]!.rule.flag === INSUFFICIENT);
  const worst = findWorst(whole, parts.length > 1 ? parts.map(judgeFeatures) : [], isThin);
  const outcomes = RULES.map((_, index) => joinOutcomes([whole[index]!, ...worst.judged.map((of) => of[index]!)]));
  const counted = countFound(outcomes);
  const findings = outcomes.map((outcome, index) => showFinding(RULES[index]!, outcome, counted[index]!));
  return {
    botScore: round(1 / (1 + Math.exp(-worst.logOdds))),
    detectionFlags: findings
      .filter(({ state }, i) => state === 'found' && RULES[i]!.weight > 0)
      .map(({ flag }) => flag),
    findings: findings.sort((a, b) => b.weight - a.weight || STATES.indexOf(a.state) - STATES.indexOf(b.state)),
    ruleSetVersion: RULE_SET_VERSION,
  };
}

const INSUFFICIENT = 'insufficient-evidence';
const STATES = ['found', 'notFound', 'notMeasured'];

const judgeFeatures = (features: Features): RuleOutcome[] => RULES.map(({ rule }) => rule.judge(features));

/**
 * Finds the log odds of the whole session, or of its worst segments if these are worse. Among many segments one looks odd
 * by chance, so the worst k of n count by ln(n / k) less.
 */
function findWorst(
  whole: RuleOutcome[],
  parts: RuleOutcome[][],
  isThin: boolean,
): { logOdds: number; judged: RuleOutcome[][] } {
  let worst = { logOdds: computeLogOdds(whole, isThin), count: 0 };
  const judged = parts.filter((outcomes) => outcomes.some(({ state }, i) => state !== 'notMeasured' && isBehaviour(i)));
  const ranked = judged
    .map((outcomes) => ({
      outcomes,
      logOdds: computeLogOdds(
        outcomes.map((outcome, i) => joinOutcomes([whole[i]!, outcome])),
        isThin,
      ),
    }))
    .sort((a, b) => b.logOdds - a.logOdds);
  for (const [index, { logOdds }] of ranked.entries()) {
    const corrected = logOdds - Math.log(ranked.length / (index + 1));
    if (corrected > worst.logOdds) worst = { logOdds: corrected, count: index + 1 };
  }
  return { logOdds: worst.logOdds, judged: ranked.slice(0, worst.count).map(({ outcomes }) => outcomes) };
}

const isBehaviour = (index: number): boolean => {
  const { rule, weight } = RULES[index]!;
  return weight > 0 && rule.group !== 'environment';
};

function computeLogOdds(outcomes: readonly RuleOutcome[], isThin: boolean): number {
  const counted = countFound(outcomes);
  const logOdds = counted.reduce((sum, weight) => sum + weight, BASE);
  const found = RULES.filter((_, index) => counted[index]! > 0);
  const isProven = found.some(({ isProof }) => isProof);
  const isBroad = new Set(found.map(({ rule }) => rule.group)).size > 1;
  return isProven || (isBroad && !isThin) ? logOdds : Math.min(logOdds, MAX_UNPROVEN);
}

/** What each rule adds: its weight if it is the strongest found of its group, else a part of it. */
function countFound(outcomes: readonly RuleOutcome[]): number[] {
  const strongest = new Map<string, number>();
  for (const [index, { state }] of outcomes.entries()) {
    const { rule, weight } = RULES[index]!;
    const best = strongest.get(rule.group);
    if (state === 'found' && (best === undefined || weight > RULES[best]!.weight)) strongest.set(rule.group, index);
  }
  return outcomes.map(({ state }, index) => {
    const { rule, weight } = RULES[index]!;
    if (state !== 'found') return 0;
    return strongest.get(rule.group) === index ? weight : weight * SUPPORT;
  });
}

/** Joins what a rule says of the session and of its worst segments: what was found, else what it says of the session. */
function joinOutcomes([whole, ...parts]: readonly [RuleOutcome, ...RuleOutcome[]]): RuleOutcome {
  if (whole.state === 'found') return whole;
  const found = parts.flatMap((outcome) => (outcome.state === 'found' ? [outcome] : []));
  return found[0] ? { ...found[0], momentsMs: found.flatMap(({ momentsMs }) => momentsMs) } : whole;
}

function showFinding({ rule, weight }: WeightedRule, outcome: RuleOutcome, counted: number): Finding {
  const { flag, group, expected } = rule;
  if (outcome.state === 'notMeasured')
    return { flag, group, state: outcome.state, measured: null, expected, weight: 0, moments: [] };
  const { state, measured, momentsMs, name } = outcome;
  return {
    flag: name === undefined ? flag : `${flag}:${name}`,
    ...{ group, state, measured: typeof measured === 'number' ? round(measured) : measured, expected },
    weight: weight === 0 ? 0 : round(counted),
    moments: [...new Set(momentsMs)]
      .sort((a, b) => a - b)
      .slice(0, MAX_MOMENTS)
      .map((ms) => new Date(ms).toISOString()),
  };
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
