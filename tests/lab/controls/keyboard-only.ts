import { defineControl } from '../people/control';
import { KeyboardOnly } from '../people/keyboard-only';

// No pointer: Tab, arrows, Space and Enter, as people do who cannot use a mouse or do not want to.
const manner = (desk: ConstructorParameters<typeof KeyboardOnly>[0]) => new KeyboardOnly(desk);
export const subjects = [
  defineControl({ name: 'keyboard-only-chromium', family: 'keyboard-only', manner }),
  defineControl({ name: 'keyboard-only-firefox', family: 'keyboard-only', browser: 'firefox', manner }),
];
