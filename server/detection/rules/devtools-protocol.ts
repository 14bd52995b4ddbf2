import type { BeaconEnvironment } from '../../../contract/beacon';
import type { Sighting } from '../features';
import { decide, isChromium, isFramed, listMoments, NOT_MEASURED, type Rule } from './rule';

export const devtoolsProtocolRule: Rule = {
  ...{ flag: 'devtools-protocol', group: 'environment', expected: '0 reads of the stack, below 3 of the name' },
  sees:
    'How often the browser reads an error that was given to the console: more often while a program is attached ' +
    'to its inspector.',
  needs: 'Chromium, and a page that is not in a frame',
  plainly: 'Something inspects the page while it runs. Automation does that all the time, developers sometimes.',
  exempts: {
    zoom: 'a page that is zoomed out, below pixel ratio 1, is compared as large as it is; one that is zoomed in looks smaller',
    'pixel-ratio': 'window and page are compared in one unit',
    'remote-desktop': 'attaches nothing to the browser',
  },
  touches: {
    'developer-tools':
      'docked tools are exempt, because the page is much smaller than its window; tools in a window of their ' +
      'own look like automation',
  },
  reference: 'V8 stack trace API, `Error.prepareStackTrace`; Chrome DevTools Protocol, `Runtime.enable`',
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

/** A page that is zoomed out says larger sizes than its window, whose sizes do not change with the zoom. */
function hasDockedTools({ v }: BeaconEnvironment): boolean {
  const [outerWidth, outerHeight, innerWidth, innerHeight] = v;
  const scale = Math.min(v[9] / 1_000, 1);
  return outerWidth - innerWidth * scale > MAX_BARS.width || outerHeight - innerHeight * scale > MAX_BARS.height;
}
