import { type BeaconEnvironment, ENVIRONMENT_BITS } from '../../../contract/beacon';
import type { Sighting } from '../features';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees a browser without a window: its user agent or brands say Headless. Needs a user agent. Exempts nobody: no browser
 * with a window says so.
 * Reference: Chromium, headless mode, `HeadlessChrome` in the user agent.
 */
export const headlessRule: Rule = {
  ...{ flag: 'headless', group: 'environment', expected: 'no such word' },
  judge({ userAgent, environments }) {
    const isHeadless = ({ thing }: Sighting<BeaconEnvironment>) =>
      (thing.b & ENVIRONMENT_BITS.headlessBrand) !== 0 || HEADLESS.test(thing.r);
    const seen = environments.filter(isHeadless);
    const isFound = seen.length > 0 || HEADLESS.test(userAgent);
    if (!isFound && environments.length === 0 && userAgent === '') return NOT_MEASURED;
    return decide(isFound, isFound ? 'Headless' : 'none', listMoments(seen.length > 0 ? seen : environments));
  },
};

const HEADLESS = /headless/i;
