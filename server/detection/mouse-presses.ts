import type { Point, Press } from './deeds';
import {
  add,
  countShare,
  type Merge,
  mergeFields,
  mergeSamples,
  mergeShares,
  type Sample,
  type Share,
  takeSample,
} from './statistics';

/** What is counted of presses of a mouse that neither a script nor assistive technology made. */
export interface MousePresses {
  count: number;
  /** Presses without pressure. */
  pressureless: Share;
  /** Presses between two pixels. */
  fractional: Share;
  /** Among those on elements that are large enough: in the exact middle, and both there and between two pixels. */
  centred: Share;
  fractionalMiddles: Share;
  /** Those to which the mouse did not move, among those that are far from the press before. */
  unapproached: Share;
  /** All that were released. */
  released: Share;
  /** Those that were released at once and in the exact middle. */
  hasty: Share;
  holds: Sample;
  /** The screen offsets, and the places in the page. Null without presses. */
  screenOffsets: PointRange | null;
  places: PointRange | null;
}

interface PointRange {
  first: Point;
  least: Point;
  most: Point;
}

/** Whether it is a press of a mouse that neither a script nor assistive technology made. */
export const isOfMouse = (press: Press): boolean => isTrustedMouse(press) && !isAssisted(press);

const isTrustedMouse = ({ pointer, isTrusted }: Press) => pointer === 'mouse' && isTrusted;

/** A finger holds a button longer. */
const MIN_PRESSED_MS = 12;
const MAX_SIMULATED_MS = 1;
const MAX_HANDLED_MS = 100;

/**
 * Whether a press is like those of assistive technology. If a screen reader asks for the action of an element, Chromium
 * makes the events of a mouse: without pressure, released at once, and in the middle of the element. An element in a line of
 * text has none: there the mouse is at the origin of the page. The release waits until the page has handled the press.
 */
function isSimulated({ hasPressure, heldMs, isCentred, isFractional, isNowhere }: Press): boolean {
  if (hasPressure || heldMs === null) return false;
  const isMiddle = isCentred !== false && !isFractional;
  return isNowhere || heldMs < (isMiddle ? MAX_HANDLED_MS : MAX_SIMULATED_MS);
}

/** Whether assistive technology pressed for somebody: without a move, too. Programs that drive a browser move first, or hold longer. */
const isAssisted = (press: Press): boolean => isSimulated(press) && !press.hasMoved;

/**
 * Whether assistive technology may have made a press: without pressure, on whole pixels. Handlers of a slow page can take any
 * time, and a screen reader can press a child that is not in the middle of its link.
 */
const canBeSimulated = (press: Press): boolean => isSimulated(press) || (!press.hasPressure && !press.isFractional);

/** The presses of a mouse in a segment or a session. `findPresses` says which of them count. */
export interface PressesByOrigin {
  mousePresses: MousePresses;
  /** Presses that assistive technology may have made, though a move or a longer hold leaves it open. Programs press so, too. */
  simulatedPresses: MousePresses;
  /** How many presses no mouse can have made: where the element is not, or far from the press before without a move. */
  assistedCount: number;
}

export function sortPresses(presses: readonly Press[]): PressesByOrigin {
  const own = presses.filter(isOfMouse);
  const simulated = presses.filter((press) => isTrustedMouse(press) && isSimulated(press));
  return {
    mousePresses: sumUpPresses(own.filter((press) => !canBeSimulated(press))),
    simulatedPresses: sumUpPresses(own.filter(canBeSimulated)),
    assistedCount: simulated.filter((press) => press.isNowhere || (isAssisted(press) && press.isApproached === false))
      .length,
  };
}

/**
 * Finds what rules read of the presses. Some presses of assistive technology are like those of programs: the mouse moves
 * before them, or the page holds them up. Where others show that it is in use, these do not count either.
 */
export const findPresses = <Name extends keyof MousePresses>(
  { mousePresses, simulatedPresses, assistedCount }: PressesByOrigin,
  name: Name,
): MousePresses[Name] =>
  assistedCount > 0 ? mousePresses[name] : MERGES[name](mousePresses[name], simulatedPresses[name]);

function sumUpPresses(presses: readonly Press[]): MousePresses {
  const released = presses.filter(({ heldMs }) => heldMs !== null);
  const large = presses.filter(({ isCentred }) => isCentred !== null);
  return {
    count: presses.length,
    pressureless: countShare(presses, ({ hasPressure }) => !hasPressure),
    fractional: countShare(presses, ({ isFractional }) => isFractional),
    centred: countShare(large, ({ isCentred }) => isCentred === true),
    fractionalMiddles: countShare(large, ({ isCentred, isFractional }) => isCentred === true && isFractional),
    unapproached: countShare(
      presses.filter(({ isApproached }) => isApproached !== null),
      ({ isApproached }) => isApproached === false,
    ),
    released: countShare(released, () => true),
    hasty: countShare(released, ({ heldMs, isCentred }) => heldMs! < MIN_PRESSED_MS && isCentred === true),
    holds: takeSample(released.map(({ heldMs }) => heldMs!)),
    screenOffsets: findRange(presses.map(({ screenOffset }) => screenOffset)),
    places: findRange(presses.map(({ place }) => place)),
  };
}

const findRange = (points: readonly Point[]): PointRange | null =>
  points.reduce<PointRange | null>((range, at) => mergeRanges(range, { first: at, least: at, most: at }), null);

function mergeRanges(one: PointRange | null, other: PointRange | null): PointRange | null {
  if (one === null || other === null) return one ?? other;
  return {
    first: one.first,
    least: { x: Math.min(one.least.x, other.least.x), y: Math.min(one.least.y, other.least.y) },
    most: { x: Math.max(one.most.x, other.most.x), y: Math.max(one.most.y, other.most.y) },
  };
}

const MERGES: { [Name in keyof MousePresses]: Merge<MousePresses[Name]> } = {
  count: add,
  pressureless: mergeShares,
  fractional: mergeShares,
  centred: mergeShares,
  fractionalMiddles: mergeShares,
  unapproached: mergeShares,
  released: mergeShares,
  hasty: mergeShares,
  holds: mergeSamples,
  screenOffsets: mergeRanges,
  places: mergeRanges,
};

/** Puts the presses of two parts of a session together. */
export const mergePresses = mergeFields<MousePresses>(MERGES);
