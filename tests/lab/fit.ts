import { RULES, type WeightedRule } from '../../server/detection/rules/table';
import { RULE_SET_VERSION } from '../../server/detection/score';
import { estimateRate, type Rate } from './interval';
import { isHeldOut, type Judged, type JudgedSubject, THRESHOLDS } from './judge';

// Fits the weights of the rules by logistic regression. Its penalty (L2) holds each weight near the one that reasoning gives,
// so what the recordings say little about stays as it is. It keeps the form of server/detection/log-odds.ts: the same base, a rule
// that is not the strongest of its group counts a quarter, no weight is negative, and proofs keep their weights, which follow
// from what only programs do. Its only inputs are what rules found; segments are left out.

export interface FitSummary {
  ruleSetVersion: string;
  /** Each family by weights that were fitted without it, in held-out sessions. */
  families: { family: string; bot: Rate; noticed: Rate }[];
  /** Held-out sessions of people by the fit that accuses most of them. */
  people: { bot: Rate; noticed: Rate };
  weights: FittedWeight[];
}

export interface FittedWeight {
  flag: string;
  inUse: number;
  /** Null for a proof, and if no session that was fitted to shows it. */
  fitted: number | null;
  /** The smallest and largest weight of the fits without a family. */
  range: [number, number] | null;
}

const BASE = -3.5;
const SUPPORT = 0.25;
const MAX_UNPROVEN = Math.log(0.69 / 0.31);
const FITTED = RULES.filter(({ weight }) => weight > 0);
/** The weights that reasoning gave, before anything was recorded (rules 2026.3). */
const REASONED: Record<string, number> = {
  ...{ headless: 3, 'devtools-protocol': 2, 'synthetic-window': 1.2 },
  ...{ 'untrusted-events': 3, 'zero-pressure': 3, 'fractional-coordinates': 2.5, 'movement-mismatch': 1.5 },
  ...{ 'capital-without-shift': 2, 'replayed-trace': 2.5 },
  ...{ 'no-approach': 1.5, 'exact-centre': 2, 'instant-press': 1.5, 'uncoalesced-moves': 0.4 },
  ...{ 'instant-keys': 2.5, 'uniform-typing': 2, 'text-without-keys': 1.5 },
  ...{ 'focus-without-cause': 1, 'page-jumps': 0.3, 'act-think': 0.3, 'datacenter-network': 0.8 },
};
/** Around which weight a rule is expected. Newer rules have only the one in use. */
export const expectWeight = ({ rule, weight, isProof }: WeightedRule): number =>
  isProof ? weight : (REASONED[rule.flag] ?? weight);
/** A rule that may also flag some people must not count more than that, whatever the recordings say. */
const LIMITS = FITTED.map((weighted) =>
  weighted.isProof || Object.keys(weighted.rule.touches).length > 0 ? expectWeight(weighted) : Number.POSITIVE_INFINITY,
);
/** Weights are expected around those, with this spread: a rule must be seen often before it counts much more or less. */
const PRIOR_SPREAD = 1;
/** The strongest rule of a group depends on the weights, which depend on it. */
const ROUNDS = 4;
const STEPS = 1_000;

const FLAGS = FITTED.map(({ rule }) => rule.flag);
const GROUPS = FITTED.map(({ rule }) => rule.group);
const PRIORS = FITTED.map(expectWeight);

interface Example {
  found: boolean[];
  /** Whether too little was done to judge it. */
  isThin: boolean;
  isBot: boolean;
  family: string;
  /** How much it counts: each family as much as another, programs as much as people. */
  share: number;
}

/** What each rule counts in a session: 1 if it is the strongest found of its group, else a quarter. */
function countRules(found: readonly boolean[], weights: readonly number[]): number[] {
  const strongest = new Map<string, number>();
  for (const [i, isFound] of found.entries()) {
    const best = strongest.get(GROUPS[i]!);
    if (isFound && (best === undefined || weights[i]! > weights[best]!)) strongest.set(GROUPS[i]!, i);
  }
  return found.map((isFound, i) => (isFound ? (strongest.get(GROUPS[i]!) === i ? 1 : SUPPORT) : 0));
}

const dot = (counts: readonly number[], weights: readonly number[]) =>
  counts.reduce((sum, count, i) => sum + count * weights[i]!, BASE);

/** Fits weights with none below 0. Deterministic. */
export function fitWeights(examples: readonly Example[]): number[] {
  let weights = PRIORS;
  for (let round = 0; round < ROUNDS; round++) {
    const counts = examples.map(({ found }) => countRules(found, weights));
    weights = descend(examples, counts);
  }
  return weights;
}

