import { existsSync, readdirSync } from 'node:fs';
import { type Control, defineControl } from '../people/control';

// Somebody who writes Vietnamese with VIQR, an input method of GTK: letters that can take a mark are composed, and
// committed by the key after them.

const MODULE = 'gtk-3.0/3.0.0/immodules/im-viqr.so';
const LIBRARIES = '/usr/lib';

function findMissing(): string | null {
  const folders = ['lib64', ...(existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])];
  const isInstalled = folders.some((folder) => existsSync(`${LIBRARIES}/${folder}/${MODULE}`));
  return isInstalled ? null : 'not installed: the input method VIQR of GTK 3 (libgtk-3-0)';
}

const composer: Control = {
  ...{ name: 'input-method-chromium', family: 'input-method', findMissing },
  env: () => ({ GTK_IM_MODULE: 'viqr' }),
};
export const subjects = [
  defineControl(composer),
  defineControl({ ...composer, name: 'input-method-firefox', browser: 'firefox' }),
];
