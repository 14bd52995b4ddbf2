import { EVENT_FLAGS, KEY_CLASSES } from '../../contract/beacon';

const CHARACTERS = new Set<string>(['letter', 'capital', 'digit', 'space', 'punctuation']);
/** Keys that write, and those that accept what the browser proposes. */
const WRITING_KINDS = new Set<string>([...CHARACTERS, 'enter', 'composition', 'tab', 'arrow']);
export const IS_WRITING_KEY: readonly boolean[] = KEY_CLASSES.map((kind) => WRITING_KINDS.has(kind));
const MODIFIERS = new Set<string>(['shift', 'capsLock', 'modifier']);
const IS_MODIFIER: readonly boolean[] = KEY_CLASSES.map((kind) => MODIFIERS.has(kind));
/**
 * Whether somebody may speak at this key: one that repeats itself because it is held, or a modifier. Modifiers are what a page sees of
 * the shortcut that begins or ends a dictation.
 */
export const maySpeakAt = (keyClass: number, flags: number): boolean =>
  (flags & EVENT_FLAGS.repeated) !== 0 || IS_MODIFIER[keyClass]!;
/** Whether it may be a key that begins or ends a dictation: one that a person presses and that changes no text, such as F9. */
export const isToggleKey = (keyClass: number, flags: number): boolean =>
  KEY_CLASSES[keyClass] === 'other' && (flags & (EVENT_FLAGS.trusted | EVENT_FLAGS.repeated)) === EVENT_FLAGS.trusted;
const MAX_INTERVAL_MS = 2_000;

const toTenths = (ms: number) => Math.round(ms * 10);

/**
 * A key that was pressed, without repeats. Open sessions have hundreds of thousands, so it keeps its flags in one number,
 * and its times as whole tenths of a millisecond: V8 needs an object for other numbers.
 */
export class Keystroke {
  readonly atMs: number;
  readonly kind: (typeof KEY_CLASSES)[number];
  private flags: number;
  private readonly pressed10: number;
  /** When the character before was pressed. Null if that is too long ago. */
  private readonly before10: number | null = null;
  private readonly quiet10: number;
  private released10: number | null = null;

  /** Times are those of the document's clock, except `atMs`. The flags are EVENT_FLAGS, of which `multiline` comes with the text. */
  constructor(stroke: {
    atMs: number;
    kind: Keystroke['kind'];
    flags: number;
    timeMs: number;
    beforeMs: number;
    quietMs: number;
  }) {
    this.atMs = stroke.atMs;
    this.kind = stroke.kind;
    this.flags = stroke.flags & ~EVENT_FLAGS.multiline;
    this.pressed10 = toTenths(stroke.timeMs);
    this.quiet10 = toTenths(stroke.quietMs);
    if (this.isCharacter && stroke.timeMs - stroke.beforeMs < MAX_INTERVAL_MS)
      this.before10 = toTenths(stroke.beforeMs);
  }

  /** Notes that it wrote into a text area or an editable element. */
  noteMultiline() {
    this.flags |= EVENT_FLAGS.multiline;
  }

  noteRelease(timeMs: number) {
    this.released10 = toTenths(timeMs);
  }

  private has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  /** Whether it is a key that writes a character. */
  get isCharacter(): boolean {
    return CHARACTERS.has(this.kind);
  }

  get isTrusted(): boolean {
    return this.has(EVENT_FLAGS.trusted);
  }

  get hasCode(): boolean {
    return this.has(EVENT_FLAGS.hasCode);
  }

  get hasShift(): boolean {
    return this.has(EVENT_FLAGS.shift);
  }

  get hasCapsLock(): boolean {
    return this.has(EVENT_FLAGS.capsLock);
  }

  get isMultiline(): boolean {
    return this.has(EVENT_FLAGS.multiline);
  }

  /** When it went down, by the document's clock. */
  get pressedMs(): number {
    return this.pressed10 / 10;
  }

  get heldMs(): number | null {
    return this.released10 === null ? null : this.released10 / 10 - this.pressed10 / 10;
  }

  /** Time since the character before; null after a pause of 2 s. */
  get intervalMs(): number | null {
    return this.before10 === null ? null : this.pressed10 / 10 - this.before10 / 10;
  }

  /** How long nothing was written, pressed or entered before the stretch of keys that it belongs to. */
  get quietMs(): number {
    return this.quiet10 / 10;
  }
}
