import { existsSync } from 'node:fs';
import { type Desk, defineControl } from '../people/control';
import { MouseAndKeyboard } from '../people/mouse-and-keyboard';
import { connectTouchscreen, prepareTouchServer, type Touch, type Touchscreen } from '../people/touchscreen';

const DRIVER = '/usr/lib/xorg/modules/input/inputtest_drv.so';
const REPORT_MS = 10;

/** Taps and swipes on a laptop with a touchscreen, and types on its keyboard. */
class Toucher extends MouseAndKeyboard {
  #touchscreen: Touchscreen | null = null;

  protected override async point(target: string): Promise<void> {
    await this.show(target);
  }

  protected override async hit(target: string): Promise<void> {
    const { chance, traits } = this.person;
    await this.person.rest(chance.logNormal(traits.searchMs, 0.3));
    const { x, y } = this.person.aim(...this.locate(target));
    const heldMs = Math.max(35, chance.logNormal(85, 0.25));
    // A fingertip rolls a little while it is down.
    const [rollX, rollY] = [chance.normal(0, 1.2), chance.normal(0, 1.2)];
    await this.#touch([
      { atMs: 0, phase: 'begin', x, y },
      { atMs: heldMs * 0.6, phase: 'move', x: x + rollX, y: y + rollY },
      { atMs: heldMs, phase: 'end', x: x + rollX, y: y + rollY },
    ]);
  }

  protected override async scrollOnce(direction: number): Promise<void> {
    const { chance } = this.person;
    const { left, top, height } = this.desk.viewport;
    const from = { x: left + chance.between(500, 800), y: top + height * chance.between(0.55, 0.7) };
    const [distance, slant] = [direction * chance.between(160, 320), chance.normal(0, 18)];
    const swipeMs = chance.between(220, 420);
    const steps = Math.round(swipeMs / REPORT_MS);
    const touches = Array.from({ length: steps + 1 }, (_, step): Touch => {
      const part = step / steps;
      const way = 10 * part ** 3 - 15 * part ** 4 + 6 * part ** 5;
      const phase = step === 0 ? 'begin' : step === steps ? 'end' : 'move';
      return { atMs: part * swipeMs, phase, x: from.x + slant * way, y: from.y - distance * way };
    });
    await this.#touch(touches);
  }

  async #touch(touches: Touch[]): Promise<void> {
    this.#touchscreen ??= await connectTouchscreen(this.desk.visit.profile);
    await this.#touchscreen.perform(touches);
  }
}

const control = defineControl({
  ...{ name: 'touch', family: 'touch', server: prepareTouchServer, needs: ['Xorg'] },
  manner: (desk: Desk) => new Toucher(desk),
});
const findMissing = () =>
  control.findMissing() ?? (existsSync(DRIVER) ? null : `no driver for touches: ${DRIVER} (xserver-xorg-core)`);
export const subjects = [{ ...control, findMissing }];
