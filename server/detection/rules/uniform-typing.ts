import { computeDeviation, computeMean, computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';
import { findTypedKeys, isEnoughTyping, isSlowTyping } from './typing';

/**
 * Sees keys that follow each other faster than 40 ms or at almost equal times. Needs 20 intervals, of 10 keys in a text
 * area or 40 in all. Exempts slow typing (switch access and eye trackers keep a beat), repeated keys, keys without a code
 * (dictation, text expanders), short bursts such as a typed password or a scanned card, and browsers that round times.
 * Reference: Dhakal et al., Observations on Typing from 136 Million Keystrokes, CHI 2018.
 */
export const uniformTypingRule: Rule = {
  ...{ flag: 'uniform-typing', group: 'typing', expected: 'a variation of 0.3 or more' },
  judge(features) {
    const keys = findTypedKeys(features).filter(({ intervalMs }) => intervalMs !== null);
    if (keys.length < 20 || !isEnoughTyping(keys) || isSlowTyping(keys) || hasCoarseClock(features))
      return NOT_MEASURED;
    const intervals = keys.map(({ intervalMs }) => intervalMs!);
    const mean = computeMean(intervals);
    const variation = mean > 0 ? computeDeviation(intervals) / mean : 0;
    return decide(
      computeMedian(intervals) < MIN_INTERVAL_MS || variation < MIN_VARIATION,
      variation,
      keys.map(({ atMs }) => atMs),
    );
  },
};

const MIN_INTERVAL_MS = 40;
const MIN_VARIATION = 0.3;
