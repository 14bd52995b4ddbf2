import { type BeaconEnvironment, ENVIRONMENT_BITS } from '../../../contract/beacon';
import type { Sighting } from '../features';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

export const headlessRule: Rule = {
  ...{ flag: 'headless', group: 'environment', expected: 'no such word' },
  sees: 'The word Headless in the user agent or the brands.',
  needs: 'a user agent or an environment',
  plainly: 'The browser runs without a window. Nobody can look at such a browser.',
  exempts: {},
  touches: {},
  reference: 'Chromium, headless mode, `HeadlessChrome` in the user agent',
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
