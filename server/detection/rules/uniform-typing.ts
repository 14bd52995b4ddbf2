import { decide, hasCoarseClock, mayTypeOnScreen, NOT_MEASURED, type Rule } from './rule';
import {
  isAtPaceOfHands,
  isEnoughTyping,
  isSlowTyping,
  measureVariation,
  TYPING_EXEMPTIONS,
  TYPING_REFERENCE,
} from './typing';

export const uniformTypingRule: Rule = {
  ...{ flag: 'uniform-typing', group: 'typing', expected: 'a variation of 0.3 or more' },
  sees: 'Keys that follow each other faster than 40 ms or at almost equal times.',
  needs:
    '20 intervals, of 10 keys in a text area or 40 in all, without what a text expander types; a clock that is not ' +
    'rounded to 100 ms',
  plainly: 'Keys followed each other in a beat, or faster than hands can type. People vary.',
  exempts: TYPING_EXEMPTIONS,
  touches: {},
  reference: TYPING_REFERENCE,
  judge(features) {
    const { keyIntervals } = features;
    const { times, suspected } = keyIntervals;
    if (
      times.count < 20 ||
      !isEnoughTyping(keyIntervals) ||
      isSlowTyping(keyIntervals) ||
      hasCoarseClock(features) ||
      mayTypeOnScreen(features)
    )
      return NOT_MEASURED;
    return decide(!isAtPaceOfHands(keyIntervals), measureVariation(keyIntervals), suspected.momentsMs);
  },
};
