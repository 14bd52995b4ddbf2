import { existsSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { ServerCommand } from '../screen';
import type { Point } from './reaching';

// Devices that XTEST does not have: an Xorg server without hardware, whose driver `inputtest` takes motion and touches from
// a socket and gives them to the server as the drivers of real trackpads and touchscreens do (inputtest(4)).

const MODULES = '/usr/lib/xorg/modules/';
/** What the server loads, and the packages of Debian that have it. */
const DRIVERS = {
  'input/inputtest_drv.so': 'xserver-xorg-core',
  'drivers/dummy_drv.so': 'xserver-xorg-video-dummy',
};
const SIZE = { width: 1_440, height: 1_240 };

const DEVICES = { keys: 'Keyboard', trackpad: 'Pointer', touchscreen: 'Touch' } as const;
type Device = keyof typeof DEVICES;

/** Says what is missing for such devices. */
export function findMissingDriver(): string | null {
  const missing = Object.entries(DRIVERS).filter(([file]) => !existsSync(MODULES + file));
  return missing.length === 0 ? null : `not installed: ${missing.map(([, name]) => name).join(', ')}`;
}

/** Writes the settings of the server and says how to start it. */
export function prepareXorg(profile: string): ServerCommand {
  const path = join(profile, 'xorg.conf');
  writeFileSync(path, describeServer(profile));
  const log = ['-logfile', join(profile, 'xorg.log')];
  return { program: 'Xorg', args: ['-noreset', '-novtswitch', '-sharevts', '-config', path, ...log] };
}

function describeServer(profile: string): string {
  const section = (name: string, ...lines: string[]) => `Section "${name}"\n${lines.join('\n')}\nEndSection\n`;
  const { width, height } = SIZE;
  const mode = `"size" 152.5 ${width} 1544 1696 1952 ${height} 1243 1253 1302`;
  const names = Object.keys(DEVICES) as Device[];
  const roles = { keys: 'CoreKeyboard', trackpad: 'CorePointer', touchscreen: 'SendCoreEvents' };
  return [
    section('ServerFlags', ...['AutoAddDevices', 'AutoAddGPU'].map((name) => `Option "${name}" "false"`)),
    section('Device', 'Identifier "card"', 'Driver "dummy"', 'VideoRam 64000'),
    section('Monitor', 'Identifier "monitor"', 'HorizSync 5-1000', 'VertRefresh 5-200', `Modeline ${mode}`),
    section(
      ...(['Screen', 'Identifier "screen"', 'Device "card"', 'Monitor "monitor"', 'DefaultDepth 24'] as const),
      `SubSection "Display"\nDepth 24\nModes "size"\nVirtual ${width} ${height}\nEndSubSection`,
    ),
    ...names.map((name) =>
      section(
        ...(['InputDevice', `Identifier "${name}"`, 'Driver "inputtest"'] as const),
        ...[`Option "SocketPath" "${join(profile, name)}"`, `Option "DeviceType" "${DEVICES[name]}"`],
        ...['Option "AccelerationProfile" "-1"', 'Option "xkb_rules" "evdev"'],
      ),
    ),
    section(
      ...(['ServerLayout', 'Identifier "layout"', 'Screen "screen"'] as const),
      ...names.map((name) => `InputDevice "${name}" "${roles[name]}"`),
    ),
  ].join('');
}

const PROTOCOL_MAJOR = 1;
/** The types of the protocol's messages. */
const TYPES = { version: 0, motion: 2, button: 4, touch: 6 } as const;
/** The types of touches in the X Input extension. */
const PHASES = { begin: 18, move: 19, end: 20 } as const;
const PLACE_MAX = 0xffff;
const SCROLL_AXIS = 3;
/** A block of 64 values, each there twice, with a mask before them that says which are given. */
const VALUES = { mask: 4, first: 16, length: 1_040 } as const;

export type Touch = Point & { atMs: number; phase: keyof typeof PHASES };

/** Talks to one device. */
export interface DriverLink {
  /** Moves the pointer by whole pixels. */
  moveBy(distance: Point): void;
  /** Scrolls as two fingers do. 120 is as far as one notch of a wheel. */
  scrollBy(distance: number): void;
  press(button: number, isDown: boolean): void;
  touch(place: Point, phase: Touch['phase']): void;
}

/** A device has one link at a time. */
const links = new Map<string, Promise<DriverLink>>();

export function connectDevice(profile: string, device: Device): Promise<DriverLink> {
  const path = join(profile, device);
  const link = links.get(path) ?? openLink(path);
  links.set(path, link);
  return link;
}

async function openLink(path: string): Promise<DriverLink> {
  const socket = await dial(path);
  socket.once('close', () => links.delete(path));
  const answered = new Promise((resolve) => socket.once('data', resolve));
  const version = Buffer.alloc(4);
  version.writeUInt16LE(PROTOCOL_MAJOR);
  socket.write(writeMessage(TYPES.version, version));
  await answered;
  let touchId = 0;
  const send = (type: number, fields: readonly number[], values: Record<number, number>) =>
    socket.write(writeMessage(type, writeFields(fields), writeValues(values)));
  return {
    moveBy: ({ x, y }) => void send(TYPES.motion, [0], { 0: x, 1: y }),
    scrollBy: (distance) => void send(TYPES.motion, [0], { [SCROLL_AXIS]: distance }),
    press: (button, isDown) => void send(TYPES.button, [0, button, isDown ? 1 : 0], {}),
    touch(place, phase) {
      if (phase === 'begin') touchId++;
      send(TYPES.touch, [touchId, PHASES[phase]], scalePlace(place));
    },
  };
}

/** Chromium takes moves of XTEST on an Xorg server only after the first one of a device. */
export async function wakePointer(profile: string): Promise<void> {
  (await connectDevice(profile, 'trackpad')).moveBy({ x: 2, y: 1 });
}

async function dial(path: string): Promise<Socket> {
  for (const until = Date.now() + WAIT_LIMIT_MS; ; await sleep(100)) {
    const socket = connect(path);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket.on('error', () => {});
    if (Date.now() > until) throw new Error(`${path} did not open`);
  }
}

const scalePlace = ({ x, y }: Point) => ({ 0: (x / SIZE.width) * PLACE_MAX, 1: (y / SIZE.height) * PLACE_MAX });

function writeMessage(type: number, ...parts: Buffer[]): Buffer {
  const header = Buffer.alloc(8);
  const message = Buffer.concat([header, ...parts]);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt32LE(type, 4);
  return message;
}

/** The values after the fields stand at a multiple of 8. */
function writeFields(fields: readonly number[]): Buffer {
  const buffer = Buffer.alloc(Math.ceil(fields.length / 2) * 8);
  for (const [index, field] of fields.entries()) buffer.writeUInt32LE(field, index * 4);
  return buffer;
}

function writeValues(values: Record<number, number>): Buffer {
  const buffer = Buffer.alloc(VALUES.length);
  for (const [axis, value] of Object.entries(values)) {
    buffer[VALUES.mask] = buffer[VALUES.mask]! | (1 << Number(axis));
    buffer.writeDoubleLE(value, VALUES.first + Number(axis) * 8);
  }
  return buffer;
}
