import { findEmulation, findPointed } from '../emulation';
import { decide, isAppleMobile, NOT_MEASURED, type Rule } from './rule';

export const exactCentreRule: Rule = {
  ...{ flag: 'exact-centre', group: 'pointer', expected: 'below 0.6 of the presses' },
  sees: 'Presses in the exact middle of elements, within a pixel. On an emulated screen (`synthetic-window`) touches count too.',
  needs:
    '3 presses of a mouse on elements of at least 10 pixels, of which those at a place where the mouse rests count once; not on ' +
    'iPhones and iPads, whose pointers may snap to what they press',
  plainly: 'The mouse hit the exact middle of what it pressed, again and again. Voice control can do that too.',
  exempts: {
    touch: 'only a mouse is judged, and touches on an emulated screen',
    zoom: 'a page that is zoomed or pinched is not taken for one on an emulated screen',
    'pixel-ratio': 'a page that fills its screen is at the top of it, at any ratio',
    'screen-reader': 'presses that assistive technology can have made are not judged',
    'developer-tools': 'a hand that touches by a mouse misses the middle',
  },
  touches: {
    'keyboard-only': 'a browser for the keyboard presses the middle of what is chosen by its letters (link hints)',
    dictation: 'voice control presses the middle of what is named',
  },
  reference: null,
  judge(features) {
    const centred = findPointed(features, 'centred');
    const isSnapping = isAppleMobile(features) && findEmulation(features) === null;
    if (centred.count < MIN_PRESSES || isSnapping) return NOT_MEASURED;
    const share = centred.marked / centred.count;
    // The middle of small elements is hit by chance too, but not three times.
    return decide(centred.marked >= MIN_PRESSES && share >= 0.6, share, centred.momentsMs);
  },
};

const MIN_PRESSES = 3;
