import { hasPlainPixels, isFirefox, isMacintosh, judgeShare, NOT_MEASURED, type Rule } from './rule';

export const fractionalCoordinatesRule: Rule = {
  ...{ flag: 'fractional-coordinates', group: 'integrity', expected: 'below 0.2 of the presses' },
  sees:
    'A mouse between two pixels. A mouse stands on whole pixels where a CSS pixel is a pixel of the screen; ' +
    'programs compute the middle of an element.',
  needs:
    '2 presses of a mouse at pixel ratio 1, without frames and pens; not in Firefox, and not on a Macintosh, ' +
    'whose pointer may stand between pixels',
  plainly: 'The mouse stood between two pixels. A device cannot do that here, a computed position can.',
  exempts: {
    touch: 'only a mouse is judged',
    zoom: 'only pixel ratio 1 without pinch is judged',
    'pixel-ratio': 'only pixel ratio 1 is judged',
    'remote-desktop': 'sends whole pixels',
    'developer-tools': 'the pixel ratio stays as it is',
  },
  touches: {},
  reference: 'W3C Pointer Events, fractional coordinates',
  judge(features) {
    if (isFirefox(features) || isMacintosh(features) || !hasPlainPixels(features)) return NOT_MEASURED;
    return judgeShare(features.mousePresses.fractional, { needed: 2, share: 0.2 });
  },
};
