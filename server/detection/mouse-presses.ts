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

/** What is counted of presses of a mouse that neither a script nor assistive technology made, and of touches. */
export interface MousePresses {
  count: number;
  /** Presses without pressure. */
  pressureless: Share;
  /** Presses between two pixels, of the page and of the screen. */
  betweenPixels: Share;
  /** Among those that were aimed at elements that are large enough: in the exact middle. */
  centred: Share;
  /** Both there and between two pixels, among those of them whose element cannot follow the mouse. */
  fractionalMiddles: Share;
  /** Those to which the mouse did not move, among those that are far from the press before. */
  unapproached: Share;
  /** All that were released. */
  released: Share;
  /** Those that were aimed, and released at once in the exact middle. */
  hasty: Share;
  holds: Sample;
  /** The screen offsets, and the places in the page. Null without presses. */
  screenOffsets: PointRange | null;
  places: PointRange | null;
  /** Those on a page that is partly beyond the screen that it tells of. */
  beyondScreen: Share;
}

export interface PointRange {
  first: Point;
  least: Point;
  most: Point;
}

const isTrustedMouse = ({ pointer, isTrusted }: Press) => pointer === 'mouse' && isTrusted;

/**
 * Whether assistive technology may have made a press: without pressure, and nothing shows a pointer. Its place and length
 * say little: a screen reader can press a child that is not in the middle of its link, and handlers of a slow page can take
 * any time.
 */
const canBeSimulated = ({ hasPressure, isOfPointer }: Press): boolean => !hasPressure && !isOfPointer;

/** Whether it is a press of a mouse that neither a script nor assistive technology made. */
export const isOfMouse = (press: Press): boolean => isTrustedMouse(press) && !canBeSimulated(press);

/** A finger holds a button longer. */
export const MIN_PRESSED_MS = 12;
const MAX_SIMULATED_MS = 1;
const MAX_HANDLED_MS = 100;

/**
 * Whether a press looks exactly like those of assistive technology: released at once, in the middle of the element, and far
 * from the press before without a move. The release waits until the page has handled the press.
 */
function isOutOfNowhere({ heldMs, isCentred, isFractional, isApproached, hasMoved }: Press): boolean {
  if (heldMs === null || hasMoved || isApproached !== false) return false;
  const isMiddle = isCentred !== false && !isFractional;
  return heldMs < (isMiddle ? MAX_HANDLED_MS : MAX_SIMULATED_MS);
}

/**
 * Whether assistive technology pressed for somebody. For an element within a line of text, Chromium puts the mouse at the origin
 * of the page.
 */
const isAssisted = (press: Press): boolean => press.isFocusedBefore || press.isNowhere || isOutOfNowhere(press);

/** The presses in a segment or a session. `findPresses` says which of those of a mouse count. */
export interface PressesByOrigin {
  mousePresses: MousePresses;
  /** Presses that assistive technology may have made. Programs press so, too. */
  simulatedPresses: MousePresses;
  /** Touches. They count only on a screen that a program emulates: see `findPointed`. */
  touchPresses: MousePresses;
  /** How many of them it made. */
  assistedCount: number;
  /** How many presses without pressure a pointer made. Devices have pressure, so a program drives it. */
  drivenCount: number;
}

export function sortPresses(presses: readonly Press[]): PressesByOrigin {
  const own = presses.filter(isOfMouse);
  const simulated = presses.filter((press) => isTrustedMouse(press) && canBeSimulated(press));
  return {
    mousePresses: sumUpPresses(own),
    simulatedPresses: sumUpPresses(simulated),
    touchPresses: sumUpPresses(presses.filter(({ pointer, isTrusted }) => pointer === 'touch' && isTrusted)),
    assistedCount: simulated.filter(isAssisted).length,
    drivenCount: own.filter(({ hasPressure }) => !hasPressure).length,
  };
}

/** One alone can be a page that moves the focus when assistive technology presses. */
const MIN_DRIVEN = 2;

/**
 * Finds what rules read of the presses. Those that assistive technology may have made count only if a program shows, and
 * assistive technology does not.
 */
export const findPresses = <Name extends keyof MousePresses>(
  { mousePresses, simulatedPresses, assistedCount, drivenCount }: PressesByOrigin,
  name: Name,
): MousePresses[Name] =>
  assistedCount === 0 && drivenCount >= MIN_DRIVEN
    ? PRESS_MERGES[name](mousePresses[name], simulatedPresses[name])
    : mousePresses[name];

function sumUpPresses(presses: readonly Press[]): MousePresses {
  const released = presses.filter(({ heldMs }) => heldMs !== null);
  const large = presses.filter(({ isCentred, isAimed }) => isCentred !== null && isAimed);
  return {
    count: presses.length,
    pressureless: countShare(presses, ({ hasPressure }) => !hasPressure),
    betweenPixels: countShare(presses, ({ isBetweenPixels }) => isBetweenPixels),
    centred: countShare(large, ({ isCentred }) => isCentred === true),
    fractionalMiddles: countShare(
      large.filter(({ canFollow }) => !canFollow),
      ({ isCentred, isFractional }) => isCentred === true && isFractional,
    ),
    unapproached: countShare(
      presses.filter(({ isApproached }) => isApproached !== null),
      ({ isApproached }) => isApproached === false,
    ),
    released: countShare(released, () => true),
    hasty: countShare(
      released,
      ({ heldMs, isCentred, isAimed }) => heldMs! < MIN_PRESSED_MS && isCentred === true && isAimed,
    ),
    holds: takeSample(released.map(({ heldMs }) => heldMs!)),
    screenOffsets: findRange(presses.map(({ screenOffset }) => screenOffset)),
    places: findRange(presses.map(({ place }) => place)),
    beyondScreen: countShare(presses, ({ isBeyondScreen }) => isBeyondScreen),
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

/** How what is counted of two parts is put together. */
export const PRESS_MERGES: { [Name in keyof MousePresses]: Merge<MousePresses[Name]> } = {
  count: add,
  pressureless: mergeShares,
  betweenPixels: mergeShares,
  centred: mergeShares,
  fractionalMiddles: mergeShares,
  unapproached: mergeShares,
  released: mergeShares,
  hasty: mergeShares,
  holds: mergeSamples,
  screenOffsets: mergeRanges,
  places: mergeRanges,
  beyondScreen: mergeShares,
};

/** Puts the presses of two parts of a session together. */
export const mergePresses = mergeFields<MousePresses>(PRESS_MERGES);
