import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBrowser } from './people/browsers';
import { type Chance, createChance } from './people/chance';
import { BUTTONS, type Deed, type Devices } from './people/devices';
import { type Point, planReach } from './people/reaching';
import { drawTraits, type Traits } from './people/traits';
import { planTyping } from './people/typing';
import { openWindow, type Viewport } from './people/window';
import type { Screen } from './screen';
import type { Box } from './subject';

export type { Viewport } from './people/window';
export type { Box } from './subject';

/** Where a page's corner is on the screen, and its scale. */
export type Corner = Pick<Viewport, 'left' | 'top' | 'pixelRatio'>;

/** A finger does not come back sooner, as a share of what is usual for it. */
const MIN_HOLD_SHARE = 0.4;
/** Before a press the eye confirms that the pointer is on the target. */
const CONFIRM_MS = { from: 60, to: 220 };
/** Nobody aims at the edge of a target. */
const AIMED_SHARE = 0.8;

/** A person with a mouse and a keyboard. It is a model of people, not a recording of one. */
export class Person {
  readonly traits: Traits;
  readonly chance: Chance;
  readonly #devices: Devices;
  readonly #viewport: Viewport;
  #at: Point;

  /** `seed` says who it is. `moment` differs between what the same person does at different times. */
  constructor(devices: Devices, viewport: Viewport, seed: number, given: Partial<Traits> = {}, moment = 0) {
    this.#devices = devices;
    this.#viewport = viewport;
    this.traits = drawTraits(seed, given);
    this.chance = createChance(seed * 31 + moment);
    this.#at = viewport.pointer ?? { x: viewport.left + 380, y: viewport.top + 400 };
  }

  /** Moves the pointer to a place in a box of the page and presses. */
  async click(box: Box): Promise<void> {
    await this.reach(box);
    await this.press();
  }

  /** Chooses a place in a box of the page. Nineteen of twenty lie well in it: its effective width (MacKenzie 1992). */
  aim({ x, y, width, height }: Box, { left, top, pixelRatio }: Corner): Point {
    const scatter = (length: number) => {
      const reach = (length / 2) * AIMED_SHARE;
      return length / 2 + Math.max(-reach, Math.min(reach, this.chance.normal(0, length / 4.133)));
    };
    return {
      x: left + (x + scatter(Math.min(width, 320))) * pixelRatio,
      y: top + (y + scatter(Math.min(height, 120))) * pixelRatio,
    };
  }

  /** Moves the pointer to a place in a box of the page, whose place and scale can have changed. */
  async reach(box: Box, corner: Corner = this.#viewport): Promise<void> {
    const { chance, traits } = this;
    const to = this.aim(box, corner);
    const size = Math.min(box.width, box.height) * corner.pixelRatio;
    const startMs = chance.logNormal(traits.searchMs, 0.35);
    await this.perform(
      planReach(this.#at, to, size, traits, chance).map((sample) => ({
        ...{ atMs: startMs + sample.atMs, do: 'move' as const },
        ...{ x: Math.round(sample.x), y: Math.round(sample.y) },
      })),
    );
  }

  /** Puts the pointer into the middle of a box at once, as software does that is told a name. */
  async jump({ x, y, width, height }: Box, { left, top, pixelRatio }: Corner): Promise<void> {
    const place = { x: left + (x + width / 2) * pixelRatio, y: top + (y + height / 2) * pixelRatio };
    await this.perform([{ atMs: 0, do: 'move', x: Math.round(place.x), y: Math.round(place.y) }]);
  }

  /** Presses a button where the pointer is. */
  async press(button: number = BUTTONS.left): Promise<void> {
    const atMs = this.traits.dwellMs ?? this.chance.between(CONFIRM_MS.from, CONFIRM_MS.to);
    const heldMs = this.#hold(this.traits.pressMs);
    await this.perform([
      { atMs, do: 'press', button },
      { atMs: atMs + heldMs, do: 'release', button },
    ]);
  }

  /** Types a text. */
  async type(text: string): Promise<void> {
    await this.rest(this.chance.logNormal(this.traits.searchMs, 0.3));
    await this.perform(planTyping(text, this.traits, this.chance));
  }

  /** Presses one key, while others are held. Keys have the names of X keysyms. */
  async tap(key: string, ...held: string[]): Promise<void> {
    const { chance, traits } = this;
    const heldMs = this.#hold(traits.keyMs);
    const leadMs = held.length > 0 ? chance.between(70, 180) : 0;
    await this.perform([
      ...held.map((name, i): Deed => ({ atMs: i * 20, do: 'keyDown', key: name })),
      { atMs: leadMs + held.length * 20, do: 'keyDown', key },
      { atMs: leadMs + held.length * 20 + heldMs, do: 'keyUp', key },
      ...held.map(
        (name, i): Deed => ({ atMs: leadMs + held.length * 20 + heldMs + 40 + i * 15, do: 'keyUp', key: name }),
      ),
    ]);
  }

  /** Turns the wheel some notches down, or up if there are less than none. */
  async turnWheel(notches: number): Promise<void> {
    const button = notches > 0 ? BUTTONS.wheelDown : BUTTONS.wheelUp;
    const deeds: Deed[] = [];
    let atMs = 0;
    for (let i = 0; i < Math.abs(notches); i++) {
      deeds.push({ atMs, do: 'press', button }, { atMs: atMs + 1, do: 'release', button });
      atMs += this.chance.logNormal(this.traits.wheelMs, 0.3);
    }
    await this.perform(deeds);
  }

  /** Lets the hand drift a little, as hands on a mouse do while their people read. */
  async drift(): Promise<void> {
    const { left, top, pixelRatio } = this.#viewport;
    const [x, y] = [(this.#at.x - left) / pixelRatio - 14, (this.#at.y - top) / pixelRatio - 12];
    await this.reach({ x, y, width: 28, height: 24 });
  }

  rest(ms: number): Promise<void> {
    return sleep(ms);
  }

  #hold(usualMs: number): number {
    return Math.max(usualMs * MIN_HOLD_SHARE, this.chance.logNormal(usualMs, 0.22));
  }

  /** Does deeds that no hand plans, such as those of assistive software. */
  async perform(deeds: readonly Deed[]): Promise<void> {
    if (deeds.length === 0) return;
    const kept: Deed[] = [];
    for (const deed of deeds) {
      if (deed.do === 'move') {
        // A mouse that rests reports nothing.
        if (deed.x === this.#at.x && deed.y === this.#at.y) continue;
        this.#at = { x: deed.x, y: deed.y };
      }
      kept.push(deed);
    }
    await this.#devices.perform(kept);
  }
}

/** Opens an address in an ordinary Chromium window. Answers where its page is on the screen. */
export async function openPage(screen: Screen, url: string): Promise<Viewport> {
  const prepare = (probeUrl: string) => prepareBrowser('chromium', screen.profile, probeUrl);
  return (await openWindow(screen, url, prepare)).viewport;
}
