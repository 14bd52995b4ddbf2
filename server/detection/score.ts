import { type Finding, MAX_SEGMENTS, type ScoredSegment } from '../../contract/evidence';
import { createDeeds, type Deeds } from './deeds';
import { createDocuments, type TraceDocuments } from './documents';
import { type Features, mergeFeatures, sumUpDeeds } from './features';
import { computeLogOdds, countFound } from './log-odds';
import { isInsufficient } from './rules/insufficient-evidence';
import { isTapping, mayHaveTouch, type RuleOutcome } from './rules/rule';
import { RULE_SET_VERSION, RULES, type WeightedRule } from './rules/table';
import { createTraceReader, type Segment } from './segments';
import { MAX_MOMENTS } from './statistics';
import type { Trace, TraceSource } from './trace';

export { RULE_SET_VERSION };

/** What the rules say of a session. */
export interface Judgement {
  botScore: number;
  detectionFlags: string[];
  /** Those that count most first. */
  findings: Finding[];
  ruleSetVersion: string;
}

/** How much is measured of segments that a later event can still change. Of the others only sums are kept. */
export interface MeasuredDeeds {
  keys: number;
  presses: number;
  insertions: number;
  focuses: number;
}

export interface Scorer {
  (isReplay?: boolean | null): Judgement;
  /** Counts what the last score remembers of single deeds. */
  countMeasured(): MeasuredDeeds;
  /** Says how each part of the session looks by itself, in their order: those in which behaviour could be measured. */
  listSegments(): ScoredSegment[];
}

/**
 * Scores a session. The same trace gives the same bytes, whatever the order in which its batches arrived. Never throws on
 * batches that `readBeacon` accepted.
 */
export function scoreTrace({ batches, isReplay, ...source }: Trace): Judgement {
  const documents = createDocuments();
  documents.add(batches);
  return createScorer(source, documents)(isReplay);
}

/** Says how the parts of a session look. The same trace gives the same bytes. */
export function scoreSegments({ batches, isReplay: _, ...source }: Trace): ScoredSegment[] {
  const documents = createDocuments();
  documents.add(batches);
  return createScorer(source, documents).listSegments();
}

/**
 * Creates a function that scores a session while batches are added to its documents. Each score is the one that
 * `scoreTrace` gives to all batches. What follows from segments that did not change is remembered, so a score costs what is
 * new. Whether the input was seen before is looked up elsewhere.
 */
export function createScorer(source: TraceSource, documents: TraceDocuments): Scorer {
  const read = createTraceReader(documents);
  const known = new WeakMap<Segment, Part>();
  let scored: readonly Segment[] = [];
  /** The features of the first segments, put together, and what they were put together from. */
  let beginning: { parts: Part[]; features: Features | null } = { parts: [], features: null };

  /** Judges a segment, unless it is as it was when it was judged before. */
  function judgeSegment(segment: Segment): Part {
    let part = segment.deeds.isChanged ? undefined : known.get(segment);
    if (!part) {
      part = judgePart(sumUpDeeds(source, segment.deeds));
      segment.deeds.isChanged = false;
      known.set(segment, part);
    }
    if (segment.isOver) segment.deeds = FORGOTTEN;
    return part;
  }

  /** Puts the features of all parts together. */
  function mergeParts(parts: readonly Part[], unchanged: number): Features {
    const { parts: merged } = beginning;
    if (merged.length > unchanged || merged.some((part, i) => part !== parts[i]))
      beginning = { parts: [], features: null };
    for (const part of parts.slice(beginning.parts.length, unchanged)) {
      beginning.features = addPart(beginning.features, part);
      beginning.parts.push(part);
    }
    const whole = parts.slice(unchanged).reduce(addPart, beginning.features);
    return whole ?? sumUpDeeds(source, createDeeds());
  }

  function score(isReplay: boolean | null = null): Judgement {
    const { segments, telemetry } = read();
    const firstChanged = segments.findIndex(({ deeds }) => deeds.isChanged);
    const parts = segments.map(judgeSegment);
    scored = segments;
    const features = mergeParts(parts, firstChanged < 0 ? parts.length : firstChanged);
    return judgeSession({ ...features, telemetry, isReplay }, parts);
  }

  function listSegments(): ScoredSegment[] {
    const { segments } = read();
    const parts = judgeTogether(segments.map(judgeSegment));
    const judged = segments.map(({ startMs }, index) => ({ startMs, part: parts[index]! }));
    return joinSegments(judged.filter(({ part }) => part.isBehaviour));
  }

  function countMeasured(): MeasuredDeeds {
    const counts = { keys: 0, presses: 0, insertions: 0, focuses: 0 };
    for (const { deeds } of scored) {
      counts.keys += deeds.keys.length;
      counts.presses += deeds.presses.length;
      counts.insertions += deeds.insertions.length;
      counts.focuses += deeds.focuses.length;
    }
    return counts;
  }

  return Object.assign(score, { countMeasured, listSegments });
}

