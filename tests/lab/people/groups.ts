import type { PeopleGroup } from '../../../server/detection/rules/people';

// Which controls stand for the groups of people that rules must not accuse. What has no real way to the browser on this
// machine enters no interval.

export interface Coverage {
  /** Families of controls. None: not measured. */
  families: readonly string[];
  /** What they do not cover, in words. */
  unmeasured: string | null;
}

export const COVERAGE: Readonly<Record<PeopleGroup, Coverage>> = {
  'keyboard-only': { families: ['keyboard-only'], unmeasured: null },
  touch: { families: ['touch'], unmeasured: 'phones, and keyboards on the screen of a tablet' },
  'tap-to-click': {
    families: ['trackpad'],
    unmeasured: 'trackpads on Windows and macOS, and on Linux those on which a tap can become a drag',
  },
  'screen-reader': { families: ['screen-reader'], unmeasured: 'the screen readers themselves' },
  'switch-access': { families: ['switch-access'], unmeasured: 'the programs for switches and eye trackers themselves' },
  dictation: { families: ['voice'], unmeasured: 'dictation that inserts text without keys, as on Windows and macOS' },
  'input-method': { families: ['input-method'], unmeasured: 'the input methods of Windows and macOS' },
  autofill: { families: [], unmeasured: 'autofill and password managers: the pages have no form that they fill' },
  zoom: { families: ['zoomed'], unmeasured: 'zoom by pinching' },
  'pixel-ratio': { families: ['pixel-ratio'], unmeasured: null },
  'remote-desktop': { families: ['remote-desktop'], unmeasured: 'RDP to Windows, and Citrix' },
  'developer-tools': { families: ['developer-tools'], unmeasured: null },
  'slow-machine': { families: ['slow-machine'], unmeasured: null },
};

/** Families of people who are in no such group. */
export const OTHERS = ['mouse', 'typist', 'paste', 'onlooker'] as const;
