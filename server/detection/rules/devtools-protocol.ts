import type { BeaconEnvironment } from '../../../contract/beacon';
import type { Features, Sighting } from '../features';
import { decide, hasMoreThanBars, isChromium, isFramed, listMoments, NOT_MEASURED, type Rule } from './rule';

export const devtoolsProtocolRule: Rule = {
  ...{ flag: 'devtools-protocol', group: 'environment', expected: '0 reads of the stack, below 3 of the name' },
  sees:
    'How often the browser reads an error that was given to the console: more often while a program is attached ' +
    'to its inspector.',
  needs:
    'Chromium, and a page that is not in a frame, in a window whose size is known: Brave hides it, and so whether tools are docked',
  plainly: 'Something inspects the page while it runs. Automation does that all the time, developers sometimes.',
  exempts: {
    zoom:
      'a page that is zoomed out, below pixel ratio 1 or on a Macintosh below 2, is compared as large as it is; one that is ' +
      'zoomed in looks smaller',
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
    const judged = features.environments.filter(({ thing }) => !mayHaveDockedTools(thing, features));
    if (!isChromium(features) || isFramed(features) || judged.length === 0) return NOT_MEASURED;
    const isRead = ({ thing: { q } }: Sighting<BeaconEnvironment>) => q[0] > 0 || q[1] >= MIN_NAME_READS;
    const read = judged.filter(isRead);
    const reads = judged.map(({ thing: { q } }) => Math.max(q[0], 0) + Math.max(q[1], 0));
    const most = reads.reduce((a, b) => Math.max(a, b), 0);
    return decide(read.length > 0, most, listMoments(read));
  },
};

const MIN_NAME_READS = 3;
/** Brave hides the size of a window: it is that of the page, to which it adds random numbers up to this one. */
const MAX_NOISE = 8;

function isHidden([outerWidth, outerHeight, innerWidth, innerHeight]: BeaconEnvironment['v']): boolean {
  const added = [outerWidth - innerWidth, outerHeight - innerHeight];
  return added.every((px) => px >= 0 && px <= MAX_NOISE) && added.some((px) => px > 0);
}

/**
 * Finds by how much a page may be zoomed out. A Macintosh has one or two pixels to a CSS pixel. Between them a page is zoomed out on a
 * screen with two, or zoomed in. Other systems have screens with any ratio, so there only a ratio below 1 tells.
 */
function findScale(v: BeaconEnvironment['v'], features: Features): number {
  const ratio = v[9] / 1_000;
  const isRetina = ratio > 1 && features.userAgent.includes('Macintosh');
  return Math.min(isRetina ? ratio / 2 : ratio, 1);
}

/** A page that is zoomed out says larger sizes than its window, whose sizes do not change with the zoom. */
const mayHaveDockedTools = ({ v }: BeaconEnvironment, features: Features): boolean =>
  hasMoreThanBars(v, findScale(v, features)) || isHidden(v);
