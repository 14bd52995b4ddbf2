import { decide, isChromium, NOT_MEASURED, type Rule } from './rule';

export const uncoalescedMovesRule: Rule = {
  ...{ flag: 'uncoalesced-moves', group: 'pointer', expected: '2 or more at once' },
  sees:
    'A mouse none of whose moves the browser joined with another one, as it does with a real mouse that is ' +
    'faster than the screen. A fast screen or a slow mouse looks the same.',
  needs: '200 moves in Chromium',
  plainly: 'The mouse was never faster than the screen. Programs move it so, and some slow mice.',
  exempts: {
    touch: 'has no moves of a mouse',
    'remote-desktop': 'sends far fewer than 200 moves for a task, and joined moves clear it',
    'slow-machine': 'joins more moves, not fewer',
  },
  touches: {},
  reference: 'W3C Pointer Events, `getCoalescedEvents`',
  judge(features) {
    const { count, maxCoalesced, atMs } = features.moves;
    if (!isChromium(features) || count < 200) return NOT_MEASURED;
    return decide(maxCoalesced <= 1, maxCoalesced, atMs === null ? [] : [atMs]);
  },
};
