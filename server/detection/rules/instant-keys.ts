import { MIN_HELD_MS } from '../features';
import { computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';
import { isEnoughTyping, isSlowTyping } from './typing';

export const instantKeysRule: Rule = {
  ...{ flag: 'instant-keys', group: 'typing', expected: 'a median of 30 ms or more' },
  sees: 'Keys that are released at once: half of them in less than 30 ms.',
  needs:
    '10 keys in a text area, or 40 in all, so more than a typed password or a scanned card; a clock that is not ' +
    'rounded to 100 ms',
  plainly: 'Keys were released as soon as they were pressed. Fingers take longer.',
  exempts: {
    touch: 'keys of a touch keyboard have no code',
    'switch-access': 'slow typing and short phrases after a pause (word completion) are not judged',
    dictation: 'its keys have no code, or come as phrases of up to 40 characters after a pause',
    'input-method': 'its keys write no characters, or have no code',
    autofill: 'too few keys in a single line, or made by a script',
  },
  touches: {},
  reference: 'Dhakal et al., Observations on Typing from 136 Million Keystrokes, CHI 2018',
  judge(features) {
    const { keyHolds } = features;
    if (!isEnoughTyping(keyHolds) || isSlowTyping(keyHolds) || hasCoarseClock(features)) return NOT_MEASURED;
    const median = computeMedian(keyHolds.times);
    return decide(median < MIN_HELD_MS, median, keyHolds.suspected.momentsMs);
  },
};
