import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireChromium } from '../support/browser.mjs';

// A screen without hardware: an X server in memory with a window manager, and an ordinary headful Chromium on it. Input
// comes only through the X server, as from a mouse and a keyboard; nothing speaks the browser's own protocols.

const SCREEN = { width: 1_440, height: 1_240 };
const START_LIMIT_MS = 10_000;

export interface Screen {
  /** The environment of programs that show their windows on it. */
  env: NodeJS.ProcessEnv;
  /** Opens an ordinary Chromium window. */
  openBrowser(url: string): void;
  /** Sends commands to the X server: those of xdotool, one a line. */
  send(commands: string[]): Promise<void>;
  close(): Promise<void>;
}

/** Lists the programs that a screen needs and this machine lacks. */
export const listMissingPrograms = () =>
  ['Xvfb', 'openbox', 'xdotool'].filter((program) => spawnSync('which', [program]).status !== 0);

/** Starts a screen with a window manager. */
export async function openScreen(): Promise<Screen> {
  const profile = mkdtempSync(join(tmpdir(), 'person-'));
  const children: ChildProcess[] = [];
  const size = `${SCREEN.width}x${SCREEN.height}x24`;
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', size, '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  children.push(server);
  const env = { ...process.env, DISPLAY: `:${await readDisplay(server)}` };
  children.push(spawn('openbox', [], { env, stdio: 'ignore' }));
  return {
    env,
    openBrowser(url) {
      const args = [
        ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--password-store=basic', '--disable-sync'],
        ...['--disable-background-networking', '--disable-component-update'],
        ...[`--user-data-dir=${profile}`, '--window-size=1300,1180', '--window-position=40,20', url],
      ];
      children.push(spawn(requireChromium(), args, { env, stdio: 'ignore' }));
    },
    send: (commands) =>
      new Promise((resolve, reject) => {
        const child = spawn('xdotool', ['-'], { env, stdio: ['pipe', 'ignore', 'inherit'] });
        child.once('error', reject);
        child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`xdotool ended with ${code}`))));
        child.stdin!.end(`${commands.join('\n')}\n`);
      }),
    async close() {
      // The X server last, because the others end with errors without it.
      for (const child of children.reverse()) await end(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** Reads the number of the display that the X server has chosen. */
function readDisplay(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the X server did not start')), START_LIMIT_MS);
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
