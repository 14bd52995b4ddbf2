import { decide, NOT_MEASURED, type Rule } from './rule';

export const untrustedEventsRule: Rule = {
  ...{ flag: 'untrusted-events', group: 'integrity', expected: 'below 0.5 of the deeds' },
  sees:
    'Presses, keys and clicks on form controls that a script made (`isTrusted` is false). Clicks within a ' +
    'second of a deed or three seconds of the start of a page are the page’s own.',
  needs: '3 deeds',
  plainly: 'A script made clicks or keys, not a device. The browser marks such events.',
  exempts: {
    autofill: 'a few keys, keys that write nothing, and inputs do not count',
  },
  touches: {},
  reference: 'WHATWG DOM, `Event.isTrusted`',
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
