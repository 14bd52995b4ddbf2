import { decide, judgeShare, type Rule } from './rule';

export const pageJumpsRule: Rule = {
  ...{ flag: 'page-jumps', group: 'flow', expected: 'below 0.5 of the jumps, and fewer than 2' },
  sees:
    'A page that is scrolled far at once, from rest, without wheel, key, press, touch or a new page within two ' +
    'seconds before it, and a press of the mouse within a second and a half after it: as programs do that ' +
    'scroll an element into view before they press it. The search of the browser, a page that moves itself and ' +
    'content that loads late can look the same.',
  needs: '2 jumps of at least 300 pixels; the first scroll of a document is unknown',
  plainly:
    'The page jumped to where the mouse was pressed next, and nobody had scrolled. Programs do that, and ' +
    'sometimes pages do.',
  exempts: {
    'screen-reader': 'presses without pressure, as assistive technology makes them, do not count',
  },
  touches: {
    dictation: 'voice control scrolls by command and presses at once',
  },
  reference: 'W3C CSSOM View, `scrollIntoView`; Playwright, actionability',
  judge({ suddenJumps }) {
    const outcome = judgeShare(suddenJumps, { needed: 2, share: 0.5 });
    return suddenJumps.marked < 2 && outcome.state === 'found' ? decide(false, outcome.measured, []) : outcome;
  },
};
