import type { Person } from '../person';
import type { Chance } from './chance';
import type { Deed } from './devices';
import { KeyboardOnly } from './keyboard-only';

// People who cannot use a keyboard select letters on the screen: with a switch, with their eyes, with a head pointer.
// Software completes the words and types for them, so its keys follow each other at once.

const LETTERS_BEFORE_COMPLETION = 2;
const KEY_GAP_MS = 2;

/** Selects the first sentence of a text: letters one after the other, the rest of each word at once. */
export async function selectText(person: Person, text: string, selectMs: (chance: Chance) => number): Promise<void> {
  const [sentence = text] = text.split(/(?<=\.)/);
  for (const word of sentence.split(/(?<= )/)) {
    for (const letter of word.slice(0, LETTERS_BEFORE_COMPLETION)) {
      await person.rest(selectMs(person.chance));
      await person.perform(emitKeys(letter));
    }
    if (word.length <= LETTERS_BEFORE_COMPLETION) continue;
    await person.rest(selectMs(person.chance));
    await person.perform(emitKeys(word.slice(LETTERS_BEFORE_COMPLETION)));
  }
}

const KEYS: Record<string, string> = { ' ': 'space', '.': 'period', ',': 'comma' };

/** The keys that software sends for a text, as fast as the X server takes them. */
export function emitKeys(text: string, gapMs = KEY_GAP_MS): Deed[] {
  return [...text].flatMap((character, index): Deed[] => {
    const atMs = index * gapMs;
    const key = KEYS[character] ?? character.toLowerCase();
    const stroke: Deed[] = [
      { atMs, do: 'keyDown', key },
      { atMs: atMs + gapMs / 2, do: 'keyUp', key },
    ];
    if (character === character.toLowerCase()) return stroke;
    const shift: Deed[] = [{ atMs, do: 'keyDown', key: 'Shift_L' }];
    return [...shift, ...stroke, { atMs: atMs + gapMs / 2, do: 'keyUp', key: 'Shift_L' }];
  });
}

const SCAN_MS = { from: 700, to: 1_400 };
const SWITCH_HOLD_MS = 10;

/** Steps through a page with a switch. Its software moves on in a beat and sends keys that are all held equally long. */
export class SwitchScanner extends KeyboardOnly {
  readonly #scanMs = this.person.chance.between(SCAN_MS.from, SCAN_MS.to);

  protected override async tap(key: string): Promise<void> {
    await this.person.rest(this.#scanMs);
    await this.person.perform([
      { atMs: 0, do: 'keyDown', key },
      { atMs: SWITCH_HOLD_MS, do: 'keyUp', key },
    ]);
    await this.person.rest(250);
  }

  /** A row, then a letter in it: whole steps of the scan. */
  protected override write(text: string): Promise<void> {
    return selectText(this.person, text, (chance) => this.#scanMs * Math.round(chance.between(1, 2.4)));
  }
}
