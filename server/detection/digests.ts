import { createHash } from 'node:crypto';
import type { Deeds, Press } from './deeds';
import { type Features, mergeFeatures, sumUpDeeds } from './features';
import type { Keystroke } from './keystroke';
import { isOfMouse } from './mouse-presses';
import { hasCoarseClock } from './rules/rule';
import { isSlowTyping } from './rules/typing';
import { readTrace } from './segments';
import type { Trace } from './trace';
import { isTyped } from './typing';

// Digests of what was typed and pressed, by which a second session with the same input is recognised. A program that repeats a
// recording is late by a few milliseconds now and then, so times are rounded coarsely, and a trace has several digests of
// overlapping stretches, of which some survive. A stretch is digested only if it is so distinctive that no other person would make
// it by chance.

/** How many digests two sessions must share, to be one input. */
export const MIN_SHARED_DIGESTS = 2;
/** A stretch has at least this much information, as far as that can be estimated. */
const MIN_BITS = 48;
/** The digests of a trace: those with the smallest values, so that two traces choose the same ones. */
const MAX_KEY_DIGESTS = 12;
const MAX_PRESS_DIGESTS = 4;
/** What is looked at: hours of typing give no better digests. */
const MAX_TOKENS = 4_000;
const KEY_STEP_MS = 50;
const HOLD_STEP_MS = 50;
const PAUSE_STEP_MS = 100;
const MAX_RHYTHM_BITS = 3;
const MAX_PLACE_BITS = 8;
const MAX_PAUSE_MS = 60_000;

interface Token {
  text: string;
  bits: number;
}

/** Digests a trace: signed numbers of 64 bits. Empty if it has too little that is distinctive. */
export function digestTrace(trace: Trace): bigint[] {
  const segments = readTrace(trace).segments.map(({ deeds }) => deeds);
  const parts = segments.map((deeds) => sumUpDeeds({ userAgent: trace.userAgent }, deeds));
  return parts.length === 0 ? [] : digestDeeds(segments, parts.reduce(mergeFeatures));
}

/** Digests what was done in the segments of a session, which has these features. */
export function digestDeeds(segments: readonly Deeds[], whole: Features): bigint[] {
  // Rounded times, and keys that are chosen one after the other, leave nothing distinctive.
  if (hasCoarseClock(whole)) return [];
  const keys = isSlowTyping(whole.keyIntervals)
    ? []
    : describeStrokes(segments.flatMap((deeds) => deeds.keys.filter(isTyped)));
  const presses = describePresses(segments.flatMap((deeds) => deeds.presses.filter(isOfMouse)));
  return [
    ...chooseDigests(digestStretches('keys', keys), MAX_KEY_DIGESTS),
    ...chooseDigests(digestStretches('presses', presses), MAX_PRESS_DIGESTS),
  ];
}

const round = (value: number | null, step: number) => (value === null ? 'x' : Math.floor(value / step));

/**
 * Typing in a beat, as a program or a macro does, has no information: a frequent pair of times says little, and nothing if
 * it came twice just before. Many people have the same text typed for them, among what they type themselves.
 */
function describeStrokes(strokes: readonly Keystroke[]): Token[] {
  const sorted = strokes.toSorted((a, b) => a.atMs - b.atMs).slice(0, MAX_TOKENS);
  const rhythms = sorted.map(
    ({ heldMs, intervalMs }) => `${round(heldMs, HOLD_STEP_MS)} ${round(intervalMs, KEY_STEP_MS)}`,
  );
  const counts = countTexts(rhythms);
  return sorted.map(({ kind, intervalMs }, i) => {
    const rhythm = rhythms[i]!;
    const isBeat = rhythm === rhythms[i - 1] && rhythm === rhythms[i - 2];
    const isTelling = intervalMs !== null && !isBeat;
    const bits = isTelling ? Math.min(MAX_RHYTHM_BITS, Math.log2(sorted.length / counts.get(rhythm)!)) : 0;
    return { text: `${kind} ${rhythm}`, bits };
  });
}

/** Presses in the exact middle are those of programs and of voice control, and all of these are alike. */
function describePresses(presses: readonly Press[]): Token[] {
  const sorted = presses
    .filter(({ isCentred }) => isCentred === false)
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, MAX_TOKENS);
  const places = sorted.map(({ offset10: { x, y } }) => `${x} ${y}`);
  const rhythms = sorted.map(({ heldMs, atMs }, i) => {
    const pauseMs = i === 0 ? Number.POSITIVE_INFINITY : atMs - sorted[i - 1]!.atMs;
    return `${round(heldMs, HOLD_STEP_MS)} ${round(pauseMs > MAX_PAUSE_MS ? null : pauseMs, PAUSE_STEP_MS)}`;
  });
  const [placeCounts, rhythmCounts] = [countTexts(places), countTexts(rhythms)];
  return sorted.map((press, i) => {
    const [place, rhythm] = [places[i]!, rhythms[i]!];
    const placeBits = placeCounts.get(place)! > 1 ? 0 : measurePlace(press);
    const bits = placeBits + Math.min(MAX_RHYTHM_BITS, Math.log2(sorted.length / rhythmCounts.get(rhythm)!));
    return { text: `${place} ${rhythm}`, bits };
  });
}

/** The larger an element, the more places it has. People prefer its middle, so a few bits are taken off. */
const measurePlace = ({ areaPx }: Press) => Math.max(0, Math.min(MAX_PLACE_BITS, Math.log2(Math.max(areaPx, 1)) - 4));

function countTexts(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/**
 * The most tokens of a stretch; people need about 16 keys or 5 presses. Input whose tokens are nearly all alike would need thousands,
 * from each of thousands of starts.
 */
const MAX_STRETCH_TOKENS = 200;

/** Digests, from each token on, the shortest stretch with enough information. Longer ones than the maximum have no digest. */
function digestStretches(what: string, tokens: readonly Token[]): bigint[] {
  const digests: bigint[] = [];
  let end = 0;
  let bits = 0;
  for (const [start, token] of tokens.entries()) {
    while (end < tokens.length && bits < MIN_BITS) bits += tokens[end++]!.bits;
    if (bits < MIN_BITS) break;
    if (end - start <= MAX_STRETCH_TOKENS) {
      const text = tokens.slice(start, end).map((each) => each.text);
      digests.push(
        createHash('sha256')
          .update([what, ...text].join('\n'))
          .digest()
          .readBigInt64BE(),
      );
    }
    bits -= token.bits;
  }
  return digests;
}

const chooseDigests = (digests: readonly bigint[], count: number): bigint[] =>
  [...new Set(digests)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).slice(0, count);
