import type { Press } from './deeds';
import {
  add,
  countShare,
  mergeFields,
  mergeSamples,
  mergeShares,
  type Sample,
  type Share,
  takeSample,
} from './statistics';

/** The presses of a mouse that neither a script nor assistive technology made. */
export interface MousePresses {
  count: number;
  /** Presses without pressure. */
  pressureless: Share;
  fractional: Share;
  /** Among those on elements that are large enough. */
  centred: Share;
  /** Those to which the mouse did not move, among those that are far from the press before. */
  unapproached: Share;
  /** All that were released. */
  released: Share;
  /** Those that were released at once and are odd in another way too: in the exact middle, or between two pixels. */
  hasty: Share;
  holds: Sample;
  /** The screen offset of the first press, and the range of all of them. Null without presses. */
  screenOffsets: { first: Point; least: Point; most: Point } | null;
}

interface Point {
  x: number;
  y: number;
}

/** Whether it is a press of a mouse that neither a script nor assistive technology made. */
export const isOfMouse = (press: Press): boolean => press.pointer === 'mouse' && press.isTrusted && !isAssisted(press);

const MAX_ASSISTED_MS = 1;

/**
 * Whether assistive technology pressed for somebody. If a screen reader asks for the action of an element, Chromium makes
 * the events of a mouse: without pressure, in the middle, released at once, and without a move. Programs that drive a
 * browser move first, or hold longer.
 */
const isAssisted = ({ hasPressure, hasMoved, heldMs }: Press): boolean =>
  !hasPressure && !hasMoved && heldMs !== null && heldMs < MAX_ASSISTED_MS;

/** A finger holds a button longer. */
const MIN_PRESSED_MS = 12;

/** Sums up presses of a mouse. */
export function sumUpPresses(presses: readonly Press[]): MousePresses {
  const released = presses.filter(({ heldMs }) => heldMs !== null);
  return {
    count: presses.length,
    pressureless: countShare(presses, ({ hasPressure }) => !hasPressure),
    fractional: countShare(presses, ({ isFractional }) => isFractional),
    centred: countShare(
      presses.filter(({ isCentred }) => isCentred !== null),
      ({ isCentred }) => isCentred === true,
    ),
    unapproached: countShare(
      presses.filter(({ isApproached }) => isApproached !== null),
      ({ isApproached }) => isApproached === false,
    ),
    released: countShare(released, () => true),
    hasty: countShare(
      released,
      ({ heldMs, isCentred, isFractional }) => heldMs! < MIN_PRESSED_MS && (isCentred === true || isFractional),
    ),
    holds: takeSample(released.map(({ heldMs }) => heldMs!)),
    screenOffsets: presses.reduce<MousePresses['screenOffsets']>(
      (range, { screenOffset: at }) => mergeOffsets(range, { first: at, least: at, most: at }),
      null,
    ),
  };
}

function mergeOffsets(
  one: MousePresses['screenOffsets'],
  other: MousePresses['screenOffsets'],
): MousePresses['screenOffsets'] {
  if (one === null || other === null) return one ?? other;
  return {
    first: one.first,
    least: { x: Math.min(one.least.x, other.least.x), y: Math.min(one.least.y, other.least.y) },
    most: { x: Math.max(one.most.x, other.most.x), y: Math.max(one.most.y, other.most.y) },
  };
}

/** Puts the presses of two parts of a session together. */
export const mergePresses = mergeFields<MousePresses>({
  count: add,
  pressureless: mergeShares,
  fractional: mergeShares,
  centred: mergeShares,
  unapproached: mergeShares,
  released: mergeShares,
  hasty: mergeShares,
  holds: mergeSamples,
  screenOffsets: mergeOffsets,
});
