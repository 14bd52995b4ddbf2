import type { Chance } from './chance';
import type { Traits } from './traits';

// How a hand moves a pointer to a target: one large movement that misses a little, then small ones that correct it
// (Meyer et al. 1988). Each is as smooth as possible (minimum jerk, Flash and Hogan 1985). The time follows from
// distance and size of the target (Fitts 1954).

export interface Point {
  x: number;
  y: number;
}
export interface Sample extends Point {
  atMs: number;
}

const FIRST_SHARE = 0.65;
const MAX_CORRECTIONS = 4;
const MIN_MOVEMENT_MS = 90;

/** A finger is lifted, set down again, and moves on. */
const LIFT_MS = { from: 90, to: 220 };

/** Plans the way from a place to a place in a target of a size. Times count from the begin of the movement. */
export function planReach(from: Point, to: Point, sizePx: number, traits: Traits, chance: Chance): Sample[] {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const { strokePx } = traits;
  if (strokePx === null || distance <= strokePx) return planStroke(from, to, sizePx, traits, chance);
  const part = (strokePx / distance) * chance.between(0.75, 1);
  const turn = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  const stroke = planStroke(from, turn, strokePx / 3, traits, chance);
  const afterMs = (stroke.at(-1)?.atMs ?? 0) + chance.between(LIFT_MS.from, LIFT_MS.to);
  const rest = planReach(stroke.at(-1) ?? turn, to, sizePx, traits, chance);
  return [...stroke, ...rest.map((sample) => ({ ...sample, atMs: sample.atMs + afterMs }))];
}

function planStroke(from: Point, to: Point, sizePx: number, traits: Traits, chance: Chance): Sample[] {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  if (distance < 1) return [];
  const bits = Math.log2(distance / Math.max(sizePx, 4) + 1);
  const totalMs = Math.max(MIN_MOVEMENT_MS, (1_000 * bits * chance.logNormal(1, 0.12)) / traits.bitsPerSecond);
  const samples: Sample[] = [];
  let at: Sample = { ...from, atMs: 0 };
  for (let movement = 0; movement <= MAX_CORRECTIONS; movement++) {
    const left = Math.hypot(to.x - at.x, to.y - at.y);
    const isLast = movement === MAX_CORRECTIONS || left < sizePx / 4;
    if (movement > 0 && left < 1) break;
    const end = isLast ? to : missTarget(at, to, traits.aimError * (movement === 0 ? 1 : 1.5), chance);
    const shareMs = movement === 0 ? totalMs * FIRST_SHARE : (totalMs * (1 - FIRST_SHARE)) / 2;
    const movementMs = Math.max(MIN_MOVEMENT_MS, shareMs * chance.logNormal(1, 0.15));
    const bow = movement === 0 ? traits.bow * chance.normal(1, 0.5) : 0;
    samples.push(...moveSmoothly(at, end, movementMs, bow, traits));
    at = { ...end, atMs: at.atMs + movementMs + chance.between(0, 60) };
    if (isLast) break;
  }
  return addTremor(samples, traits, chance);
}

/** People stop short of a target more often than they pass it (Elliott et al. 2001). */
function missTarget(from: Point, to: Point, error: number, chance: Chance): Point {
  const along = chance.normal(0.97, error);
  const aside = chance.normal(0, error / 3);
  const [wayX, wayY] = [to.x - from.x, to.y - from.y];
  return { x: from.x + wayX * along - wayY * aside, y: from.y + wayY * along + wayX * aside };
}

function moveSmoothly(from: Sample, to: Point, movementMs: number, bow: number, { reportMs }: Traits): Sample[] {
  const steps = Math.max(1, Math.round(movementMs / reportMs));
  return Array.from({ length: steps }, (_, index) => {
    const part = (index + 1) / steps;
    const way = 10 * part ** 3 - 15 * part ** 4 + 6 * part ** 5;
    const side = Math.sin(Math.PI * way) * bow;
    return {
      x: from.x + (to.x - from.x) * way - (to.y - from.y) * side,
      y: from.y + (to.y - from.y) * way + (to.x - from.x) * side,
      atMs: from.atMs + part * movementMs,
    };
  });
}

function addTremor(samples: Sample[], { tremorPx, tremorHz }: Traits, chance: Chance): Sample[] {
  const [phaseX, phaseY] = [chance.between(0, 2 * Math.PI), chance.between(0, 2 * Math.PI)];
  return samples.map(({ x, y, atMs }) => {
    const turn = (2 * Math.PI * tremorHz * atMs) / 1_000;
    return { x: x + tremorPx * Math.sin(turn + phaseX), y: y + tremorPx * Math.sin(turn * 0.93 + phaseY), atMs };
  });
}
