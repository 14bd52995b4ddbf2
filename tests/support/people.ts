import type { PeopleGroup } from '../../server/detection/rules/people';
import { type Manner, PEOPLE } from './synthetic-sessions';
import { MACINTOSH } from './trace';

/** What a group of people changes of what rules read, and sessions that show it strongly. */
export interface PeopleMarks {
  /** Paths in the features (server/detection/features.ts) and deeds (deeds.ts) whose values a session of the group can have differently. */
  changes: readonly string[];
  manners: readonly Manner[];
}

const uniform = (min: number, max: number) => (random: () => number) => min + random() * (max - min);

const SCALED = [...['environments.v', 'mousePresses.betweenPixels', 'mousePresses.screenOffsets', 'moves.mismatched']];
/** Keys without a code, as those that are not from a keyboard. */
const NO_KEYBOARD = ['keys.hasCode', 'unshiftedCapitals', 'keyHolds', 'keyIntervals', 'insertions.keylessLength'];
/** Chromium makes the events of a mouse if a screen reader asks for the action of an element. */
const SIMULATED_PRESSES: Manner = {
  ...{ ...PEOPLE['screen reader']!, presses: 'mouse', approach: 'none' },
  ...{ isCentred: true, focus: 'before', pressurePercent: 0, holdMs: () => 0.1 },
};
/** A dictation program types what was spoken, and brings a keymap in which no capital needs Shift. */
const TYPED_DICTATION: Manner = {
  ...{ isFocusSudden: true, focusToTextMs: 6_000, hasShift: false },
  ...{ dwellMs: () => 2, intervalMs: () => 5 },
};
/** An extension shows letters next to links, or their names are spoken, and presses what is chosen. */
const LINK_HINTS: Manner = { approach: 'none', isUntrusted: true, focusToTextMs: 400 };
/** A browser for the keyboard presses what is chosen by its letters, as a device would (qutebrowser, Vieb). */
const TRUSTED_HINTS: Manner = { approach: 'jump', isCentred: true, holdMs: () => 0 };
/** The keyboard on the screen of a tablet, and taps on it, become keys and presses of the desktop that nobody holds. */
const FROM_TABLET: Manner = { ...PEOPLE['remote desktop']!, holdMs: uniform(0, 2), dwellMs: uniform(0, 2) };
/** A spoken command enters a field and inserts a text that was kept. */
export const KEPT_TEXT: Manner = { ...PEOPLE['voice control and dictation']!, text: 'insert' };
/** Where a tap can become a drag, software for trackpads on Linux holds each of them equally long. */
export const HELD_TAPS: Manner = { holdMs: (random) => 180 + Math.floor(2 * random()) };
const ZOOMED = PEOPLE['zoom to 125 %']!.environment!;
const SCALE: Manner = { isFractional: true, isMismatched: true };

