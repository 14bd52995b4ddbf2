import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { Person } from '../person';
import type { Screen } from '../screen';
import type { Desk } from './control';
import { MouseAndKeyboard } from './mouse-and-keyboard';
import { describeBus, startBus } from './screen-reader';

// Somebody who writes with an input method: IBus, the one of most desktops of Linux. Keys compose syllables, and further keys choose
// what they become.

export interface InputMethod {
  /** The name of its engine in IBus. */
  engine: string;
  /** Settings of the engine, as GLib keeps them in a file. */
  settings: string;
  /** Words as they are typed. */
  words: readonly string[];
  /** Chooses what has just been composed. */
  choose(person: Person): Promise<void>;
}

export const pinyin: InputMethod = {
  engine: 'libpinyin',
  settings: '',
  words: [
    ...['women', 'jintian', 'xuexi', 'zhexie', 'wenti', 'danshi', 'wojuede', 'laoshi', 'shuode', 'hen', 'haode'],
    ...['zuoye', 'yinwei', 'shijian', 'buduo'],
  ],
  async choose(person) {
    await person.rest(person.chance.logNormal(260, 0.5));
    // The first candidate, or another one of the list.
    await person.tap(person.chance.happens(0.8) ? 'space' : '2');
  },
};

export const romaji: InputMethod = {
  engine: 'anthy',
  settings: '[org/freedesktop/ibus/engine/anthy/common]\ninput-mode=0\n',
  words: [
    ...['watashi', 'ha', 'kyou', 'gakkou', 'de', 'benkyou', 'shimashita', 'sensei', 'no', 'hanashi'],
    ...['ha', 'totemo', 'omoshiroi'],
  ],
  async choose(person) {
    await person.tap('space');
    await person.rest(person.chance.logNormal(300, 0.5));
    if (person.chance.happens(0.3)) await person.tap('space');
    await person.tap('Return');
  },
};

export const hangul: InputMethod = {
  engine: 'hangul',
  settings: "[org/freedesktop/ibus/engine/hangul]\ninitial-input-mode='hangul'\n",
  words: ['dksbudgk', 'tptjdy', 'dlrjt', 'tkfka', 'dnflrk', 'gkrtod', 'dlqslek'],
  choose: (person) => person.tap('space'),
};

/** Finds what is missing to write with it. */
export const findMissingEngine = ({ engine }: InputMethod): string | null =>
  existsSync(`/usr/share/ibus/component/${engine}.xml`) ? null : `not installed: ibus-${engine}`;

/** The environment of the browser, so that it asks IBus. */
export const describeInputMethod = (profile: string) => ({
  DBUS_SESSION_BUS_ADDRESS: describeBus(profile).DBUS_SESSION_BUS_ADDRESS,
  XDG_CONFIG_HOME: join(profile, 'config'),
  XDG_CACHE_HOME: join(profile, 'cache'),
  GSETTINGS_BACKEND: 'keyfile',
  GTK_IM_MODULE: 'ibus',
  XMODIFIERS: '@im=ibus',
  // Its engines are written for the Python of the system.
  PATH: `/usr/bin:${process.env.PATH}`,
});

export async function startInputMethod(screen: Screen, { engine, settings }: InputMethod): Promise<void> {
  const env = describeInputMethod(screen.profile);
  const folder = join(env.XDG_CONFIG_HOME, 'glib-2.0', 'settings');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'keyfile'), settings);
  await startBus(screen);
  screen.open('ibus-daemon', ['--panel', 'disable', '--xim', '--replace'], env);
  // The command that chooses an engine says that it failed where no keyboard layout can be set, so ask which one it is.
  const ask = (...args: string[]) =>
    spawnSync('ibus', ['engine', ...args], { env: { ...screen.env, ...env }, encoding: 'utf8' }).stdout.trim();
  for (const until = Date.now() + WAIT_LIMIT_MS; ask() !== engine; await sleep(200)) {
    if (Date.now() > until) throw new Error(`IBus did not start ${engine}`);
    ask(engine);
  }
}

/** Writes as much as the task asks for, in another language. */
export class InputMethodUser extends MouseAndKeyboard {
  readonly #method: InputMethod;

  constructor(desk: Desk, method: InputMethod) {
    super(desk);
    this.#method = method;
  }

  protected override async write(text: string): Promise<void> {
    const { words, choose } = this.#method;
    for (let written = 0, index = 0; written < text.length; index++) {
      const word = words[index % words.length]!;
      await this.person.type(word);
      await choose(this.person);
      written += word.length;
    }
  }
}
