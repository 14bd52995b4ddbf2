import { decide, judgeShare, type Rule } from './rule';

export const focusWithoutCauseRule: Rule = {
  ...{ flag: 'focus-without-cause', group: 'flow', expected: 'fewer than 2 fields, and below 0.5 of them' },
  sees:
    'Text fields that get the focus although nobody did anything, and text in the same moment. Fields that the ' +
    'page focuses when it loads, returns or a field is full do not count, nor do those after one for a password.',
  needs: '2 fields',
  plainly:
    'Fields were entered without mouse, touch or key, and text came in the same moment. People look before they ' +
    'write.',
  exempts: {
    'keyboard-only': 'a key that moves the focus is a cause',
    'screen-reader': 'the text comes later than 150 ms after the focus',
    autofill: 'filled fields are not typed, nor are keys and inputs of scripts',
  },
  touches: {
    dictation: 'a spoken command can enter a field and insert a kept text; what is dictated comes later',
  },
  reference: null,
  judge({ suddenFocuses }) {
    const outcome = judgeShare(suddenFocuses, { needed: 2, share: 0.5 });
    return suddenFocuses.marked < 2 && outcome.state === 'found' ? decide(false, outcome.measured, []) : outcome;
  },
};
