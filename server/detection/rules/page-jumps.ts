import { decide, isPressingMiddles, judgeShare, NOT_MEASURED, type Rule } from './rule';

export const pageJumpsRule: Rule = {
  ...{ flag: 'page-jumps', group: 'flow', expected: 'below 0.5 of the jumps, and fewer than 2' },
  sees:
    'A page that is scrolled far at once, from rest, without wheel, key, press, touch or a new page within two ' +
    'seconds before it, and a press of the mouse within a second and a half after it: as programs do that ' +
    'scroll an element into view before they press it. The search of the browser, a page that moves itself and ' +
    'content that loads late can look the same. It is not judged beside presses in exact middles, which can be those of voice ' +
    'control.',
  needs: '2 jumps of at least 300 pixels; the first scroll of a document is unknown',
  plainly:
    'The page jumped to where the mouse was pressed next, and nobody had scrolled. Programs do that, and ' +
    'sometimes pages do.',
  exempts: {
    touch: 'only a mouse is judged',
    'screen-reader': 'presses without pressure, as assistive technology makes them, do not count',
  },
  touches: {
    'keyboard-only': 'keys that a browser for the keyboard takes can scroll, and then press where the pointer is sent',
    dictation: 'voice control scrolls by command and presses at once, also where no middle is',
  },
  reference: 'W3C CSSOM View, `scrollIntoView`; Playwright, actionability',
  judge(features) {
    const { suddenJumps } = features;
    if (isPressingMiddles(features)) return NOT_MEASURED;
    const outcome = judgeShare(suddenJumps, { needed: 2, share: 0.5 });
    return suddenJumps.marked < 2 && outcome.state === 'found' ? decide(false, outcome.measured, []) : outcome;
  },
};
