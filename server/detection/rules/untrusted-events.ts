import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees presses, keys and clicks on form controls that a script made (`isTrusted` is false). Needs three deeds. Exempts
 * what pages and their helpers do: clicks within a second of a deed or three seconds of a page's start, keys that write
 * nothing (password managers), and single keys.
 * Reference: WHATWG DOM, Event.isTrusted.
 */
export const untrustedEventsRule: Rule = {
  ...{ flag: 'untrusted-events', group: 'integrity', expected: 'below 0.5 of the deeds' },
  judge({ presses, keys, untrustedClicksMs }) {
    const characters = keys.filter(({ isCharacter }) => isCharacter);
    const untrustedKeys = characters.filter(({ isTrusted }) => !isTrusted);
    const untrustedPresses = presses.filter(({ isTrusted }) => !isTrusted);
    const counted = [
      ...untrustedPresses.map(({ atMs }) => atMs),
      ...(untrustedKeys.length >= MIN_KEYS ? untrustedKeys.map(({ atMs }) => atMs) : []),
      ...(untrustedClicksMs.length >= MIN_DEEDS ? untrustedClicksMs : []),
    ];
    const deeds = presses.length + characters.length + untrustedClicksMs.length;
    if (deeds < MIN_DEEDS) return NOT_MEASURED;
    const share = counted.length / deeds;
    return decide(counted.length >= MIN_DEEDS && share >= 0.5, share, counted);
  },
};

const MIN_DEEDS = 3;
const MIN_KEYS = 10;