/** Stands for deeds that were summed up and cannot change, so that a long session does not keep them. */
const FORGOTTEN: Deeds = Object.assign(createDeeds(), { isChanged: false });

/** Joins neighbours until there are at most MAX_SEGMENTS. Together they have the mean of their log odds. */
function joinSegments(judged: readonly { startMs: number; part: Part }[]): ScoredSegment[] {
  const size = Math.max(1, Math.ceil(judged.length / MAX_SEGMENTS));
  return Array.from({ length: Math.ceil(judged.length / size) }, (_, index) => {
    const joined = judged.slice(index * size, (index + 1) * size);
    const logOdds = joined.reduce((sum, { part }) => sum + judgeAlone(part), 0) / joined.length;
    return { startedAt: new Date(joined[0]!.startMs).toISOString(), logOdds: round(logOdds) };
  });
}

/** The log odds of a segment by itself. With too little to judge, it stays below `bot` unless there is proof. */
const judgeAlone = ({ found, features }: Part) =>
  computeLogOdds(
    RULES.map((_, index) => found.includes(index)),
    isInsufficient(features),
  );

/** A segment as the rules see it. It never changes. */
interface Part {
  features: Features;
  outcomes: RuleOutcome[];
  /** The places of the rules that found something. */
  found: number[];
  /** Whether a rule on behaviour could measure something. */
  isBehaviour: boolean;
}

function judgePart(features: Features): Part {
  const outcomes = judgeFeatures(features);
  const found = [...outcomes.keys()].filter((index) => outcomes[index]!.state === 'found');
  const isBehaviour = outcomes.some(({ state }, index) => state !== 'notMeasured' && BEHAVIOUR[index]);
  return { features, outcomes, found, isBehaviour };
}

/** What one part of a session shows of the person, and what the others are judged with then. */
interface Trait {
  shows(features: Features): boolean;
  /** Whether a part without it may be judged otherwise with it. */
  matters(features: Features): boolean;
  assumed: Partial<Features>;
}

const TRAITS: readonly Trait[] = [
  {
    shows: ({ assistedCount }) => assistedCount > 0,
    matters: ({ simulatedPresses }) => simulatedPresses.count > 0,
    assumed: { assistedCount: 1 },
  },
  // Keyboards on the screen write long after a touch, also on the next page.
  { shows: ({ hasTouch }) => hasTouch, matters: () => true, assumed: { hasTouch: true } },
  { shows: ({ hasMouse }) => hasMouse, matters: mayHaveTouch, assumed: { hasMouse: true } },
  { shows: isTapping, matters: ({ keyHolds }) => keyHolds.times.count > 0, assumed: { isTapped: true } },
];

/** Parts as they were last judged with what other parts show. */
const supplemented = new WeakMap<Part, { missing: readonly Trait[]; judged: Part }>();

