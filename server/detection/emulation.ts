import { type BeaconEnvironment, ENVIRONMENT_BITS } from '../../contract/beacon';
import type { Point } from './deeds';
import { findPresses, type MousePresses, PRESS_MERGES, type PressesByOrigin } from './mouse-presses';

// Programs that emulate the screen of a phone, or of another size, let the page believe that it fills its window and is as wide as its
// screen. What is pressed keeps its place on the real screen, though: below the bars of the real window. So the page would reach
// beyond the screen that it tells of.

/** Sizes are sent at the end of a batch and after half a minute: a page may have been in full screen then, and not at a press. */
const MIN_PRESSES = 3;
/** The bars of a window are higher. Browsers that hide the screen for privacy are off by fewer pixels. */
const MIN_BARS_PX = 60;
const MIN_BEYOND_PX = 10;

/**
 * Whether a page fills its window, and reaches beyond its screen. Only Chromium on a computer is asked: it has brands, and plugins
 * that show PDF files. An application on a phone can be told that its part of the screen is all of it.
 */
export function isBeyondScreen(environment: BeaconEnvironment | undefined, offset: Point): boolean {
  if (environment === undefined || offset.y < MIN_BARS_PX) return false;
  const { v, h, b, r } = environment;
  const [outerWidth, outerHeight, innerWidth, innerHeight, screenWidth, screenHeight, availableHeight] = v;
  const isSame = (one: number, other: number) => Math.abs(one - other) <= 1;
  const fillsWindow = isSame(outerWidth, innerWidth) && isSame(outerHeight, innerHeight);
  // Most systems keep room for a bar on the screen, also while a page is in full screen.
  if (!fillsWindow || !isSame(innerWidth, screenWidth) || !isSame(screenHeight, availableHeight)) return false;
  const beyondPx = Math.max(offset.x, offset.y + innerHeight - screenHeight);
  return beyondPx >= MIN_BEYOND_PX && r !== '' && h[3] > 0 && (b & ENVIRONMENT_BITS.framed) === 0;
}

/** Presses so far apart show a page that is pinched: their places on the screen are farther apart than those in the page. */
const MIN_SPREAD_PX = 64;
const PINCH_TOLERANCE_PX = 3;

/** Finds how far below the top of its window a page is whose screen a program emulates. Null if nothing shows that. */
export function findEmulation({ mousePresses, touchPresses }: PressesByOrigin): number | null {
  const join = <Name extends keyof MousePresses>(name: Name) =>
    PRESS_MERGES[name](mousePresses[name], touchPresses[name]);
  const { count, marked } = join('beyondScreen');
  if (count < MIN_PRESSES || marked < count) return null;
  const [offsets, places] = [join('screenOffsets')!, join('places')!];
  const isPinched = (['x', 'y'] as const).some((axis) => offsets.most[axis] - offsets.least[axis] > PINCH_TOLERANCE_PX);
  const spread = Math.max(places.most.x - places.least.x, places.most.y - places.least.y);
  return !isPinched && spread >= MIN_SPREAD_PX ? offsets.least.y : null;
}

/** Finds what rules read of the presses of a mouse, and of touches on a screen that a program emulates, where no finger can be. */
export const findPointed = <Name extends keyof MousePresses>(
  presses: PressesByOrigin,
  name: Name,
): MousePresses[Name] =>
  findEmulation(presses) === null
    ? findPresses(presses, name)
    : PRESS_MERGES[name](findPresses(presses, name), presses.touchPresses[name]);
