import { type Control, type Desk, defineControl } from '../people/control';
import { describeBus, findMissingInterface, ScreenReaderUser, startBus } from '../people/screen-reader';

// Somebody who hears the page: elements are pressed and focused through the accessibility interface, texts are typed.
const listener: Control = {
  ...{ name: 'screen-reader-chromium', family: 'screen-reader', needs: ['dbus-daemon'] },
  ...{ findMissing: findMissingInterface, env: describeBus, furnish: startBus },
  switches: ['--force-renderer-accessibility'],
  manner: (desk: Desk) => new ScreenReaderUser(desk),
};
export const subjects = [
  defineControl(listener),
  defineControl({ ...listener, name: 'screen-reader-firefox', browser: 'firefox', switches: [] }),
];
