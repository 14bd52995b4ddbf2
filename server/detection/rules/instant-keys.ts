import { MIN_HELD_MS } from '../features';
import { computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';
import { isEnoughTyping, isSlowTyping } from './typing';

/**
 * Sees keys that are released at once: half of them in less than 30 ms. Needs 10 keys in a text area, or 40 in all.
 * Exempts slow typing (on-screen keyboards, switch access and eye trackers send short keys, but few), keys without a code
 * (dictation, text expanders), short bursts such as a typed password or a scanned card, and browsers that round times.
 * Reference: Dhakal et al., Observations on Typing from 136 Million Keystrokes, CHI 2018.
 */
export const instantKeysRule: Rule = {
  ...{ flag: 'instant-keys', group: 'typing', expected: 'a median of 30 ms or more' },
  judge(features) {
    const { keyHolds } = features;
    if (!isEnoughTyping(keyHolds) || isSlowTyping(keyHolds) || hasCoarseClock(features)) return NOT_MEASURED;
    const median = computeMedian(keyHolds.times);
    return decide(median < MIN_HELD_MS, median, keyHolds.suspected.momentsMs);
  },
};
