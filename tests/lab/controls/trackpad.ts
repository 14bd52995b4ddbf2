import { defineControl } from '../people/control';

/**
 * A trackpad on which a tap is a click: the button is held for the moment that the driver gives it, and long ways need
 * several strokes. XTEST has no smooth scrolling, so this one scrolls in notches.
 */
export const subjects = [
  defineControl({
    ...{ name: 'tap-to-click', family: 'trackpad' },
    traits: { pressMs: 2.5, strokePx: 330, reportMs: 10, bitsPerSecond: 3.4, tremorPx: 0.2 },
  }),
];
