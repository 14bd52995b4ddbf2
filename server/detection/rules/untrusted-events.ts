import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees presses, keys and clicks on form controls that a script made (`isTrusted` is false). Needs three deeds. Exempts
 * what pages and their helpers do: clicks within a second of a deed or three seconds of a page's start, keys that write
 * nothing (password managers), and single keys.
 * Reference: WHATWG DOM, Event.isTrusted.
 */
export const untrustedEventsRule: Rule = {
  ...{ flag: 'untrusted-events', group: 'integrity', expected: 'below 0.5 of the deeds' },
  judge({ untrustedPresses: presses, untrustedCharacters: characters, untrustedClicks: clicks }) {
    const counted = [
      presses,
      ...(characters.marked >= MIN_KEYS ? [characters] : []),
      ...(clicks.marked >= MIN_DEEDS ? [clicks] : []),
    ];
    const deeds = presses.count + characters.count + clicks.count;
    if (deeds < MIN_DEEDS) return NOT_MEASURED;
    const untrusted = counted.reduce((sum, { marked }) => sum + marked, 0);
    const share = untrusted / deeds;
    const momentsMs = counted.flatMap((deeds) => deeds.momentsMs);
    return decide(untrusted >= MIN_DEEDS && share >= 0.5, share, momentsMs);
  },
};

const MIN_DEEDS = 3;
const MIN_KEYS = 10;
