import { decide, hasPlainPixels, isChromium, NOT_MEASURED, type Rule } from './rule';

export const movementMismatchRule: Rule = {
  ...{ flag: 'movement-mismatch', group: 'integrity', expected: 'below 0.2 of the moves' },
  sees:
    'Moves whose `movementX` and `movementY` are not the distance to the move before. Those of a pointer that the page ' +
    'has locked do not count.',
  needs: '30 moves in Chromium at pixel ratio 1, of a page that is not wider than its window, without frames and pens',
  plainly: 'The distances that the mouse reports do not fit its positions. They come from one device and must agree.',
  exempts: {
    touch: 'has no moves of a mouse',
    zoom: 'only pixel ratio 1 without pinch is judged, of a page that is not wider than its window',
    'pixel-ratio': 'only pixel ratio 1 is judged',
    'remote-desktop': 'the browser computes the distances from the same places',
    'developer-tools': 'the pixel ratio stays as it is',
    'slow-machine': 'joined moves add up',
  },
  touches: {},
  reference: 'W3C Pointer Lock, `movementX`',
  judge(features) {
    const { count, mismatched, atMs } = features.moves;
    if (!isChromium(features) || !hasPlainPixels(features) || count < 30) return NOT_MEASURED;
    return decide(mismatched / count >= 0.2, mismatched / count, atMs === null ? [] : [atMs]);
  },
};
