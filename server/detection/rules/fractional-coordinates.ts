import type { Features } from '../features';
import { findPresses } from '../mouse-presses';
import { hasPlainPixels, isFirefox, isLinux, isWindows, judgeShare, NOT_MEASURED, type Rule } from './rule';

export const fractionalCoordinatesRule: Rule = {
  ...{ flag: 'fractional-coordinates', group: 'integrity', expected: 'below 0.2 of the presses (Linux: 0.8)' },
  sees:
    'A mouse between two pixels. On Windows a mouse stands on whole pixels of the screen, also over a page that is ' +
    'pinched a little; programs compute the middle of an element. On Linux only the exact middle counts, because ' +
    'pointers of Wayland stand between pixels.',
  needs:
    '2 presses of a mouse on Windows that are at least 64 pixels apart, or 3 on Linux on links, buttons, fields and labels of at ' +
    'least 10 pixels, since others can follow the mouse, as a lens does; of which those at a place where the mouse rests count once, at pixel ratio 1, without frames and pens; not in ' +
    'Firefox, nor on other systems, whose pointers may stand between pixels',
  plainly: 'The mouse stood between two pixels. Devices do not do that here, a computed position can.',
  exempts: {
    touch: 'only a mouse is judged',
    zoom: 'only pixel ratio 1 is judged; a page that is pinched a little, by the pixels of its screen; one that is wider than its window is not',
    'pixel-ratio': 'only pixel ratio 1 is judged',
    'remote-desktop': 'sends whole pixels',
    'developer-tools': 'the pixel ratio stays as it is',
  },
  touches: {},
  reference: 'W3C Pointer Events, fractional coordinates',
  judge(features) {
    if (isFirefox(features) || !hasPlainPixels(features)) return NOT_MEASURED;
    if (isWindows(features) && areSpread(features))
      return judgeShare(findPresses(features, 'betweenPixels'), { needed: 2, share: 0.2 });
    if (isLinux(features)) return judgeShare(findPresses(features, 'fractionalMiddles'), { needed: 3, share: 0.8 });
    return NOT_MEASURED;
  },
};

const MIN_SPREAD_PX = 64;

/** Whether the presses are so far apart that a page which is pinched larger would show. */
function areSpread(features: Features): boolean {
  const places = findPresses(features, 'places');
  if (places === null) return false;
  return Math.max(places.most.x - places.least.x, places.most.y - places.least.y) >= MIN_SPREAD_PX;
}
