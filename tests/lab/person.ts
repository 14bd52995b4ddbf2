import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRandom, type Random } from '../../server/demo/session-facts';
import type { Screen } from './screen';

// A person at a screen: the pointer moves like a hand (minimum jerk, tremor, sometimes beyond the target and back), keys
// overlap and have a rhythm. It is a model of a person, not a recording of one.

/** A box on a page, in CSS pixels from the corner of the viewport. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the page is on the screen, and how large its viewport is. */
export interface Viewport {
  left: number;
  top: number;
  width: number;
  height: number;
}

const STEP_MS = 8;
const GEOMETRY_LIMIT_MS = 20_000;
const KEYS: Record<string, string> = { ' ': 'space', '.': 'period', ',': 'comma' };

export class Person {
  #x = 30;
  #y = 20;
  readonly #screen: Screen;
  readonly #viewport: Viewport;
  readonly #random: Random;

  constructor(screen: Screen, viewport: Viewport, seed: number) {
    this.#screen = screen;
    this.#viewport = viewport;
    this.#random = createRandom(seed);
  }

  /** Moves the pointer to a place in a box and presses. */
  async click(box: Box): Promise<void> {
    const x = this.#viewport.left + box.x + box.width * this.#between(0.25, 0.75);
    const y = this.#viewport.top + box.y + box.height * this.#between(0.3, 0.7);
    const commands = [`sleep ${seconds(this.#between(200, 600))}`, ...this.#move(x, y)];
    commands.push(`sleep ${seconds(this.#between(40, 200))}`, 'mousedown 1');
    commands.push(`sleep ${seconds(this.#between(70, 130))}`, 'mouseup 1');
    await this.#screen.send(commands);
  }

  /** Types a text of letters, spaces, full stops and commas. */
  async type(text: string): Promise<void> {
    const acts: [atMs: number, command: string][] = [];
    let atMs = this.#between(200, 600);
    for (const [place, character] of [...text].entries()) {
      const isCapital = character !== character.toLowerCase();
      const key = KEYS[character] ?? character.toLowerCase();
      const gapMs = Math.max(60, 120 * Math.exp(0.5 * this.#gauss()));
      // One finger presses both letters of a double one, so it lets go in between.
      const heldMs = Math.min(Math.max(45, 88 + 18 * this.#gauss()), text[place + 1] === character ? gapMs * 0.7 : 300);
      if (isCapital) {
        acts.push([atMs - this.#between(60, 140), 'keydown shift'], [atMs + heldMs * 0.7, 'keyup shift']);
      }
      acts.push([atMs, `keydown ${key}`], [atMs + heldMs, `keyup ${key}`]);
      // People stop between words and sentences.
      const pauseMs = character === ' ' ? this.#between(0, 250) : 0;
      atMs += gapMs + pauseMs;
    }
    acts.sort(([a], [b]) => a - b);
    let lastMs = 0;
    const commands = acts.flatMap(([actMs, command]) => {
      const pause = `sleep ${seconds(Math.max(0, actMs - lastMs))}`;
      lastMs = Math.max(actMs, lastMs);
      return [pause, command];
    });
    await this.#screen.send(commands);
  }

  #move(x: number, y: number): string[] {
    const distance = Math.hypot(x - this.#x, y - this.#y);
    const durationMs = 180 + 110 * Math.log2(distance / 20 + 1) * this.#between(0.8, 1.3);
    const steps = Math.ceil(durationMs / STEP_MS);
    const bend = this.#between(-0.09, 0.09);
    const goesBeyond = this.#random() < 0.4;
    const endX = goesBeyond ? x + (x - this.#x) * this.#between(0.01, 0.05) : x;
    const endY = goesBeyond ? y + (y - this.#y) * this.#between(0.01, 0.05) : y;
    const points: [x: number, y: number][] = [];
    let [tremorX, tremorY] = [0, 0];
    for (let step = 0; step <= steps; step++) {
      const u = step / steps;
      const way = 10 * u ** 3 - 15 * u ** 4 + 6 * u ** 5;
      const side = Math.sin(Math.PI * way) * bend;
      tremorX += 0.35 * this.#gauss() - 0.15 * tremorX;
      tremorY += 0.35 * this.#gauss() - 0.15 * tremorY;
      points.push([
        this.#x + (endX - this.#x) * way - (endY - this.#y) * side + tremorX,
        this.#y + (endY - this.#y) * way + (endX - this.#x) * side + tremorY,
      ]);
    }
    for (let step = 1; goesBeyond && step <= 8; step++)
      points.push([endX + ((x - endX) * step) / 8, endY + ((y - endY) * step) / 8]);
    const commands: string[] = [];
    let waitedMs = 0;
    for (const [pointX, pointY] of points) {
      const [toX, toY] = [Math.round(pointX), Math.round(pointY)];
      waitedMs += STEP_MS;
      if (toX === this.#x && toY === this.#y) continue;
      commands.push(`sleep ${seconds(waitedMs)}`, `mousemove ${toX} ${toY}`);
      [this.#x, this.#y, waitedMs] = [toX, toY, 0];
    }
    return commands;
  }

  #between(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }

  #gauss(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
  }
}

const seconds = (ms: number) => (ms / 1_000).toFixed(4);

const PROBE = `<!doctype html><title>Please wait</title><script>
  let last = '', since = performance.now();
  const timer = setInterval(() => {
    const border = (outerWidth - innerWidth) / 2;
    const now = [screenX + border, screenY + outerHeight - innerHeight - border, innerWidth, innerHeight].join();
    if (now !== last) [last, since] = [now, performance.now()];
    if (document.hasFocus() && performance.now() - since > 800) {
      clearInterval(timer);
      fetch('/', { method: 'POST', body: now }).then(() => location.replace(new URLSearchParams(location.search).get('to')));
    }
  }, 50);
</script>`;

/**
 * Opens a page in an ordinary browser window and finds out where the page is on the screen: a page on this machine
 * measures its own window, then goes on to the page.
 */
export async function openPage(screen: Screen, url: string): Promise<Viewport> {
  let note: (text: string) => void = () => {};
  const noted = new Promise<string>((resolve) => {
    note = resolve;
  });
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(PROBE);
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece;
    });
    request.on('end', () => {
      response.end();
      note(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    screen.openBrowser(`http://127.0.0.1:${port}/?to=${encodeURIComponent(url)}`);
    const timeout = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error('the browser window did not come')), GEOMETRY_LIMIT_MS).unref();
    });
    const [left = 0, top = 0, width = 0, height = 0] = (await Promise.race([noted, timeout])).split(',').map(Number);
    return { left, top, width, height };
  } finally {
    server.close();
  }
}