/** Judges parts of one session. A screen reader, a touch screen or a mouse that one of them shows is in use in all of them. */
function judgeTogether(parts: readonly Part[]): readonly Part[] {
  const shown = TRAITS.filter(({ shows }) => parts.some(({ features }) => shows(features)));
  return parts.map((part) => {
    const missing = shown.filter(({ shows, matters }) => !shows(part.features) && matters(part.features));
    if (missing.length === 0) return part;
    const known = supplemented.get(part);
    if (known?.missing.length === missing.length && missing.every((trait, index) => trait === known.missing[index]))
      return known.judged;
    const judged = judgePart(Object.assign({ ...part.features }, ...missing.map(({ assumed }) => assumed)));
    supplemented.set(part, { missing, judged });
    return judged;
  });
}

const addPart = (whole: Features | null, { features }: Part): Features =>
  whole === null ? features : mergeFeatures(whole, features);

function judgeSession(features: Features, parts: readonly Part[]): Judgement {
  const whole = judgePart(features);
  const worst = findWorst(whole, parts.length > 1 ? judgeTogether(parts) : []);
  const outcomes = RULES.map((_, index) => joinOutcomes(whole.outcomes[index]!, worst.parts, index));
  const counted = countFound(outcomes.map(({ state }) => state === 'found'));
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

const INSUFFICIENT = RULES.findIndex(({ rule }) => rule.flag === 'insufficient-evidence');
const BEHAVIOUR = RULES.map(
  ({ rule, weight }) => weight > 0 && rule.group !== 'environment' && rule.group !== 'network',
);
const STATES = ['found', 'notFound', 'notMeasured'];

const judgeFeatures = (features: Features): RuleOutcome[] => RULES.map(({ rule }) => rule.judge(features));

/**
 * Finds the log odds of the whole session, or of its worst segments if these are worse. Among many segments one looks odd
 * by chance, so the worst k of n count by ln(n / k) less.
 */
function findWorst(whole: Part, all: readonly Part[]): { logOdds: number; parts: Part[] } {
  const isThin = whole.found.includes(INSUFFICIENT);
  const isInWhole = RULES.map((_, index) => whole.found.includes(index));
  const ofWhole = computeLogOdds(isInWhole, isThin);
  const parts = all.filter(({ isBehaviour }) => isBehaviour);
  const isOdd = ({ found }: Part) => found.some((index) => !isInWhole[index]);
  // What was found in the whole session counts in each segment too, so most segments are like it.
  if (!parts.some(isOdd)) return { logOdds: ofWhole, parts: [] };
  /** The log odds by what a segment has found. Most segments have found the same. */
  const known = new Map<string, number>();
  const judge = (part: Part): number => {
    if (!isOdd(part)) return ofWhole;
    const key = part.found.join();
    let logOdds = known.get(key);
    if (logOdds === undefined) {
      const isFound = isInWhole.map((isFound, index) => isFound || part.found.includes(index));
      logOdds = computeLogOdds(isFound, isThin);
      known.set(key, logOdds);
    }
    return logOdds;
  };
  const ranked = parts.map((part) => ({ part, logOdds: judge(part) })).sort((a, b) => b.logOdds - a.logOdds);
  let worst = { logOdds: ofWhole, count: 0 };
  for (const [index, { logOdds }] of ranked.entries()) {
    const corrected = logOdds - Math.log(ranked.length / (index + 1));
    if (corrected > worst.logOdds) worst = { logOdds: corrected, count: index + 1 };
  }
  return { logOdds: worst.logOdds, parts: ranked.slice(0, worst.count).map(({ part }) => part) };
}

/** Joins what a rule says of the session and of its worst segments: what was found, else what it says of the session. */
function joinOutcomes(whole: RuleOutcome, parts: readonly Part[], index: number): RuleOutcome {
  if (whole.state === 'found') return whole;
  const found = parts.flatMap(({ outcomes }) => {
    const outcome = outcomes[index]!;
    return outcome.state === 'found' ? [outcome] : [];
  });
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
