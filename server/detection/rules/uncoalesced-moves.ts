import { decide, isChromium, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees a mouse none of whose moves the browser joined with another one, as it does with a real mouse that is faster than
 * the screen. Needs 200 moves in Chromium. Exempts Firefox and Safari. A fast screen or a slow mouse looks the same, so
 * the rule weighs little.
 * Reference: W3C Pointer Events, getCoalescedEvents.
 */
export const uncoalescedMovesRule: Rule = {
  ...{ flag: 'uncoalesced-moves', group: 'pointer', expected: '2 or more at once' },
  judge(features) {
    const { count, maxCoalesced, atMs } = features.moves;
    if (!isChromium(features) || count < 200) return NOT_MEASURED;
    return decide(maxCoalesced <= 1, maxCoalesced, atMs === null ? [] : [atMs]);
  },
};
