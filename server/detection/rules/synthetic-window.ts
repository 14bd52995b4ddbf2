import { type BeaconEnvironment, ENVIRONMENT_BITS } from '../../../contract/beacon';
import { decide, isFramed, isMobile, listMoments, NOT_MEASURED, type Rule } from './rule';

export const syntheticWindowRule: Rule = {
  ...{ flag: 'synthetic-window', group: 'environment', expected: 'a window with bars' },
  sees:
    'A window without any bar, or with exactly the default viewport of an automation library. Installed web ' +
    'applications can lack bars too.',
  needs: 'sizes at pixel ratio 1, of a page that is visible, no frame and not in full screen',
  plainly:
    'The window has no bars, or exactly the size that an automation library gives it. Some installed web ' +
    'applications look alike.',
  exempts: {
    touch: 'devices with a touch screen are not judged, nor are phones and tablets',
    zoom: 'only pixel ratio 1 without pinch is judged',
    'pixel-ratio': 'only pixel ratio 1 is judged',
    'remote-desktop': 'a page as large as the screen is not judged',
    'developer-tools': 'the window keeps its bars',
  },
  touches: {},
  reference: 'default viewports of Playwright (1280 × 720) and Puppeteer (800 × 600)',
  judge(features) {
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

const isSynthetic = ({ v: [outerWidth, outerHeight, innerWidth, innerHeight] }: BeaconEnvironment): boolean =>
  (Math.abs(outerHeight - innerHeight) <= 1 && Math.abs(outerWidth - innerWidth) <= 1) ||
  (innerWidth === 1_280 && innerHeight === 720) ||
  (innerWidth === 800 && innerHeight === 600);
