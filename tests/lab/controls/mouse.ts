import { defineControl } from '../people/control';

// A mouse and a keyboard, in both browsers.
export const subjects = [
  defineControl({ name: 'mouse-chromium', family: 'mouse' }),
  defineControl({ name: 'mouse-firefox', family: 'mouse', browser: 'firefox' }),
];
