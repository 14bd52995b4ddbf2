import { decide, NOT_MEASURED, type Rule } from './rule';

export const untrustedEventsRule: Rule = {
  ...{ flag: 'untrusted-events', group: 'integrity', expected: 'below 0.5 of the actions' },
  sees:
    'Presses, keys and clicks on form controls that a script made (`isTrusted` is false). Clicks within a ' +
    'second of an action of a person or three seconds of the start of a page are the page’s own.',
  needs: '3 actions',
  plainly:
    'A script made clicks or keys, not a device. Programs do that, and extensions that press links for people who ' +
    'use no mouse.',
  exempts: {
    autofill: 'a few keys, keys that write nothing, and inputs do not count',
  },
  touches: {
    'keyboard-only': 'an extension presses what is chosen by the letters that it shows (link hints)',
    dictation: 'an extension presses what is named (link hints)',
  },
  reference: 'WHATWG DOM, `Event.isTrusted`',
  judge({ untrustedPresses: presses, untrustedCharacters: characters, untrustedClicks: clicks }) {
    const all = [presses, characters, clicks];
    const counted = [
      presses,
      ...(characters.marked >= MIN_KEYS ? [characters] : []),
      ...(clicks.marked >= MIN_ACTIONS ? [clicks] : []),
    ];
    if (all.reduce((sum, { count }) => sum + count, 0) < MIN_ACTIONS) return NOT_MEASURED;
    const untrusted = counted.reduce((sum, { marked }) => sum + marked, 0);
    // The few that do not count are no actions of a person either.
    const trusted = all.reduce((sum, { count, marked }) => sum + count - marked, 0);
    const share = untrusted / Math.max(1, untrusted + trusted);
    const momentsMs = counted.flatMap((events) => events.momentsMs);
    return decide(untrusted >= MIN_ACTIONS && share >= 0.5, share, momentsMs);
  },
};

const MIN_ACTIONS = 3;
const MIN_KEYS = 10;
