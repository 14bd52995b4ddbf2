import { EVENT_FLAGS, type EventCode, INPUT_TYPES } from '../../contract/beacon';
import type { Provenance } from '../../contract/writing';
import { type Event, isTrusted } from './document-state';
import { MS_PER_SPOKEN_CHARACTER } from './phrases';
import { addPiece, isFasterThanSpeech } from './text-stream';
import { ECHO_MS, findSpeechStart, noticeInput, noticeRemoval, type PageState } from './writing-page';

// Where the characters of an Input came from: what came right before it tells. In doubt the innocent explanation counts.

/** A field before an Input. */
export interface FieldState {
  /** The length of its text; null if it is not known. */
  length: number | null;
  inputMs: number;
  /** How much of it was deleted and did not come back. */
  missing: number;
  /** How much the text had on the page before that this page has not shown. */
  earlier: number;
}

/** What an Input changed. */
export interface TextChange {
  source: Provenance;
  length: number;
  /** Text that was already there, and came after the Input before without one. */
  earlierSource: Provenance;
  earlierLength: number;
  deleted: number;
  /** The key that wrote it, if it was typed. */
  key: PageState['key'];
  /** How long the text was before. */
  lengthBefore: number;
}

/** Between a key or a press and its text lies less, even on a slow machine. */
const KEY_TO_TEXT_MS = 2_000;
const COMPOSITION_ECHO_MS = 100;
/** Keys that explain text which is there without an Input. */
const MIN_KEY_SHARE = 0.5;
/** A key writes less than this at once, and changes of this size are the page's own: brackets, spaces, formats. */
const MAX_KEYED_LENGTH = 10;
/** Browsers complete a sentence by at most so much when a key accepts it. Tools that check words or propose them write less. */
const MAX_COMPLETION_LENGTH = 60;
/** Programs that write what was spoken into a page by a script write a phrase at a time: this is 20 s of speech. */
const MAX_SCRIPTED_PHRASE_LENGTH = 300;
/** An editor that takes a paste itself may add or drop a little. */
const fitsClip = (length: number, clip: { length: number }) => clip.length < 0 || length <= clip.length * 1.1 + 16;
/** What was cut and what is pasted may differ by a space or two. */
const CUT_TOLERANCE = 2;

/** Finds out what an Input changed, and where that came from. */
export function traceInput(state: PageState, field: FieldState, event: Event<EventCode.Input>): TextChange {
  const { timeMs } = event;
  // It may be −1, as for lengths that are unknown.
  const after = Math.max(0, event.valueLength);
  const type = INPUT_TYPES[event.type]!;
  const inserted = countInserted(state, field, event);
  // What an editor cuts by itself has no type.
  const isRemoval = type === 'deleteContent' || (type === 'none' && inserted === 0);
  // In a field that is new, or that lost events, text that is not inserted now was there before.
  const before = field.length ?? after - (isRemoval ? 0 : inserted);
  const grown = after - before;
  const replaced = countReplaced(state, event, inserted, grown);
  // What was deleted is replaced once.
  if (replaced > 0) state.removed = { ...state.removed, length: Math.max(0, state.removed.length - replaced) };
  if (field.length === null) field.earlier = Math.max(0, field.earlier - before);
  const change: TextChange = {
    source: 'restored',
    length: 0,
    earlierSource: 'inserted',
    earlierLength: 0,
    deleted: 0,
    key: null,
    lengthBefore: before,
  };
  if (isRemoval) {
    // Some browsers remove a composition before they insert what was chosen.
    if (!isComposed(state, timeMs)) change.deleted = Math.max(0, -grown);
    change.earlierLength = Math.max(0, grown);
    noticeRemoval(state, timeMs, change.deleted);
  } else if (type === 'history') {
    change.length = Math.max(0, grown);
    change.deleted = Math.max(0, -grown);
  } else if (type === 'insertComposition') {
    change.source = 'composed';
    change.length = Math.max(0, grown);
  } else {
    const amount = isTrusted(event) ? inserted - replaced : Math.max(0, grown);
    change.source = findSource(state, field, event, { length: amount, isExchange: isExchange(inserted, grown) });
    const isReplaced = change.source === 'composed';
    change.length = isReplaced ? Math.max(0, Math.min(amount, grown)) : amount;
    // A spell-checker replaces a word: that is no revision of the writer.
    if (!isReplaced && change.source !== 'corrected') change.deleted = Math.max(0, inserted - grown);
    if (isTrusted(event)) change.earlierLength = Math.max(0, grown - inserted);
  }
  if (change.earlierLength > 0) change.earlierSource = nameUnexplained(state, field, timeMs, change.earlierLength);
  if (change.source === 'typed') change.key = state.key;
  state.key = null;
  state.keyCount = 0;
  state.composedLength = countComposed(state, change, type, Math.min(grown, inserted - replaced));
  noticeInput(state, timeMs);
  field.length = after;
  field.inputMs = timeMs;
  const restored = countRestored(change);
  field.missing = Math.max(0, field.missing + change.deleted - restored);
  field.earlier = Math.max(0, field.earlier - restored);
  return change;
}

