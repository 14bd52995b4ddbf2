import { findPresses } from '../mouse-presses';
import { isChromium, isFirefox, isLinux, isMobile, judgeShare, mayHaveTouch, NOT_MEASURED, type Rule } from './rule';

export const zeroPressureRule: Rule = {
  ...{ flag: 'zero-pressure', group: 'integrity', expected: 'below 0.5 of the presses' },
  sees:
    'Presses of a mouse without pressure. A mouse has 0.5 while a button is down; events that come through the ' +
    'DevTools protocol have 0. So have those that Chromium makes for assistive technology. It focuses the element ' +
    'first, and stands on whole pixels. So a press counts if its element got the focus from it or if it is between ' +
    'pixels, and in a session with such a press the others count too.',
  needs:
    '2 presses of a mouse in Chromium or Firefox, not on phones and tablets: older Android and Safari report no ' +
    'pressure of any mouse. An Android that asks for the desktop site says that it is Linux, so there the screen must be ' +
    'known not to be one for touch. Nor in Firefox on a Macintosh, which reports none if the button is up again when it looks',
  plainly: 'The mouse button was pressed without pressure. A real mouse reports a pressure of one half.',
  exempts: {
    touch: 'only a mouse is judged',
    'screen-reader': 'presses that assistive technology can have made are not judged',
  },
  touches: {},
  reference: 'W3C Pointer Events, `pressure`',
  judge(features) {
    // On a Macintosh, Firefox asks which buttons are down now: that of a short tap may be up again.
    const isKnown = isChromium(features) || (isFirefox(features) && !features.userAgent.includes('Macintosh'));
    // A tablet with Android may ask for the desktop site, as for Linux.
    const isTablet = isMobile(features) || (isLinux(features) && mayHaveTouch(features));
    if (!isKnown || isTablet) return NOT_MEASURED;
    return judgeShare(findPresses(features, 'pressureless'), { needed: 2, share: 0.5 });
  },
};
