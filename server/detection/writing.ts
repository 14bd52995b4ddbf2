import { ELEMENT_ROLES, EVENT_FLAGS, type EventCode, INPUT_TYPES, KEY_CLASSES } from '../../contract/beacon';
import type { Deeds, FieldFocus } from './deeds';
import {
  changeDeed,
  countTime,
  type DocumentState,
  type Event,
  finishDeed,
  isTrusted,
  REACTION_MS,
} from './document-state';
import { Keystroke } from './keystroke';
import { MIN_PHRASE_PAUSE_MS, MS_PER_SPOKEN_CHARACTER } from './phrases';
import { addPiece, isFasterThanSpeech } from './text-stream';

// What is written: keys, input and the fields that it goes to.

/** Measures a key: its kind, its interval, and whether Shift or Caps Lock was down. */
export function takeKeyDown(state: DocumentState, event: Event<EventCode.KeyDown>, deeds: Deeds): void {
  const { flags, timeMs, atMs } = event;
  const { characterMs, typedMs, pressMs, fieldMs, pageMs } = state;
  if (timeMs - characterMs >= MIN_PHRASE_PAUSE_MS)
    state.quietMs = timeMs - Math.max(characterMs, typedMs, pressMs, fieldMs, pageMs);
  const stroke = new Keystroke({
    atMs,
    kind: KEY_CLASSES[event.class]!,
    flags,
    timeMs,
    beforeMs: characterMs,
    quietMs: state.quietMs,
  });
  const { isCharacter } = stroke;
  if (isTrusted(event)) {
    // The focus can move unseen within a shadow tree. Of a key that is told it is clear where it was.
    state.isUntold = false;
    if (isCharacter) state.typedMs = timeMs;
    else state.deedMs = timeMs;
  }
  state.keyMs = timeMs;
  finishDeed(state, timeMs);
  state.isKeyedInput = true;
  if (flags & EVENT_FLAGS.repeated) return;
  deeds.keys.push(stroke);
  countTime(deeds, timeMs);
  state.lastStroke = { deed: stroke, deeds, timeMs };
  state.held.set(event.slot, state.lastStroke);
  if (!isCharacter) return;
  state.characterMs = timeMs;
  noticeTyping(state, timeMs);
}

/** Measures how long a key was held. */
export function takeKeyUp(state: DocumentState, { slot, timeMs }: Event<EventCode.KeyUp>): void {
  const held = state.held.get(slot);
  if (held) changeDeed(held).noteRelease(timeMs);
  state.held.delete(slot);
}

/** Between a key and the text that it writes lies less. */
const KEY_TO_TEXT_MS = 1_000;
/** So long may the page take to handle a click before the browser tells what it has changed. */
const CLICK_TO_CHANGE_MS = 300;
const MIN_BURST_LENGTH = 10;
const TYPED = new Set(['insertText', 'insertLineBreak', 'insertComposition', 'none', 'other']);
const BURSTS = new Set(['insertText', 'none', 'other']);

/** Measures text in text areas: how much, and whether keys wrote it. */
export function takeInput(state: DocumentState, event: Event<EventCode.Input>, deeds: Deeds): void {
  const { field, flags, timeMs, atMs, valueLength } = event;
  const type = INPUT_TYPES[event.type]!;
  const before = state.valueLengths.get(field);
  const grownBy = before === undefined ? event.insertedLength : valueLength - before;
  const length = Math.max(0, Math.min(event.insertedLength, grownBy));
  const isKeyed = state.isKeyedInput || timeMs - state.keyMs < KEY_TO_TEXT_MS;
  state.valueLengths.set(field, valueLength);
  state.isKeyedInput = false;
  // The browser tells of the change that a script's click makes as if somebody had made it.
  const isOfClick = type === 'none' && timeMs - state.untrustedClickMs < CLICK_TO_CHANGE_MS;
  if (!isOfClick) state.typedMs = timeMs;
  finishDeed(state, timeMs);
  // A script, or the browser itself, filled the field.
  if (!isTrusted(event) || (flags & EVENT_FLAGS.autofilled) !== 0 || !TYPED.has(type)) return;
  if (type === 'insertText') noticeTyping(state, timeMs);
  if ((flags & EVENT_FLAGS.multiline) === 0) return;
  if (isKeyed && state.lastStroke) changeDeed(state.lastStroke).noteMultiline();
  if (timeMs - state.clipboardMs < KEY_TO_TEXT_MS) return;
  const isComposed = timeMs - state.compositionMs < KEY_TO_TEXT_MS;
  const isKeyless = BURSTS.has(type) && !isKeyed && !isComposed && isUnspoken(state, length, timeMs);
  deeds.insertions.push({ atMs, length, isKeyless });
}

/** Whether text without keys came faster than anybody speaks: at once, or in pieces, as the words of a language model come. */
function isUnspoken(state: DocumentState, length: number, timeMs: number): boolean {
  const { noticedMs } = state;
  state.stream = addPiece(state.stream, { length, timeMs, noticedMs, sinceMs: noticedMs });
  const isBurst = length > MIN_BURST_LENGTH && timeMs - noticedMs < length * MS_PER_SPOKEN_CHARACTER;
  return isBurst || isFasterThanSpeech(state.stream);
}

const TEXT_ROLES = new Set(['input', 'textarea', 'editable']);
/** Pages put the focus somewhere when they load, and when they become visible again. */
const AUTOMATIC_FOCUS_MS = 2_000;
/** Pages move the focus at once when a field is full, such as a field for one digit. */
const NEXT_FIELD_MS = 50;
/** Nobody begins to type so soon after the focus came without doing. */
const AT_ONCE_MS = 150;

/** Measures the focus of a text field: whether anybody caused it. */
export function takeFocus(state: DocumentState, event: Event<EventCode.Focus>, deeds: Deeds): void {
  const { field, role, timeMs, atMs } = event;
  const isText = TEXT_ROLES.has(ELEMENT_ROLES[role]!);
  // A key that was not told may have moved the focus.
  if (state.isUntold) {
    state.deedMs = timeMs;
    finishDeed(state, timeMs);
  }
  state.isUntold = isText && field < 0;
  if (!isText || field < 0) return;
  const hasCause =
    timeMs - state.deedMs <= REACTION_MS ||
    timeMs - state.typedMs <= NEXT_FIELD_MS ||
    timeMs - Math.max(state.pageMs, state.visibleMs) <= AUTOMATIC_FOCUS_MS ||
    // A window that gets the focus back gives it to the field that had it.
    field === state.focusedField;
  const focus: FieldFocus = { atMs, hasCause, isTypedAtOnce: false };
  deeds.focuses.push(focus);
  if (field !== state.focusedField) state.fieldMs = timeMs;
  state.focusedField = field;
  state.focus = { deed: focus, deeds, timeMs };
}

function noticeTyping(state: DocumentState, timeMs: number): void {
  if (state.focus && timeMs - state.focus.timeMs <= AT_ONCE_MS) changeDeed(state.focus).isTypedAtOnce = true;
  state.focus = null;
}
