import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from './control';
import type { Devices } from './devices';
import { connectDevice, type Touch } from './input-driver';
import { MouseAndKeyboard } from './mouse-and-keyboard';
import type { Point } from './reaching';

// Fingers on a touchscreen and on a trackpad. The keyboard is the usual one.

const REPORT_MS = 10;
/** Shorter waits are spent in a loop, because timers are not that exact. */
const EXACT_MS = 6;

async function performAt<T extends { atMs: number }>(acts: readonly T[], act: (what: T) => void): Promise<void> {
  const startMs = performance.now();
  for (const what of [...acts].sort((a, b) => a.atMs - b.atMs)) {
    const dueMs = startMs + what.atMs;
    const waitMs = dueMs - performance.now();
    if (waitMs > EXACT_MS) await sleep(waitMs);
    while (performance.now() < dueMs);
    act(what);
  }
}

/** Parts of a movement that is as smooth as possible, with the share of the way that is done. */
function listParts(movementMs: number): { atMs: number; way: number }[] {
  const steps = Math.max(2, Math.round(movementMs / REPORT_MS));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const part = step / steps;
    return { atMs: part * movementMs, way: 10 * part ** 3 - 15 * part ** 4 + 6 * part ** 5 };
  });
}

/** Taps and swipes on a screen. */
export class Toucher extends MouseAndKeyboard {
  protected override async point(target: string): Promise<void> {
    await this.show(target);
  }

  protected override async hit(target: string): Promise<void> {
    const { chance, traits } = this.person;
    await this.person.rest(chance.logNormal(traits.searchMs, 0.3));
    const { x, y } = this.person.aim(...this.locate(target));
    const heldMs = Math.max(35, chance.logNormal(85, 0.25));
    // A fingertip rolls a little while it is down.
    const end = { x: x + chance.normal(0, 1.2), y: y + chance.normal(0, 1.2) };
    await this.#perform([
      { atMs: 0, phase: 'begin', x, y },
      { atMs: heldMs * 0.6, phase: 'move', ...end },
      { atMs: heldMs, phase: 'end', ...end },
    ]);
  }

  protected override async scrollOnce(direction: number): Promise<void> {
    const { chance } = this.person;
    const { left, top, height } = this.desk.viewport;
    const from = { x: left + chance.between(500, 800), y: top + height * chance.between(0.45, 0.6) };
    const [distance, slant] = [direction * chance.between(160, 320), chance.normal(0, 18)];
    const parts = listParts(chance.between(220, 420));
    await this.#perform(
      parts.map(({ atMs, way }, index) => ({
        phase: index === 0 ? 'begin' : index === parts.length - 1 ? 'end' : 'move',
        ...{ atMs, x: from.x + slant * way, y: from.y - distance * way },
      })),
    );
  }

  async #perform(touches: Touch[]): Promise<void> {
    const link = await connectDevice(this.desk.visit.profile, 'touchscreen');
    await performAt(touches, (touch) => link.touch(touch, touch.phase));
  }
}

/** The pointer of a trackpad, next to a keyboard. */
export async function connectTrackpad(profile: string, keyboard: Devices): Promise<Devices> {
  const link = await connectDevice(profile, 'trackpad');
  let at: Point | null = null;
  return {
    async perform(deeds) {
      if (deeds.some((deed) => deed.do === 'keyDown' || deed.do === 'keyUp')) return keyboard.perform(deeds);
      await performAt(deeds, (deed) => {
        if (deed.do === 'move') {
          if (at) link.moveBy({ x: deed.x - at.x, y: deed.y - at.y });
          at = deed;
        } else if (deed.do === 'press' || deed.do === 'release') link.press(deed.button, deed.do === 'press');
      });
    },
  };
}

/** Scrolls with two fingers, smoothly. */
export class TrackpadUser extends MouseAndKeyboard {
  protected override async scrollOnce(direction: number): Promise<void> {
    const link = await connectDevice(this.desk.visit.profile, 'trackpad');
    const { chance } = this.person;
    const distance = direction * chance.between(150, 420);
    let done = 0;
    // The browser learns from a first report where the fingers are.
    link.scrollBy(direction);
    await performAt(listParts(chance.between(200, 450)), ({ way }) => {
      link.scrollBy(distance * way - done);
      done = distance * way;
    });
  }
}

export const useTouch = (desk: Desk) => new Toucher(desk);
export const useTrackpad = (desk: Desk) => new TrackpadUser(desk);
