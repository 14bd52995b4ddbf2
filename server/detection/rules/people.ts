/**
 * Groups of people whose way of using a computer changes what a browser reports. If a group changes what a rule reads, the rule
 * must exempt the group (`exempts`) or say why it may also flag it (`touches`). tests/unit/detection/fairness.test.ts checks that.
 */
export const PEOPLE_GROUPS = {
  'keyboard-only': 'people who use no pointer',
  touch: 'touch screens',
  'tap-to-click': 'trackpads that are tapped, not pressed',
  'screen-reader': 'people who listen to a page',
  'switch-access': 'switches, eye trackers and on-screen keyboards',
  dictation: 'dictation and voice control',
  'input-method': 'input methods, as for Chinese or Japanese',
  autofill: 'autofill and password managers',
  zoom: 'zoom by keyboard or pinch',
  'pixel-ratio': 'screens with more than one pixel to a CSS pixel',
  'remote-desktop': 'remote desktops',
  'developer-tools': 'open developer tools',
  'slow-machine': 'slow machines',
} as const;

export type PeopleGroup = keyof typeof PEOPLE_GROUPS;
