import { type BeaconEnvironment, ENVIRONMENT_BITS } from '../../../contract/beacon';
import { findEmulation, findPointed } from '../emulation';
import { decide, hasMoreThanBars, isFramed, isMobile, listMoments, NOT_MEASURED, type Rule } from './rule';

export const syntheticWindowRule: Rule = {
  ...{ flag: 'synthetic-window', group: 'environment', expected: 'a window with bars' },
  sees:
    'A window without any bar, or with exactly the default viewport of an automation library. That of Puppeteer counts in a ' +
    'larger window only, since pages open windows of its size, too. Installed web applications can lack bars too. Or a page that ' +
    'says that it fills a window as wide as its screen, such as that of a phone, while what is pressed shows bars above it and ' +
    'that it reaches beyond this screen.',
  needs:
    'sizes at pixel ratio 1, of a page that is visible, no frame and not in full screen; and of an ' +
    'emulated screen 3 presses or touches, at least 64 pixels apart and no others, in Chromium on a computer',
  plainly:
    'The window has no bars, or exactly the size that an automation library gives it, or the page has a screen that is not ' +
    'there. Some installed web applications look alike, and developer tools that show a page as on a phone.',
  exempts: {
    touch:
      'bars of devices with a touch screen are not judged, nor those of phones and tablets; their page is where it says',
    zoom: 'bars are judged at pixel ratio 1, and a page that is zoomed or pinched is not taken for one on an emulated screen',
    'pixel-ratio':
      'bars are judged at pixel ratio 1, and a page that fills its screen is at the top of it, at any ratio',
    'remote-desktop': 'a page as large as the screen is not judged if it is at the top of it',
  },
  touches: {
    'developer-tools': 'they can show a page on the emulated screen of a phone',
  },
  reference: 'default viewports of Playwright (1280 × 720) and Puppeteer (800 × 600)',
  judge(features) {
    const barsPx = findEmulation(features);
    if (barsPx !== null) {
      const { momentsMs } = findPointed(features, 'beyondScreen');
      return decide(true, `a page beyond its screen, below ${barsPx} pixels of bars`, momentsMs);
    }
    const judged = features.environments.filter(({ thing }) => hasOrdinaryWindow(thing));
    const [first] = judged;
    if (first === undefined || isFramed(features) || features.hasTouch || isMobile(features)) return NOT_MEASURED;
    const found = judged.filter(({ thing }) => isSynthetic(thing));
    const { v } = (found[0] ?? first).thing;
    return decide(found.length > 0, `${v[2]} × ${v[3]} in ${v[0]} × ${v[1]}`, listMoments(found));
  },
};

const hasOrdinaryWindow = ({ v, h, b }: BeaconEnvironment): boolean => {
  const [outerWidth, outerHeight, innerWidth, innerHeight, screenWidth, screenHeight] = v;
  const isFullScreen = innerHeight >= screenHeight - 1 && innerWidth >= screenWidth - 1;
  const isUnseen = (b & (ENVIRONMENT_BITS.hidden | ENVIRONMENT_BITS.prerendered)) !== 0;
  return v[9] === 1_000 && h[2] <= 0 && outerWidth > 0 && outerHeight > 0 && !isFullScreen && !isUnseen;
};

/** Puppeteer leaves its window as large as it was. Pages open windows of 800 × 600, too, as for a course: with nothing but bars around it. */
const isSynthetic = ({ v }: BeaconEnvironment): boolean => {
  const [outerWidth, outerHeight, innerWidth, innerHeight] = v;
  return (
    (Math.abs(outerHeight - innerHeight) <= 1 && Math.abs(outerWidth - innerWidth) <= 1) ||
    (innerWidth === 1_280 && innerHeight === 720) ||
    (innerWidth === 800 && innerHeight === 600 && hasMoreThanBars(v))
  );
};
