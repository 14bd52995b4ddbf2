import type { BeaconEnvironment } from '../../../contract/beacon';
import type { Finding } from '../../../contract/evidence';
import type { Features, Sighting } from '../features';
import { findPresses, MIN_PRESSED_MS } from '../mouse-presses';
import { computeMedian, type Moments, type Share } from '../statistics';
import type { PeopleGroup } from './people';

// What a rule is. Each rule is one file next to this one. Its words are written into docs/detection.md. A rule that is in doubt
// answers NOT_MEASURED: to accuse a person is the worst fault that this product can have.

export interface Rule {
  /** The name that `detectionFlags` shows. */
  flag: string;
  group: Finding['group'];
  /** The usual range, in words. */
  expected: string;
  /** What it sees, and what looks like it but does not count. */
  sees: string;
  /** What it needs before it may find anything. */
  needs: string;
  /** What it means, for readers who are no engineers: two sentences. */
  plainly: string;
  /** Whom it exempts, and how. */
  exempts: Partial<Record<PeopleGroup, string>>;
  /** Which people it may also flag, and why. Such a rule never decides alone. */
  touches: Partial<Record<PeopleGroup, string>>;
  reference: string | null;
  judge(features: Features): RuleOutcome;
}

export type RuleOutcome =
  | {
      state: 'found' | 'notFound';
      measured: number | string;
      /** When it was seen, in the server's time. */
      momentsMs: Moments;
      /** What the flag names after a colon. */
      name?: string;
    }
  | { state: 'notMeasured' };

export const NOT_MEASURED: RuleOutcome = { state: 'notMeasured' };

export function decide(isFound: boolean, measured: number | string, momentsMs: Moments): RuleOutcome {
  return { state: isFound ? 'found' : 'notFound', measured, momentsMs: isFound ? momentsMs : [] };
}

/** Judges how many of some things are marked: `needed` are enough to judge, `share` of them are too many. */
export function judgeShare(
  { count, marked, momentsMs }: Share,
  { needed, share }: { needed: number; share: number },
): RuleOutcome {
  if (count < needed) return NOT_MEASURED;
  const measured = marked / count;
  return decide(measured >= share, measured, momentsMs);
}

export const listMoments = (seen: readonly Sighting<unknown>[]): number[] => seen.flatMap(({ momentsMs }) => momentsMs);

export const isChromium = ({ userAgent }: Features): boolean => /Chrome\/|Chromium\//.test(userAgent);
export const isFirefox = ({ userAgent }: Features): boolean => /Firefox\//.test(userAgent);
/** Not Android, which says Linux too. */
export const isLinux = ({ userAgent }: Features): boolean =>
  userAgent.includes('Linux') && !userAgent.includes('Android');
/** Whether the screen is one for touch, or may be one because nothing is known of it. */
export const mayHaveTouch = ({ environments }: Features): boolean =>
  environments.length === 0 || environments.some(({ thing }) => thing.h[2] !== 0);
/** An iPad asks for the desktop site, as Safari on a Macintosh. A Macintosh has no touch screen. */
export const isAppleMobile = (features: Features): boolean =>
  /iPhone|iPad|iPod/.test(features.userAgent) ||
  (features.userAgent.includes('Macintosh') && !isChromium(features) && !isFirefox(features) && mayHaveTouch(features));
/** Not an Android that asks for the desktop site: it says what Linux says. */
export const isMobile = (features: Features): boolean =>
  /Android|Mobile|Tablet/.test(features.userAgent) || isAppleMobile(features);
/**
 * Whether a keyboard on the screen may write. It may before anybody has touched the page, too: the page can put the focus into a
 * field, and the pixel can come late. Who presses with a mouse has a keyboard.
 */
export const mayTypeOnScreen = (features: Features): boolean =>
  features.hasTouch ||
  isMobile(features) ||
  (!features.hasMouse && features.environments.some(({ thing }) => thing.h[2] > 0));
export const isWindows = ({ userAgent }: Features): boolean => userAgent.includes('Windows NT');

/** Whether the page is in a frame, whose sizes and scale say nothing about the window. */
export const isFramed = ({ environments }: Features): boolean => environments.some(({ thing }) => (thing.b & 1) !== 0);

const PINCH_TOLERANCE_PX = 3;

/**
 * Whether a CSS pixel was a pixel of the screen all the time: pixel ratio 1, no zoom of either kind, no frame, no pen.
 * Pinching leaves the pixel ratio alone, but the distance between the coordinates of window and screen changes with it. A page that is
 * zoomed out on a scaled screen can have pixel ratio 1, too: it is wider than its window.
 */
export function hasPlainPixels(features: Features): boolean {
  const { environments, hasPen } = features;
  if (environments.length === 0 || isFramed(features)) return false;
  if (environments.some(({ thing: { v } }) => v[9] !== 1_000 || isWiderThanWindow(v)) || hasPen) return false;
  const offsets = findPresses(features, 'screenOffsets');
  if (offsets === null) return true;
  const { first, least, most } = offsets;
  const farthest = Math.max(first.x - least.x, most.x - first.x, first.y - least.y, most.y - first.y);
  return farthest <= PINCH_TOLERANCE_PX;
}

/** Bars of a browser are smaller, docked developer tools are larger. */
const MAX_BARS = { width: 100, height: 250 };

/** Whether a window is larger than its page and the bars of a browser. The page is shown at this scale. */
export const hasMoreThanBars = (
  [outerWidth, outerHeight, innerWidth, innerHeight]: BeaconEnvironment['v'],
  scale = 1,
): boolean => outerWidth - innerWidth * scale > MAX_BARS.width || outerHeight - innerHeight * scale > MAX_BARS.height;

/** Without a window, some programs say that it has no size. */
const isWiderThanWindow = ([outerWidth, , innerWidth]: BeaconEnvironment['v']): boolean =>
  outerWidth > 0 && innerWidth > outerWidth + 1;

const MAX_MOVES_PER_PRESS = 6;

/** Whether the mouse moves much more than to what it presses. */
export const isMovingFreely = (features: Features): boolean =>
  features.moves.count > Math.max(1, findPresses(features, 'count')) * MAX_MOVES_PER_PRESS;

const MOST_SHARE = 0.6;

/** Whether the mouse presses exact middles, as programs do, and voice control. */
export function isPressingMiddles(features: Features): boolean {
  const centred = findPresses(features, 'centred');
  return centred.marked > 0 && centred.marked >= centred.count * MOST_SHARE;
}

const MIN_INSTANT_PRESSES = 3;

/**
 * Whether fingers tap on a screen that controls this desktop, and miss the middles: on that of a tablet the mouse jumps to what it
 * presses, on that of a phone, which is a trackpad, the button is released at once.
 */
export function isTapping(features: Features): boolean {
  const unapproached = findPresses(features, 'unapproached');
  const holds = findPresses(features, 'holds');
  const isJumping = unapproached.marked > 0 && unapproached.marked >= unapproached.count * MOST_SHARE;
  const isInstant = holds.count >= MIN_INSTANT_PRESSES && computeMedian(holds) < MIN_PRESSED_MS;
  const isFar = isInstant || (isJumping && !isMovingFreely(features));
  return features.isTapped || (isFar && !isPressingMiddles(features));
}

const COARSE_SHARE = 0.9;

/** Whether the browser rounds times to 100 ms, as some do for privacy. Then no short time can be measured. */
export const hasCoarseClock = ({ times }: Features): boolean =>
  times.count > 0 && times.coarse / times.count >= COARSE_SHARE;