/**
 * Counts the text of an Input without a key that is not new. Such an Input replaces its own earlier text, as the dictation
 * of iPhones does with each word, or a word by one that the keyboard proposes.
 */
function countReplaced(
  { key, clip, removed, composedLength }: PageState,
  { type, timeMs }: Event<EventCode.Input>,
  inserted: number,
  grown: number,
): number {
  const name = INPUT_TYPES[type]!;
  const isClip = clip !== null && timeMs - clip.timeMs < ECHO_MS;
  if ((name !== 'insertText' && name !== 'insertReplacement') || key !== null || isClip) return 0;
  const isAfterRemoval = timeMs - removed.timeMs < ECHO_MS;
  const replaced = Math.min(inserted, Math.max(0, inserted - grown) + (isAfterRemoval ? removed.length : 0));
  // Corrections of typed text are counted in addition.
  const isWord = name === 'insertText' && inserted <= MAX_COMPLETION_LENGTH && !isExchange(inserted, grown);
  return replaced <= composedLength || isWord ? replaced : 0;
}

function countComposed({ composedLength }: PageState, { source }: TextChange, type: string, grown: number): number {
  if (type === 'deleteContent') return composedLength;
  return source === 'composed' || source === 'corrected' ? Math.max(0, composedLength + grown) : 0;
}

const countRestored = ({ source, length, earlierSource, earlierLength }: TextChange): number =>
  (source === 'restored' ? length : 0) + (earlierSource === 'restored' ? earlierLength : 0);

/** Counts the characters that an Input says it inserted. For a paste into a new field the pixel cannot say. */
function countInserted(
  { clip }: PageState,
  { length }: FieldState,
  { type, insertedLength, valueLength }: Event<EventCode.Input>,
): number {
  const name = INPUT_TYPES[type]!;
  const isPasted = name === 'insertFromPaste' || name === 'insertFromDrop';
  const said = isPasted && length === null && insertedLength <= 0 && clip ? clip.length : insertedLength;
  return Math.max(0, Math.min(said, valueLength));
}

const isComposed = (state: PageState, timeMs: number) =>
  state.isComposing || timeMs - state.composedMs < COMPOSITION_ECHO_MS;

const isPressed = ({ pressedMs, inputMs }: PageState, timeMs: number) =>
  pressedMs > inputMs && timeMs - pressedMs < KEY_TO_TEXT_MS;

/** Whether a short text takes the place of about as much: that of a tool which checks what was written. */
const isExchange = (inserted: number, grown: number) =>
  inserted > 0 && inserted <= MAX_COMPLETION_LENGTH && inserted - grown >= inserted / 2;

