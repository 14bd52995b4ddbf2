import { setTimeout as sleep } from 'node:timers/promises';
import { type Box, Person } from '../person';
import type { Screen } from '../screen';
import type { DevtoolsPage } from './devtools';

// Gives the commands that our model of a person sends to an X server to the DevTools protocol.

const KEYS: Record<string, { key: string; code: string; keyCode: number }> = {
  space: { key: ' ', code: 'Space', keyCode: 32 },
  period: { key: '.', code: 'Period', keyCode: 190 },
  comma: { key: ',', code: 'Comma', keyCode: 188 },
  shift: { key: 'Shift', code: 'ShiftLeft', keyCode: 16 },
};
const SHIFT = 8;
const WHEEL_NOTCH = 120;

const describeKey = (name: string) =>
  KEYS[name] ?? { key: name, code: `Key${name.toUpperCase()}`, keyCode: name.toUpperCase().charCodeAt(0) };

export interface Replay {
  click(box: Box): Promise<void>;
  type(text: string): Promise<void>;
  turnWheel(byPx: number): Promise<void>;
}

/** Creates a person whose hands are the DevTools protocol. */
export function createReplay({ send, mouse }: DevtoolsPage, seed: number): Replay {
  let [x, y, modifiers] = [30, 20, 0];
  const button = (type: 'mousePressed' | 'mouseReleased') => {
    const pressed = type === 'mousePressed' ? { buttons: 1, force: 0.5 } : {};
    return mouse(type, x, y, { button: 'left', clickCount: 1, pointerType: 'mouse', ...pressed });
  };
  const press = (type: 'keyDown' | 'keyUp', name: string) => {
    const { key, code, keyCode } = describeKey(name);
    if (name === 'shift') modifiers = type === 'keyDown' ? SHIFT : 0;
    const shown = modifiers && key.length === 1 ? key.toUpperCase() : key;
    const isText = type === 'keyDown' && key.length === 1;
    const down = isText ? { type, text: shown } : { type: type === 'keyDown' ? 'rawKeyDown' : type };
    return send('Input.dispatchKeyEvent', { ...down, key: shown, code, windowsVirtualKeyCode: keyCode, modifiers });
  };
  const acts: Record<string, (argument: string, second: string) => Promise<unknown>> = {
    mousemove: (toX, toY) => {
      [x, y] = [Number(toX), Number(toY)];
      return mouse('mouseMoved', x, y, { pointerType: 'mouse' });
    },
    mousedown: () => button('mousePressed'),
    mouseup: () => button('mouseReleased'),
    keydown: (name) => press('keyDown', name),
    keyup: (name) => press('keyUp', name),
  };
  const screen = {
    async send(commands: string[]) {
      // Waits are from the beginning, so that answers of the browser do not slow the motion down.
      let dueMs = performance.now();
      const sent: Promise<unknown>[] = [];
      for (const command of commands) {
        const [name = '', first = '', second = ''] = command.split(' ');
        if (name === 'sleep') dueMs += Number(first) * 1_000;
        else sent.push(acts[name]!(first, second));
        if (dueMs > performance.now()) await sleep(dueMs - performance.now());
      }
      await Promise.all(sent);
    },
  } as Screen;
  const person = new Person(screen, { left: 0, top: 0, width: 1_280, height: 800 }, seed);
  return {
    click: (box) => person.click(box),
    type: (text) => person.type(text),
    async turnWheel(byPx) {
      for (let turned = 0; turned < Math.abs(byPx); turned += WHEEL_NOTCH) {
        const more = { x, y, deltaX: 0, deltaY: Math.sign(byPx) * WHEEL_NOTCH };
        await send('Input.dispatchMouseEvent', { type: 'mouseWheel', ...more });
        await sleep(60);
      }
    },
  };
}
