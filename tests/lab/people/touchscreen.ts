import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerCommand } from '../screen';
import type { Point } from './reaching';

// A touchscreen: an Xorg server without hardware whose driver `inputtest` takes touches from a socket and gives them to
// the server as the driver of a real one does (inputtest(4)).

const SIZE = { width: 1_440, height: 1_240 };
const PLACE_MAX = 0xffff;
const PROTOCOL = [1, 0] as const;
const CONNECT_LIMIT_MS = 8_000;

/** Event types of the protocol, and those of touches in the X Input extension. */
const EVENTS = { version: 0, touch: 6 } as const;
const PHASES = { begin: 18, move: 19, end: 20 } as const;
/** Where the fields of a touch stand: number, phase, which values follow, the values (64 doubles, twice). */
const TOUCH = { id: 8, phase: 12, mask: 20, values: 32, length: 1_056 } as const;

export interface Touch extends Point {
  atMs: number;
  phase: keyof typeof PHASES;
}

const socketOf = (profile: string) => join(profile, 'touch');

/** Writes the settings of the server and says how to start it. */
export function prepareTouchServer(profile: string): ServerCommand {
  const { width, height } = SIZE;
  const settings = `
Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoAddGPU" "false"
  Option "DontVTSwitch" "true"
EndSection
Section "Device"
  Identifier "card"
  Driver "dummy"
  VideoRam 64000
EndSection
Section "Monitor"
  Identifier "monitor"
  HorizSync 5.0-1000.0
  VertRefresh 5.0-200.0
  Modeline "size" 152.5 ${width} 1544 1696 1952 ${height} 1243 1253 1302
EndSection
Section "Screen"
  Identifier "screen"
  Device "card"
  Monitor "monitor"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Modes "size"
    Virtual ${width} ${height}
  EndSubSection
EndSection
${[describeDevice('mouse', 'Pointer', profile), describeDevice('keys', 'Keyboard', profile), describeDevice('touch', 'Touch', profile)].join('')}
Section "ServerLayout"
  Identifier "layout"
  Screen "screen"
  InputDevice "mouse" "CorePointer"
  InputDevice "keys" "CoreKeyboard"
  InputDevice "touch" "SendCoreEvents"
EndSection`;
  const path = join(profile, 'xorg.conf');
  writeFileSync(path, settings);
  const log = ['-logfile', join(profile, 'xorg.log')];
  return { program: 'Xorg', args: ['-noreset', '-novtswitch', '-sharevts', '-config', path, ...log] };
}

const describeDevice = (name: string, type: string, profile: string) => `
Section "InputDevice"
  Identifier "${name}"
  Driver "inputtest"
  Option "SocketPath" "${join(profile, name)}"
  Option "DeviceType" "${type}"
EndSection`;

export interface Touchscreen {
  perform(touches: readonly Touch[]): Promise<void>;
}

export async function connectTouchscreen(profile: string): Promise<Touchscreen> {
  const socket = await dial(socketOf(profile));
  const version = Buffer.alloc(12);
  version.writeUInt32LE(version.length, 0);
  version.writeUInt32LE(EVENTS.version, 4);
  version.writeUInt16LE(PROTOCOL[0], 8);
  version.writeUInt16LE(PROTOCOL[1], 10);
  const answered = new Promise((resolve) => socket.once('data', resolve));
  socket.write(version);
  await answered;
  let id = 0;
  return {
    async perform(touches) {
      const startMs = performance.now();
      for (const touch of touches) {
        const waitMs = startMs + touch.atMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        if (touch.phase === 'begin') id++;
        socket.write(writeTouch(touch, id));
      }
    },
  };
}

async function dial(path: string): Promise<Socket> {
  for (const until = Date.now() + CONNECT_LIMIT_MS; ; await sleep(100)) {
    const socket = connect(path);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket.on('error', () => {});
    if (Date.now() > until) throw new Error('the touchscreen did not start');
  }
}

function writeTouch({ x, y, phase }: Touch, id: number): Buffer {
  const message = Buffer.alloc(TOUCH.length);
  message.writeUInt32LE(TOUCH.length, 0);
  message.writeUInt32LE(EVENTS.touch, 4);
  message.writeUInt32LE(id, TOUCH.id);
  message.writeUInt32LE(PHASES[phase], TOUCH.phase);
  message.writeUInt8(0b11, TOUCH.mask);
  message.writeDoubleLE((x / SIZE.width) * PLACE_MAX, TOUCH.values);
  message.writeDoubleLE((y / SIZE.height) * PLACE_MAX, TOUCH.values + 8);
  return message;
}
