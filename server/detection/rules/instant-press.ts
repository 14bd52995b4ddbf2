import { findEmulation, findPointed } from '../emulation';
import type { Features } from '../features';
import { computeDeviation, computeMedian } from '../statistics';
import { decide, hasCoarseClock, isAppleMobile, isFirefox, isLinux, NOT_MEASURED, type Rule } from './rule';

export const instantPressRule: Rule = {
  ...{ flag: 'instant-press', group: 'pointer', expected: '12 ms or more, and not always the same' },
  sees:
    'Buttons that are held for less than 12 ms, in the exact middle, to which the mouse came from elsewhere; or always equally long. ' +
    'On an emulated screen (`synthetic-window`) touches count too.',
  needs:
    '3 presses of a mouse, 5 to call them equal; not short ones on iPhones and iPads, whose pointers may snap to the middle; a ' +
    'clock that is not rounded to 100 ms, nor, to call them equal, to the sixtieth of a second, as in Firefox that resists ' +
    'fingerprinting; and to call them equal on Linux, other times than those for which its trackpads hold a tap: 180, 200, 220 ' +
    'and 300 ms',
  plainly:
    'The mouse button was held for almost no time, or always equally long. A finger does not do that, but software can that ' +
    'presses for people.',
  exempts: {
    touch: 'only a mouse is judged, and touches on an emulated screen',
    zoom: 'a page that is zoomed or pinched is not taken for one on an emulated screen',
    'pixel-ratio': 'a page that fills its screen is at the top of it, at any ratio',
    'screen-reader': 'presses that assistive technology can have made are not judged',
    'developer-tools': 'a hand that touches by a mouse holds its button',
  },
  touches: {
    'tap-to-click':
      'a trackpad can hold each tap equally long; for how long is known of those on Linux, and does not count',
    'keyboard-only': 'a browser for the keyboard presses and releases at once (link hints)',
    dictation: 'voice control presses and releases at once',
    'switch-access': 'software that presses for a switch, or for eyes that rest, can hold each press equally long',
    'remote-desktop': 'a tap on a tablet can become a press of the desktop that is always equally long',
  },
  reference: null,
  judge(features) {
    const holds = findPointed(features, 'holds');
    const hasty = findPointed(features, 'hasty');
    if (holds.count < 3 || hasCoarseClock(features)) return NOT_MEASURED;
    const median = computeMedian(holds);
    const isEqual = median >= MIN_CONSTANT_MS && computeDeviation(holds) < MAX_DEVIATION_MS;
    const isOfClock = isFirefox(features) && isOfFrames(median);
    const isConstant = holds.count >= 5 && isEqual && !isOfClock && !isOfTrackpad(features, median);
    const isSnapping = isAppleMobile(features) && findEmulation(features) === null;
    const isHasty = !isSnapping && hasty.marked * 2 >= hasty.count;
    return decide(isHasty || isConstant, median, (isHasty ? hasty : findPointed(features, 'released')).momentsMs);
  },
};

/** Software for trackpads and switches can make equal presses that are shorter. */
const MIN_CONSTANT_MS = 12;
const MAX_DEVIATION_MS = 1;

const FRAME_MS = 1_000 / 60;
const ROUNDING_MS = 0.2;
/** Whether a time is as a clock gives it that is rounded to frames, as in Tor Browser: there holds between 80 and 110 ms are often equal. */
const isOfFrames = (ms: number): boolean => Math.abs(ms - Math.round(ms / FRAME_MS) * FRAME_MS) <= ROUNDING_MS;

/**
 * Where a tap can become a drag, libinput releases it when no finger has come back: after 160 ms, and 20 for each finger, or 300 in old
 * versions. The X server then says so to the millisecond, whatever the finger did.
 */
const TAP_HOLDS_MS = [180, 200, 220, 300];
const TAP_TOLERANCE_MS = 3;
const isOfTrackpad = (features: Features, ms: number): boolean =>
  (isLinux(features) || features.userAgent.includes('BSD')) &&
  TAP_HOLDS_MS.some((heldMs) => Math.abs(ms - heldMs) <= TAP_TOLERANCE_MS);
