import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { Screen } from '../screen';
import { createChance } from './chance';
import type { Deed, Devices } from './devices';

// A remote desktop: a real VNC server in front of the X server, and a client that speaks its protocol (RFC 6143). Clients
// do not send every move of a mouse, and networks hold packets back and let them go together.

const KEYSYMS: Record<string, number> = {
  ...{ space: 0x20, apostrophe: 0x27, comma: 0x2c, minus: 0x2d, period: 0x2e, semicolon: 0x3b, slash: 0x2f },
  ...{ BackSpace: 0xff08, Tab: 0xff09, Return: 0xff0d, Down: 0xff54, Insert: 0xff63 },
  ...{ Shift_L: 0xffe1, Shift_R: 0xffe2, Control_L: 0xffe3 },
};

export interface Link {
  /** The client sends at most one move in this time. */
  moveMs: number;
  /** How often the network holds packets back, and for how long at most. */
  stallRate: number;
  stallMs: number;
}

/** Starts a VNC server and connects to it. */
export async function connectRemotely(screen: Screen, link: Link, seed: number): Promise<Devices> {
  const path = join(screen.profile, 'vnc');
  // It shows nothing, because nobody looks: it takes input only.
  const quiet = ['-quiet', '-noshm', '-noxrecord', '-nofb', '-nosel', '-nopw', '-norc'];
  screen.open('x11vnc', [...quiet, '-display', screen.env.DISPLAY!, '-unixsock', path, '-rfbport', '0', '-once']);
  const socket = await dial(path);
  await greet(socket);
  return createClient(socket, link, seed);
}

async function dial(path: string): Promise<Socket> {
  for (const until = Date.now() + WAIT_LIMIT_MS; ; await sleep(100)) {
    const socket = connect(path);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket.on('error', () => {});
    if (Date.now() > until) throw new Error('the VNC server did not start');
  }
}

/** Version 3.8, no password, a shared desktop. */
async function greet(socket: Socket): Promise<void> {
  const expect = () => new Promise<Buffer>((resolve) => socket.once('data', resolve));
  await expect();
  socket.write('RFB 003.008\n');
  await expect();
  socket.write(Uint8Array.of(1));
  await expect();
  socket.write(Uint8Array.of(1));
  await expect();
  socket.resume();
}

function createClient(socket: Socket, { moveMs, stallRate, stallMs }: Link, seed: number): Devices {
  const chance = createChance(seed);
  let buttons = 0;
  let at = { x: 0, y: 0 };
  let movedMs = 0;
  let hasMoved = false;
  let isShifted = false;
  const sendPointer = () => {
    const message = Buffer.from([5, buttons, 0, 0, 0, 0]);
    message.writeUInt16BE(Math.round(at.x), 2);
    message.writeUInt16BE(Math.round(at.y), 4);
    socket.write(message);
    hasMoved = false;
  };
  const sendKey = (key: string, isDown: boolean) => {
    if (key.startsWith('Shift')) isShifted = isDown;
    const message = Buffer.from([4, isDown ? 1 : 0, 0, 0, 0, 0, 0, 0]);
    message.writeUInt32BE(KEYSYMS[key] ?? (isShifted ? key.toUpperCase() : key).charCodeAt(0), 4);
    socket.write(message);
  };
  const act = (deed: Deed) => {
    switch (deed.do) {
      case 'keyDown':
      case 'keyUp':
        return sendKey(deed.key, deed.do === 'keyDown');
      case 'move':
        at = deed;
        hasMoved = true;
        if (deed.atMs - movedMs < moveMs) return;
        movedMs = deed.atMs;
        break;
      case 'press':
        buttons |= 1 << (deed.button - 1);
        break;
      case 'release':
        buttons &= ~(1 << (deed.button - 1));
    }
    sendPointer();
  };
  return {
    async perform(deeds) {
      const startMs = performance.now();
      let heldUntilMs = 0;
      movedMs = Number.NEGATIVE_INFINITY;
      for (const deed of [...deeds].sort((a, b) => a.atMs - b.atMs)) {
        if (deed.atMs > heldUntilMs && chance.happens(stallRate))
          heldUntilMs = deed.atMs + chance.between(0.2, 1) * stallMs;
        const waitMs = Math.max(deed.atMs, heldUntilMs) - (performance.now() - startMs);
        if (waitMs > 0) await sleep(waitMs);
        act(deed);
      }
      // What was held back as too soon comes last.
      if (hasMoved) sendPointer();
    },
  };
}
