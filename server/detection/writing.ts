import { ELEMENT_ROLES, EVENT_FLAGS, type EventCode, INPUT_TYPES, KEY_CLASSES } from '../../contract/beacon';
import type { Deeds, FieldFocus } from './deeds';
import {
  changeDeed,
  countTime,
  type DocumentState,
  type Event,
  finishDeed,
  isTrusted,
  NEVER,
  REACTION_MS,
} from './document-state';
import { IS_WRITING_KEY, isToggleKey, Keystroke } from './keystroke';
import { MIN_PHRASE_PAUSE_MS, MS_PER_SPOKEN_CHARACTER } from './phrases';
import { addPiece, isFasterThanSpeech } from './text-stream';
import { followToggle, isPressedAgain } from './toggles';

// What is written: keys, input and the fields that it goes to.

/** Measures a key: its kind, its interval, and whether Shift or Caps Lock was down. One that a script made says nothing of fingers. */
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
  const isRepeated = (flags & EVENT_FLAGS.repeated) !== 0;
  if (!isRepeated) deeds.keys.push(stroke);
  if (!isTrusted(event)) return;
  if (!isRepeated && isCharacter) noticeTyping(state, timeMs);
  // The focus can move unseen within a shadow tree. A key that is sent says where it was.
  state.isUntold = false;
  if (isCharacter) state.typedMs = timeMs;
  else state.deedMs = timeMs;
  state.keyMs = timeMs;
  finishDeed(state, timeMs);
  if (IS_WRITING_KEY[event.class]) state.writingKeyMs = timeMs;
  if (isToggleKey(event.class, flags)) state.toggle = followToggle(state.toggle, null, timeMs);
  if (isRepeated) return;
  countTime(deeds, timeMs);
  state.lastStroke = { deed: stroke, deeds, timeMs };
  state.held.set(event.slot, state.lastStroke);
  if (isCharacter) state.characterMs = timeMs;
}

/** Measures how long a key was held. */
export function takeKeyUp(state: DocumentState, event: Event<EventCode.KeyUp>): void {
  if (!isTrusted(event)) return;
  const held = state.held.get(event.slot);
  if (held) changeDeed(held).noteRelease(event.timeMs);
  state.held.delete(event.slot);
}

/** The text of a key comes sooner than this after it. */
const KEY_TO_TEXT_MS = 1_000;
/** A proposal that a key accepts may have to be fetched. */
const PROPOSAL_MS = 10_000;
/** The time that the page may take to handle a click before the browser reports the change. */
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
  const isKeyed = timeMs - state.keyMs < KEY_TO_TEXT_MS || timeMs - state.writingKeyMs < PROPOSAL_MS;
  state.valueLengths.set(field, valueLength);
  state.writingKeyMs = NEVER;
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
  const { noticedMs, toggle } = state;
  const sinceMs = isPressedAgain(toggle) ? toggle.sinceMs : noticedMs;
  state.stream = addPiece(state.stream, { length, timeMs, noticedMs, sinceMs });
  const isBurst = length > MIN_BURST_LENGTH && timeMs - sinceMs < length * MS_PER_SPOKEN_CHARACTER;
  return isBurst || isFasterThanSpeech(state.stream);
}

export const TEXT_ROLES = new Set(['input', 'textarea', 'editable']);
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
  // A key that was not sent may have moved the focus.
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
  if (field !== state.focusedField) {
    state.fieldMs = timeMs;
    state.writingKeyMs = NEVER;
  }
  state.focusedField = field;
  state.focus = { deed: focus, deeds, timeMs };
}

function noticeTyping(state: DocumentState, timeMs: number): void {
  if (state.focus && timeMs - state.focus.timeMs <= AT_ONCE_MS) changeDeed(state.focus).isTypedAtOnce = true;
  state.focus = null;
}
