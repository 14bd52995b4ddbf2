import { defineControl } from '../people/control';
import { MouseAndKeyboard } from '../people/mouse-and-keyboard';
import { emitKeys, SwitchScanner, selectText } from '../people/selection';

// Assistive technology whose input reaches the browser through the X server, as that of real programs for Linux does.

/** Points with the head or the eyes, clicks by resting, and selects letters on a keyboard on the screen. */
class Dweller extends MouseAndKeyboard {
  protected override write(text: string): Promise<void> {
    return selectText(this.person, text, (chance) => chance.logNormal(1_100, 0.2));
  }
}

const WORDS_PER_PHRASE = 4;
const MS_PER_SPOKEN_WORD = 400;
const RECOGNITION_MS = 500;
const DICTATED_KEY_MS = 12;

/** Speaks. A program recognises each phrase and types it through the X server. */
class Speaker extends MouseAndKeyboard {
  protected override async write(text: string): Promise<void> {
    const words = text.split(/(?<= )/);
    while (words.length > 0) {
      const phrase = words.splice(0, WORDS_PER_PHRASE);
      const spokenMs = phrase.length * MS_PER_SPOKEN_WORD * this.person.chance.between(0.8, 1.3);
      await this.person.rest(spokenMs + RECOGNITION_MS);
      await this.person.perform(emitKeys(phrase.join(''), DICTATED_KEY_MS));
    }
  }
}

/** Speaks to point, too: the pointer jumps to the middle of what is named. */
class VoiceController extends Speaker {
  protected override async point(target: string): Promise<void> {
    await this.show(target);
    await this.person.rest(this.person.chance.between(900, 1_800));
    await this.person.jump(...this.locate(target));
  }
}

const hands = { bitsPerSecond: 1.9, tremorPx: 1.6, tremorHz: 4, reportMs: 16, aimError: 0.1, searchMs: 700 };
export const subjects = [
  defineControl({
    ...{ name: 'dwell-click', family: 'switch-access', manner: (desk) => new Dweller(desk) },
    traits: { ...hands, dwellMs: 900, pressMs: 1 },
  }),
  defineControl({ name: 'switch-scanning', family: 'switch-access', manner: (desk) => new SwitchScanner(desk) }),
  defineControl({ name: 'dictation-keys', family: 'voice', manner: (desk) => new Speaker(desk) }),
  defineControl({ name: 'voice-control', family: 'voice', manner: (desk) => new VoiceController(desk) }),
];