/** Nesterov's method. Its step and momentum follow from the bounds of the curvature, so nothing is to be tuned. */
function descend(examples: readonly Example[], counts: readonly number[][]): number[] {
  const penalty = 1 / PRIOR_SPREAD ** 2;
  const steepest = examples.reduce((sum, { share }, i) => sum + (share * sumSquares(counts[i]!)) / 4, penalty);
  const ratio = Math.sqrt(penalty / steepest);
  const momentum = (1 - ratio) / (1 + ratio);
  let weights = PRIORS;
  let ahead = weights;
  for (let step = 0; step < STEPS; step++) {
    const slopes = ahead.map((weight, j) => (weight - PRIORS[j]!) * penalty);
    for (const [i, { isBot, share }] of examples.entries()) {
      const counted = counts[i]!;
      const error = 1 / (1 + Math.exp(-dot(counted, ahead))) - (isBot ? 1 : 0);
      for (const [j, count] of counted.entries()) slopes[j]! += share * error * count;
    }
    const next = ahead.map((weight, j) =>
      FITTED[j]!.isProof ? weight : Math.min(LIMITS[j]!, Math.max(0, weight - slopes[j]! / steepest)),
    );
    ahead = next.map((weight, j) => weight + momentum * (weight - weights[j]!));
    weights = next;
  }
  return weights;
}

const sumSquares = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0);

/** Scores what was found by some weights, with the limits of the product for what is not proven. */
function scoreFound({ found, isThin }: Example, weights: readonly number[]): number {
  const counts = countRules(found, weights);
  const isProven = FITTED.some(({ isProof }, i) => isProof && found[i]);
  const isBroad = new Set(GROUPS.filter((group, i) => found[i] && weights[i]! > 0 && group !== 'network')).size > 1;
  const logOdds = dot(counts, weights);
  return 1 / (1 + Math.exp(-(isProven || (isBroad && !isThin) ? logOdds : Math.min(logOdds, MAX_UNPROVEN))));
}

const readFound = ({ found }: Judged) => FLAGS.map((flag) => found.includes(flag));

/** Fits weights to the sessions that are not held out, and judges each family by a fit without it. */
export function fitSubjects(subjects: readonly JudgedSubject[]): FitSummary {
  const used = subjects.filter(({ input }) => input === 'real');
  const tuning = makeExamples(used, (judged) => !isHeldOut(judged));
  if (!tuning.some(({ isBot }) => isBot) || tuning.every(({ isBot }) => isBot))
    throw new Error('fit needs recordings of seeds 1 to 3, of programs and of people');
  const families = [...new Set(used.filter(({ kind }) => kind === 'driver').map(({ family }) => family))].sort();
  const fits = families.map((family) => ({
    family,
    weights: fitWeights(weigh(tuning.filter((example) => !example.isBot || example.family !== family))),
  }));
  const held = makeExamples(used, isHeldOut);
  const rate = (of: readonly Example[], weights: readonly number[], threshold: number) =>
    estimateRate(of.filter((example) => scoreFound(example, weights) >= threshold).length, of.length);
  const rates = (of: readonly Example[], weights: readonly number[]) => ({
    bot: rate(of, weights, THRESHOLDS.bot),
    noticed: rate(of, weights, THRESHOLDS.medium),
  });
  const people = held.filter(({ isBot }) => !isBot);
  const accused = fits.map(({ weights }) => rates(people, weights));
  const all = fitWeights(weigh(tuning));
  return {
    ruleSetVersion: RULE_SET_VERSION,
    families: fits
      .map(({ family, weights }) => ({
        family,
        ...rates(
          held.filter((example) => example.isBot && example.family === family),
          weights,
        ),
      }))
      .sort((a, b) => a.bot.count / a.bot.of - b.bot.count / b.bot.of),
    people: accused.sort((a, b) => b.bot.count - a.bot.count || b.noticed.count - a.noticed.count)[0]!,
    weights: FITTED.map(({ rule, weight, isProof }, i) => {
      const isSeen = !isProof && tuning.some(({ found }) => found[i]);
      const fitted = fits.map(({ weights }) => weights[i]!);
      return {
        flag: rule.flag,
        inUse: weight,
        fitted: isSeen ? round(all[i]!) : null,
        range: isSeen ? [round(Math.min(...fitted)), round(Math.max(...fitted))] : null,
      };
    }),
  };
}

const round = (value: number) => Math.round(value * 100) / 100;

const makeExamples = (subjects: readonly JudgedSubject[], isWanted: (judged: Judged) => boolean): Example[] =>
  subjects.flatMap(({ kind, family, sessions }) =>
    sessions.filter(isWanted).map((judged) => ({
      found: readFound(judged),
      isThin: judged.found.includes('insufficient-evidence'),
      isBot: kind === 'driver',
      family,
      share: 1,
    })),
  );

/** Makes each family count as much as another, and programs as much as people. Sessions that look alike become one. */
function weigh(examples: readonly Example[]): Example[] {
  const count = (isBot: boolean, family?: string) =>
    examples.filter((of) => of.isBot === isBot && (family === undefined || of.family === family)).length;
  const familyCount = (isBot: boolean) =>
    new Set(examples.filter((of) => of.isBot === isBot).map((of) => of.family)).size;
  const joined = new Map<string, Example>();
  for (const example of examples) {
    const { isBot, family, found } = example;
    const share = examples.length / 2 / familyCount(isBot) / count(isBot, family);
    const key = JSON.stringify([isBot, found]);
    joined.set(key, { ...example, share: share + (joined.get(key)?.share ?? 0) });
  }
  return [...joined.values()];
}