/** The people that rules must not accuse. Synthetic, so they show what is exempt, not how often a rule is wrong. */
export const PEOPLE_MARKS: Record<PeopleGroup, PeopleMarks> = {
  'keyboard-only': {
    changes: [
      ...['suddenFocuses', 'suddenJumps', 'untrustedPresses', 'presses.isCentred', 'mousePresses.centred'],
      ...['mousePresses.unapproached', 'mousePresses.holds', 'mousePresses.hasty', 'silentPauses'],
    ],
    manners: [
      PEOPLE['keyboard only']!,
      { ...LINK_HINTS, text: 'paste' },
      TRUSTED_HINTS,
      { ...TRUSTED_HINTS, isScrolledByCommand: true },
      // A grid that halves with each key leads the pointer anywhere.
      { ...TRUSTED_HINTS, isCentred: false, isScrolledByCommand: true },
    ],
  },
  touch: {
    changes: [
      ...['presses.pointer', 'mousePresses.pressureless', 'mousePresses.betweenPixels', 'mousePresses.unapproached'],
      ...['mousePresses.holds', 'mousePresses.centred', 'hasTouch', 'environments.h', 'moves.count', ...NO_KEYBOARD],
    ],
    manners: [
      PEOPLE.touch!,
      { ...PEOPLE.touch!, text: 'insert', environment: { h: [8, 8, 5, 0] } },
      PEOPLE['keyboard on the screen of a phone']!,
    ],
  },
  'tap-to-click': {
    changes: ['presses.heldMs', 'mousePresses.holds', 'mousePresses.hasty'],
    manners: [
      PEOPLE['tap-to-click trackpad']!,
      { ...PEOPLE['tap-to-click trackpad']!, holdMs: uniform(0, 13) },
      HELD_TAPS,
      // Others may hold a tap for a time that nobody knows.
      { holdMs: () => 120 },
      PEOPLE['tapped trackpad of a Chromebook']!,
      PEOPLE['tap-to-click trackpad on Wayland']!,
    ],
  },
  'screen-reader': {
    changes: [
      ...['suddenFocuses', 'suddenJumps', 'mousePresses.pressureless', 'mousePresses.centred', 'silentPauses'],
      ...['mousePresses.unapproached', 'mousePresses.holds', 'mousePresses.hasty'],
    ],
    manners: [
      { ...PEOPLE['screen reader']!, isScrolledByCommand: true },
      SIMULATED_PRESSES,
      { ...SIMULATED_PRESSES, holdMs: uniform(0, 60) },
      { ...SIMULATED_PRESSES, approach: 'sometimes' },
      { ...SIMULATED_PRESSES, approach: 'jump' },
      { ...SIMULATED_PRESSES, approach: 'jump', focus: 'never', isScrolledByCommand: true },
      { ...SIMULATED_PRESSES, isCentred: false, holdMs: uniform(1, 200) },
      { ...SIMULATED_PRESSES, approach: 'moves', isFractional: true, environment: ZOOMED },
    ],
  },
  'switch-access': {
    changes: [
      ...['keys.heldMs', 'presses.heldMs', 'mousePresses.unapproached', 'mousePresses.holds', 'silentPauses'],
      ...NO_KEYBOARD,
    ],
    manners: [PEOPLE['eye tracker or switch']!, { ...PEOPLE['eye tracker or switch']!, holdMs: () => 100 }],
  },
  dictation: {
    changes: [
      ...['presses.isCentred', 'mousePresses.centred', 'mousePresses.unapproached', 'mousePresses.holds'],
      ...['silentPauses', 'suddenJumps', 'suddenFocuses', 'untrustedPresses', ...NO_KEYBOARD],
    ],
    manners: [
      PEOPLE['voice control and dictation']!,
      { ...PEOPLE['voice control and dictation']!, isScrolledByCommand: true },
      // A grid of numbers leads the pointer anywhere.
      { ...PEOPLE['voice control and dictation']!, isCentred: false, isScrolledByCommand: true },
      { ...TYPED_DICTATION, approach: 'jump', isCentred: true, holdMs: uniform(0, 0.5) },
      { ...TYPED_DICTATION, ...LINK_HINTS, focusToTextMs: 6_000 },
      { ...LINK_HINTS, text: 'dictation' },
      KEPT_TEXT,
    ],
  },
  'input-method': { changes: NO_KEYBOARD, manners: [PEOPLE['input method']!] },
  autofill: {
    changes: [
      ...['insertions.keylessLength', 'suddenFocuses', 'keys.isTrusted', 'untrustedCharacters', 'untrustedClicks'],
      ...['unshiftedCapitals', 'keyHolds', 'keyIntervals'],
    ],
    manners: [
      { text: 'autofill', isFocusSudden: true },
      { text: 'script', isFocusSudden: true },
    ],
  },
  zoom: { changes: SCALED, manners: [{ ...PEOPLE['zoom to 125 %']!, ...SCALE }] },
  'pixel-ratio': { changes: SCALED, manners: [{ ...PEOPLE['screen with two pixels to one']!, ...SCALE }] },
  'remote-desktop': {
    changes: [
      ...['presses.heldMs', 'mousePresses.unapproached', 'mousePresses.holds', 'silentPauses', 'moves.count'],
      ...['moves.maxCoalesced', 'environments.v', 'networks', 'times.tenths', 'keyHolds', 'unshiftedCapitals'],
    ],
    manners: [
      { ...PEOPLE['remote desktop']!, network: 16_509 },
      { ...FROM_TABLET, network: 16_509 },
      // It can move the mouse of the desktop like a trackpad.
      { ...FROM_TABLET, network: 16_509, approach: 'slow', isCoalesced: true },
      // Its button on the screen can be held.
      { ...FROM_TABLET, network: 16_509, approach: 'slow', isCoalesced: true, holdMs: uniform(40, 90) },
      // Some clients send a tap as a press that takes a fixed time.
      { ...FROM_TABLET, network: 16_509, holdMs: () => 60 },
      // On a Macintosh it posts characters, which need no Shift.
      { ...FROM_TABLET, userAgent: MACINTOSH, hasShift: false },
      { ...FROM_TABLET, userAgent: MACINTOSH, hasShift: false, approach: 'slow', isCoalesced: true },
      { ...PEOPLE['remote desktop']!, ...PEOPLE['kiosk in full screen']!, holdMs: uniform(20, 90) },
    ],
  },
  'developer-tools': {
    changes: ['environments.q', 'environments.v', 'mousePresses.beyondScreen', 'touchPresses.beyondScreen'],
    manners: [
      ...[PEOPLE['docked developer tools']!, PEOPLE['undocked developer tools']!],
      PEOPLE['a page as on a phone in developer tools']!,
    ],
  },
  'slow-machine': {
    changes: [
      ...['moves.count', 'moves.maxCoalesced', 'mousePresses.unapproached', 'times.tenths'],
      ...['telemetry.missingBatches', 'telemetry.droppedEvents', 'telemetry.clockErrorMs'],
    ],
    manners: [{ approach: 'slow', dropped: 40 }],
  },
};
