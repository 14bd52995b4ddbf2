import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { Screen } from '../screen';
import type { BrowserCommand } from './browsers';
import type { Deed } from './devices';
import type { Point } from './reaching';

/** Where the page is on the screen, in pixels of the screen, and how large its viewport is, in CSS pixels. */
export interface Viewport {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Pixels of the screen for each CSS pixel. */
  pixelRatio: number;
  /** Where the pointer is on the screen, if that is known. */
  pointer?: Point;
}

interface Sight {
  x: number;
  y: number;
  width: number;
  height: number;
  pixelRatio: number;
  hasFocus: boolean;
}

const PROBE = `<!doctype html><meta name="referrer" content="no-referrer"><title>Please wait</title><script>
  onmousemove = async ({ clientX: x, clientY: y }) => {
    const { innerWidth: width, innerHeight: height, devicePixelRatio: pixelRatio } = window;
    const sight = { x, y, width, height, pixelRatio, hasFocus: document.hasFocus() };
    const response = await fetch('/', { method: 'POST', body: JSON.stringify(sight) });
    const url = await response.text();
    if (url) location.replace(url);
  };
</script>`;

/** On the page, wherever the window is. */
const FROM = { x: 420, y: 520 };
const LOOK_MS = 200;
/** A busy machine tells later what it sees. */
const PATIENCE_MS = 2_000;
/** On an Xorg server Chromium notices that it has the focus when the first key comes. */
const WAKE_EVERY = 10;
export const WAKING: Deed[] = [
  { atMs: 0, do: 'keyDown', key: 'Shift_L' },
  { atMs: 50, do: 'keyUp', key: 'Shift_L' },
];
/** A window that has just opened moves its page: bars come and go. */
const STEADY_LOOKS = 5;
const TOLERANCE_PX = 2.5;

/**
 * Opens an address in an ordinary browser window and finds out where its page is on the screen: a page of this machine
 * tells where it sees the pointer, then goes on to the address.
 */
export async function openWindow(
  screen: Screen,
  url: string,
  prepare: (probeUrl: string) => BrowserCommand,
  { env = {}, wake }: { env?: Record<string, string> | undefined; wake?: (() => Promise<void>) | undefined } = {},
): Promise<{ viewport: Viewport; browser: ChildProcess }> {
  let seen: Sight | null = null;
  let isFound = false;
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(PROBE);
    seen = JSON.parse(await text(request));
    response.end(isFound ? url : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { program, args } = prepare(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const browser = screen.open(program, args, env);
    const looks: Viewport[] = [];
    for (let i = 0, until = Date.now() + WAIT_LIMIT_MS; ; i++) {
      if (Date.now() > until) throw new Error('the browser window did not come');
      const at = { x: FROM.x + ((i * 7) % 40), y: FROM.y + ((i * 5) % 30) };
      seen = null;
      await screen.perform([{ atMs: 0, do: 'move', ...at }]);
      await sleep(LOOK_MS);
      const patientUntil = Date.now() + PATIENCE_MS;
      while (looks.length > 0 && !isFound && seen === null && Date.now() < patientUntil) await sleep(LOOK_MS / 10);
      const sight = seen as Sight | null;
      if (isFound && sight === null) return { viewport: { ...looks.at(-1)!, pointer: at }, browser };
      if (!sight?.hasFocus && i % WAKE_EVERY === WAKE_EVERY - 1) {
        await screen.perform(WAKING);
        await wake?.();
      }
      if (!sight?.hasFocus) continue;
      const { width, height, pixelRatio } = sight;
      const viewport = {
        left: at.x - sight.x * pixelRatio,
        top: at.y - sight.y * pixelRatio,
        width,
        height,
        pixelRatio,
      };
      const last = looks.at(-1);
      if (last && !isSame(last, viewport)) looks.length = 0;
      looks.push(viewport);
      if (looks.length > STEADY_LOOKS) isFound = true;
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const isSame = (a: Viewport, b: Viewport) =>
  (['left', 'top', 'width', 'height'] as const).every((key) => Math.abs(a[key] - b[key]) <= TOLERANCE_PX);
