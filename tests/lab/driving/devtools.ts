import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';
import { bareOptions, HIDDEN_PAGES_OFF } from '../../support/browser.mjs';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import { findFreePort } from '../../support/ports';
import type { Subject, Visit } from '../subject';
import { type Hands, takeSteps } from './hands';
import { findMissingNeeds } from './packages';

// An ordinary Chromium that is driven through the DevTools protocol without a library, as agents in a person's own
// browser do it: no domain is enabled that a page could notice.

const LOOK_MS = 50;

export interface DevtoolsPage {
  // biome-ignore lint/suspicious/noExplicitAny: answers have as many forms as there are methods
  send(method: string, params?: Record<string, unknown>): Promise<any>;
  /** Scrolls an element into view. Answers its box in the viewport. */
  show(selector: string): Promise<{ x: number; y: number; width: number; height: number }>;
  mouse(type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', x: number, y: number, more?: object): Promise<unknown>;
  scroll(byPx: number): Promise<unknown>;
}

export interface DevtoolsDriver {
  name: string;
  family?: string;
  isHeadful: boolean;
  thinkMs?: number;
  hands(page: DevtoolsPage, visit: Visit): Pick<Hands, 'click' | 'type'> & Partial<Hands>;
}

/** Defines a driver that speaks the DevTools protocol itself. */
export function driveDevtools({ name, family, isHeadful, thinkMs, hands }: DevtoolsDriver): Subject {
  return {
    ...{ name, family: family ?? 'devtools-protocol', kind: 'driver', input: 'real', isHeadful },
    findMissing: () => findMissingNeeds({ isHeadful }),
    async act(visit) {
      // Port 0 would make the browser say that it is controlled (navigator.webdriver).
      const port = await findFreePort();
      const own = ['--window-size=1280,900', `--remote-debugging-port=${port}`, HIDDEN_PAGES_OFF];
      const { executablePath, args } = bareOptions(own);
      const mode = isHeadful ? [] : ['--headless'];
      const all = [...args, ...mode, `--user-data-dir=${visit.profile}`, 'about:blank'];
      const browser = spawn(executablePath, all, { env: visit.env, stdio: 'ignore' });
      const ended = once(browser, 'exit');
      try {
        const page = await connect(await findPage(port));
        await page.send('Page.navigate', { url: visit.url });
        const usual = {
          scroll: page.scroll,
          arrive: (target: string) => visit.geometry.waitFor(({ boxes }) => boxes[target] !== undefined),
        };
        await takeSteps(visit.steps, { ...usual, ...hands(page, visit) }, thinkMs);
        await page.send('Page.navigate', { url: 'about:blank' });
        await Promise.race([page.send('Browser.close'), sleep(2_000)]);
      } finally {
        browser.kill();
        await ended;
      }
    },
  };
}

/** Finds the address of the browser's only page. */
async function findPage(port: number): Promise<string> {
  for (const until = Date.now() + WAIT_LIMIT_MS; Date.now() < until; await sleep(LOOK_MS)) {
    const response = await fetch(`http://127.0.0.1:${port}/json`).catch(() => null);
    const targets = ((await response?.json()) ?? []) as Record<string, string>[];
    const page = targets.find(({ type }) => type === 'page');
    if (page) return page.webSocketDebuggerUrl!;
  }
  throw new Error('Chromium did not open its DevTools port');
}

async function connect(address: string): Promise<DevtoolsPage> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    const { resolve, reject } = waiting.get(id) ?? {};
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
    waiting.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let id = 0;
  const send: DevtoolsPage['send'] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      waiting.set(++id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params }));
    });
  return {
    send,
    async show(selector) {
      const { root } = await send('DOM.getDocument');
      const { nodeId } = await send('DOM.querySelector', { nodeId: root.nodeId, selector });
      await send('DOM.scrollIntoViewIfNeeded', { nodeId });
      const [left, top, right, , , bottom] = (await send('DOM.getBoxModel', { nodeId })).model.border;
      return { x: left, y: top, width: right - left, height: bottom - top };
    },
    mouse: (type, x, y, more = {}) => send('Input.dispatchMouseEvent', { type, x, y, ...more }),
    scroll: (byPx) => send('Input.dispatchMouseEvent', { type: 'mouseWheel', x: 400, y: 400, deltaX: 0, deltaY: byPx }),
  };
}
