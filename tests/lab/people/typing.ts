import type { Chance } from './chance';
import type { Deed } from './devices';
import type { Traits } from './traits';

// How fingers type a text: the time to the next key depends on which fingers press both (Salthouse 1986), a key is held
// longer than some gaps are, so keys overlap (rollover, Dhakal et al. 2018), and some keys miss and are corrected.

/** The keys of a US keyboard: their X names, and what they write with Shift. */
const NAMES: Record<string, string> = {
  ...{ ' ': 'space', '.': 'period', ',': 'comma', ';': 'semicolon', "'": 'apostrophe', '-': 'minus', '/': 'slash' },
  ...{ '=': 'equal', '[': 'bracketleft', ']': 'bracketright', '\n': 'Return', '\b': 'BackSpace' },
};
const SHIFTED: Record<string, string> = {
  ...{ '?': '/', ':': ';', '"': "'", '!': '1', '%': '5', '(': '9', ')': '0', _: '-', '+': '=', '&': '7' },
};
/** The columns of the letters, from the left little finger to the right one. */
const FINGERS = ['1qaz', '2wsx', '3edc', '45rtfgvb', '67yuhjnm', '8ik,', '9ol.', "0p;/'[-]="];
const FIRST_RIGHT = 4;
const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

/** How much longer or shorter the way to the next key takes than it does in the mean. */
const PACES = { sameKey: 0.8, sameFinger: 1.25, sameHand: 1.05, otherHand: 0.85, space: 0.85 } as const;
/** A fingertip must leave a key before it can press one of the same finger. */
const MAX_SAME_FINGER_SHARE = 0.8;

interface Stroke {
  /** The key without Shift, as the character that it writes. */
  key: string;
  isShifted: boolean;
  /** Time since the stroke before. */
  gapMs: number;
}

/** Plans the deeds that type a text, and those that correct what goes wrong. */
export function planTyping(text: string, traits: Traits, chance: Chance): Deed[] {
  return pressKeys(planStrokes(text, traits, chance), traits, chance);
}

function planStrokes(text: string, traits: Traits, chance: Chance): Stroke[] {
  const strokes: Stroke[] = [];
  const add = (character: string, extraMs = 0) => {
    const { key, isShifted } = findKey(character);
    const pace = findPace(strokes.at(-1)?.key ?? ' ', key);
    const gapMs = Math.max(25, chance.logNormal(traits.intervalMs * pace * 0.93, traits.rhythmSpread)) + extraMs;
    strokes.push({ key, isShifted, gapMs });
  };
  let before = ' ';
  for (const character of text) {
    const thinkMs = findThinkMs(before, traits, chance);
    const neighbour = chance.happens(traits.typoRate) ? findNeighbour(character, chance) : null;
    if (neighbour !== null) {
      add(neighbour, thinkMs);
      // It takes a moment to see that a key missed.
      add('\b', chance.logNormal(traits.intervalMs, 0.4));
      add(character, chance.between(0, 100));
    } else add(character, thinkMs);
    before = character;
  }
  return strokes;
}

/** People think before sentences, and sometimes before words. */
function findThinkMs(before: string, { intervalMs }: Traits, chance: Chance): number {
  if ('.?!'.includes(before)) return chance.logNormal(intervalMs * 2, 0.6);
  return before === ' ' && chance.happens(0.4) ? chance.logNormal(intervalMs * 0.6, 0.6) : 0;
}

function pressKeys(strokes: readonly Stroke[], { keyMs }: Traits, chance: Chance): Deed[] {
  const deeds: Deed[] = [];
  let atMs = 0;
  for (const [index, { key, isShifted, gapMs }] of strokes.entries()) {
    atMs += gapMs;
    const next = strokes[index + 1];
    const heldMs = Math.max(30, chance.logNormal(keyMs * 0.97, 0.22));
    const isSame = next !== undefined && findFinger(next.key) === findFinger(key);
    const endMs = atMs + (isSame ? Math.min(heldMs, next.gapMs * MAX_SAME_FINGER_SHARE) : heldMs);
    const name = NAMES[key] ?? key;
    deeds.push({ atMs, do: 'keyDown', key: name }, { atMs: endMs, do: 'keyUp', key: name });
    if (!isShifted) continue;
    const leadMs = Math.min(chance.between(50, 150), gapMs * 0.6);
    const shift = findFinger(key) < FIRST_RIGHT ? 'Shift_R' : 'Shift_L';
    // Shift is let go before the next character, or this one would be a capital too.
    const shiftEndMs = Math.min(atMs + heldMs * chance.between(0.5, 1.1), atMs + (next?.gapMs ?? 300) * 0.7);
    deeds.push({ atMs: atMs - leadMs, do: 'keyDown', key: shift }, { atMs: shiftEndMs, do: 'keyUp', key: shift });
  }
  return deeds;
}

function findKey(character: string): { key: string; isShifted: boolean } {
  const unshifted = SHIFTED[character];
  if (unshifted !== undefined) return { key: unshifted, isShifted: true };
  const lower = character.toLowerCase();
  if (NAMES[lower] === undefined && !/^[a-z0-9]$/.test(lower)) throw new Error(`no key writes "${character}"`);
  return { key: lower, isShifted: lower !== character };
}

const findFinger = (key: string) => FINGERS.findIndex((keys) => keys.includes(key));

function findPace(before: string, key: string): number {
  if (before === key) return PACES.sameKey;
  if (key === ' ' || before === ' ') return PACES.space;
  const [from, to] = [findFinger(before), findFinger(key)];
  if (from === to) return PACES.sameFinger;
  return from < FIRST_RIGHT === to < FIRST_RIGHT ? PACES.sameHand : PACES.otherHand;
}

/** Finds a letter next to a letter. Null: the character is no letter. */
function findNeighbour(character: string, chance: Chance): string | null {
  const row = ROWS.find((keys) => /[a-z]/.test(character) && keys.includes(character));
  if (row === undefined) return null;
  const place = row.indexOf(character) + (chance.happens(0.5) ? 1 : -1);
  return row[place] ?? null;
}
