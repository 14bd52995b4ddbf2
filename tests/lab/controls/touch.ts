import { defineControl } from '../people/control';
import { useTouch } from '../people/finger';
import { findMissingDriver, prepareXorg, wakePointer } from '../people/input-driver';

// A laptop with a touchscreen: taps and swipes, and its keyboard for texts.
export const subjects = [
  defineControl({
    ...{ name: 'touch', family: 'touch', server: prepareXorg, needs: ['Xorg'] },
    ...{ findMissing: findMissingDriver, wake: wakePointer, manner: useTouch },
  }),
];
