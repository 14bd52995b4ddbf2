import { decide, judgeShare, type Rule } from './rule';

/**
 * Sees text fields that get the focus although nobody did anything, and text in the same moment. Needs two fields.
 * Exempts keyboards and touch (a cause), screen readers and voice control (the text comes later), fields that the page
 * focuses when it loads, returns or a field is full, autofill and password managers.
 */
export const focusWithoutCauseRule: Rule = {
  ...{ flag: 'focus-without-cause', group: 'flow', expected: 'fewer than 2 fields, and below 0.5 of them' },
  judge({ suddenFocuses }) {
    const outcome = judgeShare(suddenFocuses, { needed: 2, share: 0.5 });
    return suddenFocuses.marked < 2 && outcome.state === 'found' ? decide(false, outcome.measured, []) : outcome;
  },
};
