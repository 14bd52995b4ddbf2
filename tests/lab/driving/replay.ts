import { setTimeout as sleep } from 'node:timers/promises';
import type { Deed, Devices } from '../people/devices';
import { type Box, Person } from '../person';
import type { DevtoolsPage } from './devtools';

// Gives what our model of a person does with a mouse and a keyboard to the DevTools protocol.

const KEYS: Record<string, { key: string; code: string; keyCode: number }> = {
  space: { key: ' ', code: 'Space', keyCode: 32 },
  period: { key: '.', code: 'Period', keyCode: 190 },
  comma: { key: ',', code: 'Comma', keyCode: 188 },
  BackSpace: { key: 'Backspace', code: 'Backspace', keyCode: 8 },
  Shift_L: { key: 'Shift', code: 'ShiftLeft', keyCode: 16 },
  Shift_R: { key: 'Shift', code: 'ShiftRight', keyCode: 16 },
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
  let [x, y, modifiers] = [0, 0, 0];
  const button = (type: 'mousePressed' | 'mouseReleased') => {
    const pressed = type === 'mousePressed' ? { buttons: 1, force: 0.5 } : {};
    return mouse(type, x, y, { button: 'left', clickCount: 1, pointerType: 'mouse', ...pressed });
  };
  const press = (type: 'keyDown' | 'keyUp', name: string) => {
    const { key, code, keyCode } = describeKey(name);
    if (key === 'Shift') modifiers = type === 'keyDown' ? SHIFT : 0;
    const shown = modifiers && key.length === 1 ? key.toUpperCase() : key;
    const isText = type === 'keyDown' && key.length === 1;
    const down = isText ? { type, text: shown } : { type: type === 'keyDown' ? 'rawKeyDown' : type };
    return send('Input.dispatchKeyEvent', { ...down, key: shown, code, windowsVirtualKeyCode: keyCode, modifiers });
  };
  const act = (deed: Deed): Promise<unknown> => {
    switch (deed.do) {
      case 'move':
        [x, y] = [deed.x, deed.y];
        return mouse('mouseMoved', x, y, { pointerType: 'mouse' });
      case 'press':
        return button('mousePressed');
      case 'release':
        return button('mouseReleased');
      case 'keyDown':
      case 'keyUp':
        return press(deed.do, deed.key);
    }
  };
  const devices: Devices = {
    async perform(deeds) {
      // Waits are from the beginning, so that answers of the browser do not slow the motion down.
      const startMs = performance.now();
      const sent: Promise<unknown>[] = [];
      for (const deed of [...deeds].sort((a, b) => a.atMs - b.atMs)) {
        const waitMs = startMs + deed.atMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        sent.push(act(deed));
      }
      await Promise.all(sent);
    },
  };
  const person = new Person(devices, { left: 0, top: 0, width: 1_280, height: 800, pixelRatio: 1 }, seed);
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
