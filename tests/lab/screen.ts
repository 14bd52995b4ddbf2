import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../support/limits.mjs';
import { type Devices, writeScript } from './people/devices';

// A screen without hardware: an X server in memory with a window manager. Input comes only through the X server, as from
// a mouse and a keyboard; nothing speaks a browser's own protocols.

const SIZE = { width: 1_440, height: 1_240 };
const CLOSE_LIMIT_MS = 6_000;
/** A key that no page sees closes the window in front, as a click on the window's cross does. */
const CLOSE_KEY = 'XF86Close';
const WINDOW_MANAGER = `<openbox_config xmlns="http://openbox.org/3.4/rc"><keyboard>
<keybind key="${CLOSE_KEY}"><action name="Close"/></keybind>
<keybind key="A-Tab"><action name="NextWindow"><finalactions><action name="Focus"/><action name="Raise"/></finalactions></action></keybind>
</keyboard></openbox_config>`;

export interface Screen extends Devices {
  /** A directory for a browser's profile. */
  profile: string;
  /** The environment of the programs on the screen. */
  env: NodeJS.ProcessEnv;
  /** Starts a program on the screen, which is ended with it. */
  open(program: string, args: readonly string[], env?: Record<string, string>, stdio?: StdioOptions): ChildProcess;
  /** Closes the window in front and waits until its program has ended. */
  closeWindow(program: ChildProcess): Promise<void>;
  close(): Promise<void>;
}

/** An X server: its program, and the arguments next to those that ask for its display. */
export interface ServerCommand {
  program: string;
  args: readonly string[];
}

const XVFB: ServerCommand = { program: 'Xvfb', args: ['-screen', '0', `${SIZE.width}x${SIZE.height}x24`] };

/** Lists the programs that a screen needs and this machine lacks. */
export const listMissingPrograms = (needed: readonly string[] = []) =>
  ['Xvfb', 'openbox', 'xdotool', ...needed].filter((program) => spawnSync('which', [program]).status !== 0);

/** Starts a screen with a window manager. Without a profile it makes one, and removes it in the end. */
export async function openScreen(
  { profile, env: outer = process.env }: { profile?: string; env?: NodeJS.ProcessEnv } = {},
  { program, args }: ServerCommand = XVFB,
): Promise<Screen> {
  const directory = profile ?? mkdtempSync(join(tmpdir(), 'person-'));
  const server = spawn(program, ['-displayfd', '3', ...args, '-nolisten', 'tcp'], {
    env: outer,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const children: ChildProcess[] = [server];
  const env: NodeJS.ProcessEnv = { ...outer, DISPLAY: `:${await readDisplay(server)}` };
  const screen: Screen = {
    profile: directory,
    env,
    open(name, parameters, more = {}, stdio = 'ignore') {
      const child = spawn(name, parameters, { env: { ...env, ...more }, stdio });
      child.once('error', () => {});
      children.push(child);
      return child;
    },
    perform: (deeds) =>
      new Promise((resolve, reject) => {
        const child = spawn('xdotool', ['-'], { env, stdio: ['pipe', 'ignore', 'inherit'] });
        child.once('error', reject);
        child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`xdotool ended with ${code}`))));
        child.stdin!.end(`${writeScript(deeds).join('\n')}\n`);
      }),
    async closeWindow(child) {
      const ended = new Promise<boolean>((resolve) => child.once('exit', () => resolve(true)));
      if (child.exitCode !== null) return;
      await screen.perform([
        { atMs: 0, do: 'keyDown', key: CLOSE_KEY },
        { atMs: 30, do: 'keyUp', key: CLOSE_KEY },
      ]);
      if (!(await Promise.race([ended, sleep(CLOSE_LIMIT_MS, false)]))) await end(child);
    },
    async close() {
      // The X server last, because the others end with errors without it.
      for (const child of children.reverse()) await end(child);
      // A browser's other processes write for a while after it has ended.
      if (profile === undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
  try {
    await startWindowManager(screen);
  } catch (error) {
    await screen.close();
    throw error;
  }
  return screen;
}

/** Starts the window manager and waits for it: a window that is there before never gets the focus. */
async function startWindowManager(screen: Screen): Promise<void> {
  const settings = join(screen.profile, 'openbox.xml');
  writeFileSync(settings, WINDOW_MANAGER);
  // It runs the command as soon as it manages windows.
  const args = ['--config-file', settings, '--startup', 'echo'];
  const { stdout } = screen.open('openbox', args, {}, ['ignore', 'pipe', 'ignore']);
  const started = new Promise((resolve) => stdout!.once('data', resolve));
  const late = sleep(WAIT_LIMIT_MS, null, { ref: false });
  if ((await Promise.race([started, late])) === null) throw new Error('the window manager did not start');
}

/** Reads the number of the display that the X server has chosen. */
function readDisplay(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the X server did not start')), WAIT_LIMIT_MS);
    let text = '';
    server.once('error', reject);
    server.stdio[3]!.on('data', (piece: Buffer) => {
      text += piece;
      if (!text.endsWith('\n')) return;
      clearTimeout(timer);
      resolve(Number(text));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await ended;
  clearTimeout(timer);
}