/** Finds where the text of an Input of so many characters came from. */
function findSource(
  state: PageState,
  field: FieldState,
  event: Event<EventCode.Input>,
  { length, isExchange }: { length: number; isExchange: boolean },
): Provenance {
  const { timeMs } = event;
  const type = INPUT_TYPES[event.type]!;
  const { clip, removed } = state;
  const isOfBrowser = isTrusted(event);
  const key = state.key && timeMs - state.key.timeMs < KEY_TO_TEXT_MS ? state.key : null;
  if (type === 'insertReplacement' && isOfBrowser) return 'corrected';
  if (type === 'insertFromDrop' && isOfBrowser) {
    const isDragged = timeMs - removed.timeMs < ECHO_MS && Math.abs(length - removed.length) <= CUT_TOLERANCE;
    return isDragged ? 'moved' : 'dropped';
  }
  const isPasted = type === 'insertFromPaste' && isOfBrowser;
  const isClip = clip !== null && timeMs - clip.timeMs < ECHO_MS && length > 1 && fitsClip(length, clip);
  if (isPasted || isClip) return isCopiedHere(state, field, length) ? 'moved' : 'pasted';
  if ((event.flags & EVENT_FLAGS.autofilled) !== 0 && key === null && length > 1) return 'autofilled';
  if (isComposed(state, timeMs)) return 'composed';
  // A keyboard on the screen writes as much at once as somebody copied before.
  if (key && !key.hasCode && isOfBrowser) return 'composed';
  if (key && length <= MAX_KEYED_LENGTH) return key.hasCode ? 'typed' : 'composed';
  if (key && length <= MAX_COMPLETION_LENGTH && isOfBrowser) return 'corrected';
  if (isExchange) return 'corrected';
  const isSpeech = isSpoken(length, timeMs - findSpeechStart(state), isOfBrowser);
  if (length <= MAX_KEYED_LENGTH) {
    // A script that types writes letters, one that takes dictation words, and a keyboard of the page what is pressed.
    const isWritten = isOfBrowser || (isSpeech && length > 1) || isPressed(state, timeMs);
    return !isStreamed(state, length, timeMs) && isWritten ? 'composed' : 'inserted';
  }
  if (isSpeech) return 'composed';
  // A tool proposes words, and somebody presses one of them.
  if (length <= MAX_COMPLETION_LENGTH && isOfBrowser && isPressed(state, timeMs)) return 'corrected';
  if (isEarlier(field, length)) return 'restored';
  // On macOS, Control+Y brings what Control+K has deleted: `insertFromYank`, which no script can make.
  if (type === 'other' && isOfBrowser && isMissing(field, length)) return 'moved';
  // The pixel saw this text after a paste, but the editor undid a deletion.
  if (type === 'none' && isOfBrowser && isMissing(field, length)) return 'restored';
  // An editor may ask first how to paste.
  return findClip(state, field, length) ?? 'inserted';
}

/** Finds out whether text may be that of a paste after which the field did not change yet. */
function findClip(state: PageState, field: FieldState, length: number): Provenance | null {
  const { clip } = state;
  if (clip === null || clip.timeMs <= field.inputMs || !fitsClip(length, clip)) return null;
  return isCopiedHere(state, field, length) ? 'moved' : 'pasted';
}

/** Whether text could have been spoken in the time before it. */
const isSpoken = (length: number, pauseMs: number, isOfBrowser: boolean) =>
  pauseMs >= length * MS_PER_SPOKEN_CHARACTER && (isOfBrowser || length <= MAX_SCRIPTED_PHRASE_LENGTH);

/**
 * Notes a short piece of text without a key. Returns whether it is one of many that come faster than anybody speaks, as extensions
 * write the words of a language model. Dictated phrases may have been spoken before their first piece.
 */
function isStreamed(state: PageState, length: number, timeMs: number): boolean {
  const { noticedMs } = state;
  const sinceMs = Math.max(noticedMs, timeMs - MAX_SCRIPTED_PHRASE_LENGTH * MS_PER_SPOKEN_CHARACTER);
  state.stream = addPiece(state.stream, { length, timeMs, noticedMs, sinceMs });
  return isFasterThanSpeech(state.stream);
}

/** Names text that is there without any Input. When it came is known only to lie after the Input before. */
function nameUnexplained(state: PageState, field: FieldState, timeMs: number, length: number): Provenance {
  if (length < MAX_KEYED_LENGTH) return 'corrected';
  // An editor may write what is typed without an Input for each key.
  if (state.keyCount >= length * MIN_KEY_SHARE) return 'typed';
  const clip = findClip(state, field, length);
  if (clip !== null) return clip;
  // Editors undo by themselves, and pages show an answer again.
  if (isMissing(field, length) || isEarlier(field, length)) return 'restored';
  return isSpoken(length, timeMs - field.inputMs, false) ? 'composed' : 'inserted';
}

/** Whether so much text was deleted before that this may be it. */
const isMissing = ({ missing }: FieldState, length: number) => length <= missing + CUT_TOLERANCE;

/** Whether the page may bring back what its text had before it was loaded again: a draft that was kept. Keys write less. */
const isEarlier = ({ earlier }: FieldState, length: number) =>
  length > MAX_KEYED_LENGTH && length <= earlier + CUT_TOLERANCE;

/** Whether so much text was copied or cut on this page. Where it is not known how much, it was not more than the field had. */
function isCopiedHere({ copied }: PageState, { length: left, missing }: FieldState, length: number): boolean {
  if (copied === null) return false;
  const most = copied.length < 0 ? (left ?? 0) + (copied.isCut ? missing : 0) : copied.length;
  return length <= most + CUT_TOLERANCE;
}
