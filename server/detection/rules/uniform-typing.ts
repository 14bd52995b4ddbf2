import { computeDeviation, computeMean, computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';
import { isEnoughTyping, isSlowTyping } from './typing';

/**
 * Sees keys that follow each other faster than 40 ms or at almost equal times. Needs 20 intervals, of 10 keys in a text
 * area or 40 in all. Exempts slow typing (switch access and eye trackers keep a beat), repeated keys, keys without a code
 * (dictation, text expanders), short bursts such as a typed password or a scanned card, and browsers that round times.
 * Reference: Dhakal et al., Observations on Typing from 136 Million Keystrokes, CHI 2018.
 */
export const uniformTypingRule: Rule = {
  ...{ flag: 'uniform-typing', group: 'typing', expected: 'a variation of 0.3 or more' },
  judge(features) {
    const { keyIntervals } = features;
    const { times, suspected } = keyIntervals;
    if (times.count < 20 || !isEnoughTyping(keyIntervals) || isSlowTyping(keyIntervals) || hasCoarseClock(features))
      return NOT_MEASURED;
    const mean = computeMean(times);
    const variation = mean > 0 ? computeDeviation(times) / mean : 0;
    const isFast = computeMedian(times) < MIN_INTERVAL_MS;
    return decide(isFast || variation < MIN_VARIATION, variation, suspected.momentsMs);
  },
};

const MIN_INTERVAL_MS = 40;
const MIN_VARIATION = 0.3;
