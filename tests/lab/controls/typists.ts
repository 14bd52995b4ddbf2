import { defineControl } from '../people/control';

// The slow and the fast end of the people in Dhakal et al. 2018: one finger that searches, and ten that overlap.
export const subjects = [
  defineControl({
    ...{ name: 'one-finger-typist', family: 'typist' },
    traits: { intervalMs: 420, keyMs: 140, rhythmSpread: 0.5, typoRate: 0.04, bitsPerSecond: 3.2, searchMs: 800 },
  }),
  defineControl({
    ...{ name: 'fast-typist', family: 'typist' },
    traits: { intervalMs: 110, keyMs: 115, rhythmSpread: 0.32, typoRate: 0.01 },
  }),
];
