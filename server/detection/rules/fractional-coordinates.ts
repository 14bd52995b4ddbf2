import { hasPlainPixels, isFirefox, isMacintosh, judgeShare, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees a mouse between two pixels. A mouse stands on whole pixels where a CSS pixel is a pixel of the screen; programs
 * compute the middle of an element. Needs two presses of a mouse at pixel ratio 1. Exempts zoom by keyboard or pinch,
 * other pixel ratios, frames, pens, Firefox, and the Macintosh, whose pointer may stand between pixels.
 * Reference: W3C Pointer Events, fractional coordinates.
 */
export const fractionalCoordinatesRule: Rule = {
  ...{ flag: 'fractional-coordinates', group: 'integrity', expected: 'below 0.2 of the presses' },
  judge(features) {
    if (isFirefox(features) || isMacintosh(features) || !hasPlainPixels(features)) return NOT_MEASURED;
    return judgeShare(features.mousePresses.fractional, { needed: 2, share: 0.2 });
  },
};
