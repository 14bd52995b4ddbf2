import { decide, NOT_MEASURED, type Rule } from './rule';

export const replayedTraceRule: Rule = {
  ...{ flag: 'replayed-trace', group: 'integrity', expected: 'input of its own' },
  sees:
    'Typing, or presses, that the integration has seen before in another session: the same keys held and spaced ' +
    'equally long, or the same places pressed at the same pace, to within the jitter of a program that repeats ' +
    'a recording. Moves do not count, because browsers sample them differently each time. A keyboard macro that ' +
    'repeats recorded typing looks the same.',
  needs:
    'a closed session with enough that is its own: about 16 keys or 5 presses that no other person would make ' +
    'alike; the other session began at least a minute before',
  plainly:
    'The same typing or clicking was seen before in another session, equal in its timing. People cannot repeat ' +
    'themselves so exactly, recordings can.',
  exempts: {
    touch: 'only a mouse and keys with a code are digested',
    'tap-to-click': 'holds are rounded to 50 ms and tell little; places and pauses are a person’s own',
    'switch-access': 'slow typing is not digested, and presses need places and pauses of their own',
    'keyboard-only': 'presses in exact middles are not digested (link hints)',
    dictation: 'has no keys with a code, or types in a beat, and presses in exact middles are not digested',
    'input-method': 'has no keys with a code',
    autofill: 'has no keys, or too few, or types in a beat, as text expanders do',
    'remote-desktop': 'holds, pauses and places stay a person’s own',
  },
  touches: {},
  reference: '`server/detection/digests.ts`',
  judge: ({ isReplay }) => (isReplay === null ? NOT_MEASURED : decide(isReplay, String(isReplay), [])),
};
