import { type Control, defineControl } from '../people/control';
import { connectTrackpad, useTrackpad } from '../people/finger';
import { findMissingDriver, prepareXorg, wakePointer } from '../people/input-driver';

// A trackpad on which a tap is a click, and no drag follows from it: the driver holds the button for a moment. Where one can, as most
// desktops have it, the button is held for 180 ms; that is not measured. The pointer needs several strokes for a long way, and two
// fingers scroll smoothly.
const hand = { pressMs: 2.2, strokePx: 330, reportMs: 10, bitsPerSecond: 3.4, tremorPx: 0.2 };
const trackpad: Control = {
  ...{ name: 'tap-to-click', family: 'trackpad', traits: hand, server: prepareXorg, needs: ['Xorg'] },
  ...{ findMissing: findMissingDriver, wake: wakePointer, manner: useTrackpad },
  connect: (screen) => connectTrackpad(screen.profile, screen),
};

export const subjects = [
  defineControl(trackpad),
  // The same without the driver: how a busy computer stretches the hold of a tap.
  defineControl({ name: 'tap-to-click-late', family: 'trackpad', traits: hand }),
];
