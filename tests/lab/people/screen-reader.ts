import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Screen } from '../screen';
import type { Step } from '../subject';
import { look } from './control';
import { KeyboardOnly } from './keyboard-only';

// What a screen reader does to a page: it presses and focuses elements through the accessibility interface of the desktop
// (AT-SPI), the one that Orca uses. What it reads aloud is not there.

const PROGRAM = fileURLToPath(new URL('./accessible.py', import.meta.url));
/** The system's Python, because the interface belongs to the system. */
const PYTHON = '/usr/bin/python3';
const PROBE = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi";

export const findMissingInterface = (): string | null =>
  spawnSync(PYTHON, ['-c', PROBE]).status === 0
    ? null
    : 'not installed: AT-SPI for Python (at-spi2-core, gir1.2-atspi-2.0, python3-gi)';

/** The bus on which the browser and the screen reader meet. */
export const describeBus = (profile: string) => ({
  DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(profile, 'bus')}`,
  ACCESSIBILITY_ENABLED: '1',
  GNOME_ACCESSIBILITY: '1',
});

export async function startBus(screen: Screen): Promise<void> {
  const settings = describeBus(screen.profile);
  const address = `--address=${settings.DBUS_SESSION_BUS_ADDRESS}`;
  screen.open('dbus-daemon', ['--session', '--nofork', '--nopidfile', address], settings);
}

type Command = { do: 'press' | 'focus'; id: string };
type StepTo<Do extends Step['do']> = Extract<Step, { do: Do }>;

/** Listens to the page, presses what it names and types on the keyboard. */
export class ScreenReaderUser extends KeyboardOnly {
  #send: ((command: Command) => Promise<string>) | null = null;

  override async scroll({ byPx }: StepTo<'scroll'>): Promise<void> {
    // Listening takes longer than looking, and moves nothing.
    await this.person.rest(byPx * 4);
  }

  override async click({ target }: StepTo<'click'>): Promise<void> {
    await this.arrive({ do: 'arrive', target });
    await this.#listen();
    await this.#do({ do: 'press', id: target.slice(1) });
    await this.person.rest(300);
  }

  protected override async focus(target: string): Promise<void> {
    await this.arrive({ do: 'arrive', target });
    await this.#listen();
    await this.#do({ do: 'focus', id: target.slice(1) });
    await this.geometry.waitFor(({ focus }) => focus === target);
    if (look(this.desk).focus !== target) throw new Error(`${target} did not get the focus`);
  }

  #listen(): Promise<void> {
    return this.person.rest(this.person.chance.logNormal(1_400, 0.35));
  }

  async #do(command: Command): Promise<void> {
    this.#send ??= await this.#connect();
    const answer = await this.#send(command);
    if (answer !== 'ok') throw new Error(`the screen reader: ${answer}`);
  }

  async #connect(): Promise<(command: Command) => Promise<string>> {
    const { screen } = this.desk;
    const env = describeBus(screen.profile);
    // It ends with the screen, as all programs on it do.
    const reader = screen.open(PYTHON, [PROGRAM], env, ['pipe', 'pipe', 'inherit']);
    const lines = createInterface(reader.stdout!)[Symbol.asyncIterator]();
    await lines.next();
    reader.stdin!.on('error', () => {});
    return async (command) => {
      reader.stdin!.write(`${JSON.stringify(command)}\n`);
      return (await lines.next()).value ?? 'it has ended';
    };
  }
}
