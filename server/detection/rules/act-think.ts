import { judgeShare, type Rule } from './rule';

export const actThinkRule: Rule = {
  ...{ flag: 'act-think', group: 'flow', expected: 'below 0.7 of the pauses' },
  sees:
    'Pauses of a second and a half or more before a press at a new place, in which nothing happens at all: no ' +
    'move, no scroll, no key. A program that thinks between two acts waits like this; the hand of a person ' +
    'rests on the mouse. Pauses in which somebody may type a password do not count, because that is not told.',
  needs: '3 pauses before presses of a mouse that are far from the press before',
  plainly:
    'Between two clicks nothing moved at all, again and again. Agents think before each act; remote desktops ' +
    'can look alike.',
  exempts: {
    'screen-reader': 'presses that assistive technology can have made are not judged',
  },
  touches: {
    'switch-access': 'an eye tracker or a switch rests between two presses',
    'keyboard-only': 'a browser for the keyboard leaves the pointer alone between two presses (link hints)',
    dictation: 'voice control leaves the pointer alone between two commands',
    'remote-desktop': 'sends few moves when the connection is slow',
  },
  reference: null,
  judge: ({ silentPauses }) => judgeShare(silentPauses, { needed: 3, share: 0.7 }),
};
