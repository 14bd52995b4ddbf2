import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Control, defineControl } from '../people/control';
import type { Screen } from '../screen';

// Somebody who writes Vietnamese: the input method Telex composes each word while its letters are typed, and commits it
// with the space after it. It changes the words of the task, as the same keys do on a real desktop.

const ENGINE = 'm17n:vi:telex';
const START_LIMIT_MS = 15_000;
const CALL_LIMIT_MS = 5_000;
const QUIET = ['--panel=disable', '--config=disable', '--emoji-extension=disable', '--cache=none', '--xim'];

const describeInputMethod = (profile: string) => ({
  ...{ GTK_IM_MODULE: 'ibus', QT_IM_MODULE: 'ibus', XMODIFIERS: '@im=ibus', GSETTINGS_BACKEND: 'memory' },
  ...{ XDG_CONFIG_HOME: join(profile, 'config'), XDG_CACHE_HOME: join(profile, 'cache') },
});

/** Starts the input method and chooses its engine. */
async function startInputMethod(screen: Screen): Promise<void> {
  const settings = describeInputMethod(screen.profile);
  mkdirSync(settings.XDG_CONFIG_HOME, { recursive: true });
  screen.open('ibus-daemon', QUIET, settings);
  const env = { ...screen.env, ...settings };
  for (const until = Date.now() + START_LIMIT_MS; ; await sleep(300)) {
    spawnSync('ibus', ['engine', ENGINE], { env, timeout: CALL_LIMIT_MS });
    const chosen = spawnSync('ibus', ['engine'], { env, timeout: CALL_LIMIT_MS, encoding: 'utf8' }).stdout;
    if (chosen?.trim() === ENGINE) return;
    if (Date.now() > until) throw new Error('the input method did not start');
  }
}

const composer: Control = {
  ...{ name: 'input-method-chromium', family: 'input-method', needs: ['ibus', 'ibus-daemon'] },
  ...{ env: describeInputMethod, furnish: startInputMethod },
};
export const subjects = [
  defineControl(composer),
  defineControl({ ...composer, name: 'input-method-firefox', browser: 'firefox' }),
];
