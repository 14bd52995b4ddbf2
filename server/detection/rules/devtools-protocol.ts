import type { BeaconEnvironment } from '../../../contract/beacon';
import type { Sighting } from '../features';
import { decide, isChromium, isFramed, listMoments, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees how often the browser reads an error that was given to the console: more often while a program is attached to its
 * inspector. Needs Chromium and a window. Exempts docked developer tools (the page is much smaller than its window) and
 * frames. Undocked developer tools can look the same, so the rule never decides alone.
 * Reference: V8 stack trace API, `Error.prepareStackTrace`; Chrome DevTools Protocol, `Runtime.enable`.
 */
export const devtoolsProtocolRule: Rule = {
  ...{ flag: 'devtools-protocol', group: 'environment', expected: 'below 3 reads' },
  judge(features) {
    const judged = features.environments.filter(({ thing }) => !hasDockedTools(thing));
    if (!isChromium(features) || isFramed(features) || judged.length === 0) return NOT_MEASURED;
    const isRead = ({ thing: { q } }: Sighting<BeaconEnvironment>) => q[0] > 0 || q[1] >= MIN_NAME_READS;
    const read = judged.filter(isRead);
    const reads = judged.map(({ thing: { q } }) => Math.max(q[0], 0) + Math.max(q[1], 0));
    const most = reads.reduce((a, b) => Math.max(a, b), 0);
    return decide(read.length > 0, most, listMoments(read));
  },
};

const MIN_NAME_READS = 3;
/** Bars of a browser are smaller, docked developer tools are larger. */
const MAX_BARS = { width: 100, height: 250 };

const hasDockedTools = ({ v: [outerWidth, outerHeight, innerWidth, innerHeight] }: BeaconEnvironment): boolean =>
  outerWidth - innerWidth > MAX_BARS.width || outerHeight - innerHeight > MAX_BARS.height;
