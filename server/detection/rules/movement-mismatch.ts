import { decide, hasPlainPixels, isChromium, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees moves whose `movementX` and `movementY` are not the distance to the move before. Needs 30 moves in Chromium at
 * pixel ratio 1. Exempts zoom by keyboard or pinch, other pixel ratios, where the two have different units, frames and
 * pens.
 * Reference: W3C Pointer Lock, `movementX`.
 */
export const movementMismatchRule: Rule = {
  ...{ flag: 'movement-mismatch', group: 'integrity', expected: 'below 0.2 of the moves' },
  judge(features) {
    const { count, mismatched, atMs } = features.moves;
    if (!isChromium(features) || !hasPlainPixels(features) || count < 30) return NOT_MEASURED;
    return decide(mismatched / count >= 0.2, mismatched / count, atMs === null ? [] : [atMs]);
  },
};
