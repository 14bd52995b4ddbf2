import type { Corner, Person } from '../person';
import type { Box, Geometry, GeometryFeed, Step } from '../subject';
import type { Desk, Manner } from './control';
import { look } from './control';

const SEEN_MARGIN_PX = 8;
const MAX_SCROLLS = 60;
const MAX_TRIES = 3;
/** The page tells within 100 ms what has changed. */
const SETTLE_MS = 260;

type StepTo<Do extends Step['do']> = Extract<Step, { do: Do }>;

/** Takes the steps with a mouse and a keyboard. Other ways differ in some of them. */
export class MouseAndKeyboard implements Manner {
  protected readonly desk: Desk;
  protected readonly person: Person;
  protected readonly geometry: GeometryFeed;

  constructor(desk: Desk) {
    this.desk = desk;
    this.person = desk.person;
    this.geometry = desk.visit.geometry;
  }

  async arrive({ target }: StepTo<'arrive'>): Promise<void> {
    await this.geometry.waitFor(({ boxes }) => boxes[target] !== undefined);
  }

  async read({ forMs }: StepTo<'read'>): Promise<void> {
    const { person } = this;
    const pauseMs = person.chance.between(0.3, 0.7) * forMs;
    await person.rest(pauseMs);
    if (person.chance.happens(0.5)) await person.drift();
    else await person.rest(forMs - pauseMs);
  }

  async scroll({ byPx }: StepTo<'scroll'>): Promise<void> {
    const { scrollY } = look(this.desk);
    await this.scrollUntil(({ scrollY: now }) => now - scrollY >= byPx - 40, Math.sign(byPx));
  }

  async click({ target }: StepTo<'click'>): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await this.point(target);
      await this.hit(target);
      await this.person.rest(SETTLE_MS);
      // Somebody who misses a small circle sees it and tries again.
      if (look(this.desk).values[target] !== false) return;
    }
    throw new Error(`${target} was not chosen`);
  }

  async type({ target, text }: StepTo<'type'>): Promise<void> {
    await this.focus(target);
    await this.write(text);
  }

  protected async write(text: string): Promise<void> {
    await this.person.type(text);
  }

  protected async focus(target: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES && look(this.desk).focus !== target; tries++) {
      await this.point(target);
      await this.hit(target);
      await this.person.rest(SETTLE_MS);
    }
    if (look(this.desk).focus !== target) throw new Error(`${target} did not get the focus`);
  }

  /** Moves the pointer to an element, which is scrolled into view before. */
  protected async point(target: string): Promise<void> {
    await this.show(target);
    await this.person.reach(...this.locate(target));
  }

  /** Presses what the pointer is on. */
  protected async hit(_target: string): Promise<void> {
    await this.person.press();
  }

  /** Where the visible part of an element is. */
  protected locate(target: string): [Box, Corner] {
    const geometry = look(this.desk);
    return [cutToView(geometry.boxes[target]!, geometry), findCorner(this.desk, geometry)];
  }

  protected async show(target: string): Promise<void> {
    await this.arrive({ do: 'arrive', target });
    const geometry = look(this.desk);
    const { y } = geometry.boxes[target]!;
    if (!isSeen(geometry, target)) await this.scrollUntil((now) => isSeen(now, target), y > 0 ? 1 : -1);
  }

  protected async scrollUntil(isDone: (geometry: Geometry) => boolean, direction: number): Promise<void> {
    const { person } = this;
    for (let turns = 0; turns < MAX_SCROLLS && !isDone(look(this.desk)); turns++) {
      const before = look(this.desk).scrollY;
      await this.scrollOnce(direction);
      await person.rest(person.chance.between(250, 600));
      if (look(this.desk).scrollY === before && turns > 2) return;
    }
  }

  protected async scrollOnce(direction: number): Promise<void> {
    await this.person.turnWheel(direction * Math.round(this.person.chance.between(1, 3)));
  }
}

/** Where the page is now. Firefox tells it; in Chromium the corner stays where it was found. */
function findCorner({ viewport }: Desk, { window: { pixelRatio, innerX, innerY } }: Geometry): Corner {
  if (innerX === null || innerY === null) return { ...viewport, pixelRatio };
  return { left: innerX * pixelRatio, top: innerY * pixelRatio, pixelRatio };
}

function isSeen({ boxes, window: { innerHeight } }: Geometry, target: string): boolean {
  const box = boxes[target];
  if (!box) return false;
  const needed = Math.min(box.height, 60);
  return box.y >= SEEN_MARGIN_PX && box.y + needed <= innerHeight - SEEN_MARGIN_PX;
}

function cutToView(box: Box, { window: { innerWidth, innerHeight } }: Geometry): Box {
  const { x, y } = box;
  return { x, y, width: Math.min(box.width, innerWidth - x), height: Math.min(box.height, innerHeight - y) };
}
