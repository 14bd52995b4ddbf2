import { judgeShare, type Rule } from './rule';

/**
 * Sees presses in the exact middle of elements, within half a pixel. Needs three presses of a mouse on elements of at
 * least 10 pixels. Exempts keyboards, touch and pens, and small elements. Voice control and screen readers can press in
 * the middle too, so the rule never decides alone.
 */
export const exactCentreRule: Rule = {
  ...{ flag: 'exact-centre', group: 'pointer', expected: 'below 0.6 of the presses' },
  judge: ({ mousePresses }) => judgeShare(mousePresses.centred, { needed: 3, share: 0.6 }),
};
