import { judgeShare, type Rule } from './rule';

/**
 * Sees presses of a mouse without pressure. A mouse has 0.5 while a button is down; events that come through the DevTools
 * protocol have 0. Needs two presses of a mouse. Exempts touch and pens, whose pressure is real, keyboards, and presses
 * that scripts made, which have a rule of their own.
 * Reference: W3C Pointer Events, `pressure`.
 */
export const zeroPressureRule: Rule = {
  ...{ flag: 'zero-pressure', group: 'integrity', expected: 'below 0.5 of the presses' },
  judge: ({ mousePresses }) => judgeShare(mousePresses.pressureless, { needed: 2, share: 0.5 }),
};
