import { existsSync, readdirSync } from 'node:fs';
import {
  describeInputMethod,
  findMissingEngine,
  hangul,
  type InputMethod,
  InputMethodUser,
  pinyin,
  romaji,
  startInputMethod,
} from '../people/composing';
import { type Control, defineControl } from '../people/control';

const MODULE = 'gtk-3.0/3.0.0/immodules/im-viqr.so';
const LIBRARIES = '/usr/lib';

function findMissing(): string | null {
  const folders = ['lib64', ...(existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])];
  const isInstalled = folders.some((folder) => existsSync(`${LIBRARIES}/${folder}/${MODULE}`));
  return isInstalled ? null : 'not installed: the input method VIQR of GTK 3 (libgtk-3-0)';
}

/**
 * Somebody who writes Vietnamese with VIQR, an input method of GTK: letters that can take a mark are composed, and committed by the key
 * after them.
 */
const composer: Control = {
  ...{ name: 'input-method-chromium', family: 'input-method', findMissing },
  env: () => ({ GTK_IM_MODULE: 'viqr' }),
};

/** Somebody who writes Chinese, Japanese or Korean with IBus, and chooses among candidates. */
const choosing = (name: string, method: InputMethod): Control => ({
  ...{ name, family: 'input-method', needs: ['dbus-daemon', 'ibus-daemon'] },
  findMissing: () => findMissingEngine(method),
  env: describeInputMethod,
  furnish: (screen) => startInputMethod(screen, method),
  manner: (desk) => new InputMethodUser(desk, method),
});

export const subjects = [
  defineControl(composer),
  defineControl({ ...composer, name: 'input-method-firefox', browser: 'firefox' }),
  defineControl(choosing('pinyin-chromium', pinyin)),
  defineControl({ ...choosing('romaji-firefox', romaji), browser: 'firefox' }),
  defineControl(choosing('hangul-chromium', hangul)),
];
