import { ELEMENT_ROLES, EVENT_FLAGS, EventCode, INPUT_TYPES, KEY_CLASSES, POINTERS } from '../../contract/beacon';
import type { Deeds, FieldFocus, Jump, Keystroke, Moves, Press } from './deeds';
import { MS_PER_SPOKEN_CHARACTER } from './phrases';
import type { TraceEvent } from './trace';

type Event<Code extends EventCode> = Extract<TraceEvent, { code: Code }>;

/** A deed of which a later event can say more, the segment's deeds that it is one of, and when it was, by the document's clock. */
interface OpenDeed<Deed> {
  deed: Deed;
  deeds: Deeds;
  timeMs: number;
}

/** What goes on in a document while its events are measured one after the other. Times are those of its clock. */
export interface DocumentState {
  /** Where the pointer was at the last press; null where that says nothing about the next one. */
  rest: { x: number; y: number } | null;
  /** Moves since then: those that are in the trace, and those that were counted. */
  moveEvents: number;
  moveCount: number;
  press: OpenDeed<Press> | null;
  pressMs: number;
  held: Map<number, OpenDeed<Keystroke>>;
  characterMs: number;
  lastStroke: OpenDeed<Keystroke> | null;
  keyMs: number;
  /** The last deed that can move the focus: a press, a touch, a click, a key that writes nothing. */
  deedMs: number;
  /** The last character or input. */
  typedMs: number;
  /** The last event that a person must react to before anything is typed. */
  noticedMs: number;
  pageMs: number;
  visibleMs: number;
  compositionMs: number;
  clipboardMs: number;
  untrustedClickMs: number;
  isKeyedInput: boolean;
  valueLengths: Map<number, number>;
  focusedField: number | null;
  focus: OpenDeed<FieldFocus> | null;
  /** Where the page was scrolled to last. */
  scroll: { y: number; timeMs: number } | null;
  /** The latest jumps, because a wheel is told of after it has stopped. */
  jumps: OpenDeed<Jump>[];
  /** The last press, key or input, and the first sign of life that is more than an echo of it. */
  doneMs: number;
  stirMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
export const createDocumentState = (): DocumentState => ({
  ...{ rest: null, moveEvents: 0, moveCount: 0, press: null, pressMs: NEVER, held: new Map() },
  ...{ characterMs: NEVER, lastStroke: null, keyMs: NEVER, deedMs: NEVER, typedMs: NEVER, noticedMs: NEVER },
  ...{ pageMs: NEVER, visibleMs: NEVER, compositionMs: NEVER, clipboardMs: NEVER, untrustedClickMs: NEVER },
  ...{ isKeyedInput: false, valueLengths: new Map(), focusedField: null, focus: null },
  ...{ scroll: null, jumps: [], doneMs: NEVER, stirMs: Number.POSITIVE_INFINITY },
});

/** Measures a move, of which nothing but its time matters. */
export function measureMove(state: DocumentState, timeMs: number): void {
  if (state.pageMs === NEVER) state.pageMs = timeMs;
  state.moveEvents++;
  noticeStir(state, timeMs);
}

/**
 * Measures the next event of a document, which is no move. What it says of earlier events is written to where these were
 * measured.
 */
export function measureEvent(state: DocumentState, event: TraceEvent, deeds: Deeds): void {
  if (state.pageMs === NEVER) state.pageMs = event.timeMs;
  deeds.isChanged = true;
  if (STIRS.has(event.code)) noticeStir(state, event.timeMs);
  switch (event.code) {
    case EventCode.MoveSummary:
      state.moveCount += event.count;
      addMoves(deeds.moves, event);
      return;
    case EventCode.Scroll:
      takeScroll(state, event, deeds);
      return;
    case EventCode.Wheel:
      for (const jump of state.jumps) if (jump.timeMs >= event.timeMs - WHEEL_MS) changeDeed(jump).hasCause = true;
      return;
    case EventCode.Press:
      takePress(state, event, deeds);
      break;
    case EventCode.Release:
      if (state.press && event.held10 >= 0 && isTrusted(event)) changeDeed(state.press).heldMs = event.held10 / 10;
      state.press = null;
      if (isTrusted(event)) state.deedMs = event.timeMs;
      break;
    case EventCode.Click:
      takeClick(state, event, deeds);
      break;
    case EventCode.KeyDown:
      takeKeyDown(state, event, deeds);
      break;
    case EventCode.KeyUp: {
      const held = state.held.get(event.slot);
      if (held) changeDeed(held).heldMs = event.timeMs - held.timeMs;
      state.held.delete(event.slot);
      break;
    }
    case EventCode.Input:
      takeInput(state, event, deeds);
      break;
    case EventCode.Clipboard:
      state.clipboardMs = event.timeMs;
      break;
    case EventCode.Focus:
      takeFocus(state, event, deeds);
      break;
    case EventCode.Touch:
      deeds.hasTouch = true;
      state.deedMs = event.timeMs;
      break;
    case EventCode.Visibility:
    case EventCode.Leave:
      state.visibleMs = event.timeMs;
      // Where the pointer comes back is unknown.
      state.rest = null;
      break;
    case EventCode.Page:
      state.pageMs = event.timeMs;
      break;
    case EventCode.Composition:
      state.compositionMs = event.timeMs;
      break;
    default:
      return;
  }
  state.noticedMs = event.timeMs;
}

/** Opens a deed for a change. */
function changeDeed<Deed>({ deed, deeds }: OpenDeed<Deed>): Deed {
  deeds.isChanged = true;
  return deed;
}

function addMoves(sum: Moves, { count, mismatched, fractional, coalesced, atMs }: Event<EventCode.MoveSummary>): void {
  sum.count += count;
  sum.mismatched += mismatched;
  sum.fractional += fractional;
  sum.maxCoalesced = Math.max(sum.maxCoalesced, coalesced);
  sum.atMs ??= atMs;
}

const isTrusted = ({ flags }: { flags: number }) => (flags & EVENT_FLAGS.trusted) !== 0;

/** A mouse can be pressed again near the place where it rests. */
const NEAR_PX = 30;
const DOUBLE_PRESS_MS = 500;
const MAX_UNAPPROACHED_MOVES = 2;
/** Smaller elements have few places that are not their centre. */
const MIN_CENTRED_PX = 10;
const CENTRE_TENTHS = 5;

/** What shows that somebody is there between two deeds, in addition to moves. */
const STIRS: ReadonlySet<EventCode> = new Set([
  ...[EventCode.Scroll, EventCode.Wheel, EventCode.Touch, EventCode.Visibility, EventCode.Page],
  ...[EventCode.Clipboard, EventCode.Composition],
]);
/** What comes so soon after a deed, or before a press, belongs to it. */
const ECHO_MS = 300;
const APPROACH_MS = 150;
const MAX_APPROACH_MOVES = 8;
const MIN_PAUSE_MS = 1_500;

function noticeStir(state: DocumentState, timeMs: number): void {
  if (timeMs > state.doneMs + ECHO_MS && timeMs < state.stirMs) state.stirMs = timeMs;
}

function finishDeed(state: DocumentState, timeMs: number): void {
  state.doneMs = timeMs;
  state.stirMs = Number.POSITIVE_INFINITY;
}

/** A wheel that is turned, a finger and an animation make smaller steps, and the first of them comes after a rest. */
const MIN_JUMP_PX = 300;
const MIN_REST_MS = 500;
const JUMP_CAUSE_MS = 2_000;
const JUMP_TO_PRESS_MS = 1_500;
const WHEEL_MS = 100;
const MAX_RECENT_JUMPS = 8;

function takeScroll(state: DocumentState, { y, timeMs, atMs }: Event<EventCode.Scroll>, deeds: Deeds): void {
  const { scroll } = state;
  state.scroll = { y, timeMs };
  // Where the page was before the first step is unknown.
  if (!scroll || Math.abs(y - scroll.y) < MIN_JUMP_PX || timeMs - scroll.timeMs < MIN_REST_MS) return;
  const { deedMs, typedMs, keyMs, pageMs, visibleMs, clipboardMs } = state;
  const hasCause = timeMs - Math.max(deedMs, typedMs, keyMs, pageMs, visibleMs, clipboardMs) <= JUMP_CAUSE_MS;
  const jump: Jump = { atMs, hasCause, isUsed: false };
  deeds.jumps.push(jump);
  state.jumps = [...state.jumps, { deed: jump, deeds, timeMs }].slice(-MAX_RECENT_JUMPS);
}

function takePress(state: DocumentState, event: Event<EventCode.Press>, deeds: Deeds): void {
  const { x10, y10, width, height, timeMs, atMs } = event;
  const place = { x: x10 / 10, y: y10 / 10 };
  const pointer = POINTERS[event.pointer]!;
  const isFar = state.rest !== null && Math.hypot(place.x - state.rest.x, place.y - state.rest.y) >= NEAR_PX;
  const isJudged = pointer === 'mouse' && isFar && timeMs - state.pressMs >= DOUBLE_PRESS_MS;
  const moves = Math.max(state.moveEvents, state.moveCount);
  const isLarge = Math.min(width, height) >= MIN_CENTRED_PX;
  const press: Press = {
    atMs,
    pointer,
    isTrusted: isTrusted(event),
    hasPressure: event.pressurePercent > 0,
    isFractional: x10 % 10 !== 0 || y10 % 10 !== 0,
    isCentred: isLarge
      ? Math.abs(event.offsetX10) <= CENTRE_TENTHS && Math.abs(event.offsetY10) <= CENTRE_TENTHS
      : null,
    isApproached: isJudged ? moves > MAX_UNAPPROACHED_MOVES : null,
    hasMoved: moves > 0,
    heldMs: null,
    offset10: { x: event.offsetX10, y: event.offsetY10 },
    areaPx: width * height,
    screenOffset: { x: event.screenX10 / 10, y: event.screenY10 / 10 },
  };
  deeds.presses.push(press);
  if (pointer === 'touch') deeds.hasTouch = true;
  countTime(deeds, timeMs);
  if (isJudged && press.isTrusted && timeMs - state.doneMs >= MIN_PAUSE_MS && state.doneMs !== NEVER) {
    const isSilent = state.stirMs >= timeMs - APPROACH_MS && moves <= MAX_APPROACH_MOVES;
    deeds.pauses.push({ atMs, isSilent, press });
  }
  finishDeed(state, timeMs);
  for (const jump of state.jumps)
    if (pointer === 'mouse' && timeMs - jump.timeMs <= JUMP_TO_PRESS_MS) changeDeed(jump).isUsed = true;
  state.rest = place;
  state.moveEvents = 0;
  state.moveCount = 0;
  state.press = { deed: press, deeds, timeMs };
  state.pressMs = timeMs;
  if (press.isTrusted) state.deedMs = timeMs;
}

const CONTROL_ROLES = new Set(['input', 'textarea', 'editable', 'select', 'checkbox', 'radio', 'label']);
/** Scripts of the page set up their controls, and react to people. */
const PAGE_START_MS = 3_000;
const REACTION_MS = 1_000;
const CLICK_SERIES_MS = 300;

function takeClick(state: DocumentState, event: Event<EventCode.Click>, deeds: Deeds): void {
  const { timeMs } = event;
  if (isTrusted(event)) {
    state.deedMs = timeMs;
    return;
  }
  const isControl = CONTROL_ROLES.has(ELEMENT_ROLES[event.role]!);
  const isReaction = timeMs - Math.max(state.deedMs, state.typedMs) < REACTION_MS;
  const isSeries = timeMs - state.untrustedClickMs < CLICK_SERIES_MS;
  state.untrustedClickMs = timeMs;
  if (!isControl || isReaction || isSeries || timeMs - state.pageMs < PAGE_START_MS) return;
  deeds.untrustedClicks.push({ atMs: event.atMs });
}

const CHARACTERS = new Set(['letter', 'capital', 'digit', 'space', 'punctuation']);
const MAX_INTERVAL_MS = 2_000;

function takeKeyDown(state: DocumentState, event: Event<EventCode.KeyDown>, deeds: Deeds): void {
  const { flags, timeMs, atMs } = event;
  const kind = KEY_CLASSES[event.class]!;
  const isCharacter = CHARACTERS.has(kind);
  if (isTrusted(event)) {
    if (isCharacter) state.typedMs = timeMs;
    else state.deedMs = timeMs;
  }
  state.keyMs = timeMs;
  finishDeed(state, timeMs);
  state.isKeyedInput = true;
  if (flags & EVENT_FLAGS.repeated) return;
  const intervalMs = timeMs - state.characterMs;
  const stroke: Keystroke = {
    atMs,
    kind,
    isCharacter,
    isTrusted: isTrusted(event),
    isMultiline: false,
    heldMs: null,
    hasCode: (flags & EVENT_FLAGS.hasCode) !== 0,
    hasShift: (flags & EVENT_FLAGS.shift) !== 0,
    hasCapsLock: (flags & EVENT_FLAGS.capsLock) !== 0,
    intervalMs: isCharacter && intervalMs < MAX_INTERVAL_MS ? intervalMs : null,
  };
  deeds.keys.push(stroke);
  countTime(deeds, timeMs);
  state.lastStroke = { deed: stroke, deeds, timeMs };
  state.held.set(event.slot, state.lastStroke);
  if (!isCharacter) return;
  state.characterMs = timeMs;
  noticeTyping(state, timeMs);
}

/** Between a key and the text that it writes lies less. */
const KEY_TO_TEXT_MS = 1_000;
const MIN_BURST_LENGTH = 10;
const TYPED = new Set(['insertText', 'insertLineBreak', 'insertComposition', 'none', 'other']);
const BURSTS = new Set(['insertText', 'none', 'other']);

function takeInput(state: DocumentState, event: Event<EventCode.Input>, deeds: Deeds): void {
  const { field, flags, timeMs, atMs, valueLength } = event;
  const type = INPUT_TYPES[event.type]!;
  const before = state.valueLengths.get(field);
  const grownBy = before === undefined ? event.insertedLength : valueLength - before;
  const length = Math.max(0, Math.min(event.insertedLength, grownBy));
  const isKeyed = state.isKeyedInput || timeMs - state.keyMs < KEY_TO_TEXT_MS;
  state.valueLengths.set(field, valueLength);
  state.isKeyedInput = false;
  state.typedMs = timeMs;
  finishDeed(state, timeMs);
  // A script, or the browser itself, filled the field.
  if (!isTrusted(event) || (flags & EVENT_FLAGS.autofilled) !== 0 || !TYPED.has(type)) return;
  if (type === 'insertText') noticeTyping(state, timeMs);
  if ((flags & EVENT_FLAGS.multiline) === 0) return;
  if (isKeyed && state.lastStroke) changeDeed(state.lastStroke).isMultiline = true;
  if (timeMs - state.clipboardMs < KEY_TO_TEXT_MS) return;
  const isComposed = timeMs - state.compositionMs < KEY_TO_TEXT_MS;
  const isBurst = length > MIN_BURST_LENGTH && timeMs - state.noticedMs < length * MS_PER_SPOKEN_CHARACTER;
  deeds.insertions.push({ atMs, length, isKeyless: BURSTS.has(type) && isBurst && !isKeyed && !isComposed });
}

const TEXT_ROLES = new Set(['input', 'textarea', 'editable']);
/** Pages put the focus somewhere when they load, and when they become visible again. */
const AUTOMATIC_FOCUS_MS = 2_000;
/** Pages move the focus at once when a field is full, such as a field for one digit. */
const NEXT_FIELD_MS = 50;
/** Nobody begins to type so soon after the focus came without doing. */
const AT_ONCE_MS = 150;

function takeFocus(state: DocumentState, event: Event<EventCode.Focus>, deeds: Deeds): void {
  const { field, role, timeMs, atMs } = event;
  if (field < 0 || !TEXT_ROLES.has(ELEMENT_ROLES[role]!)) return;
  const hasCause =
    timeMs - state.deedMs <= REACTION_MS ||
    timeMs - state.typedMs <= NEXT_FIELD_MS ||
    timeMs - Math.max(state.pageMs, state.visibleMs) <= AUTOMATIC_FOCUS_MS ||
    // A window that gets the focus back gives it to the field that had it.
    field === state.focusedField;
  const focus: FieldFocus = { atMs, hasCause, isTypedAtOnce: false };
  deeds.focuses.push(focus);
  state.focusedField = field;
  state.focus = { deed: focus, deeds, timeMs };
}

function noticeTyping(state: DocumentState, timeMs: number): void {
  if (state.focus && timeMs - state.focus.timeMs <= AT_ONCE_MS) changeDeed(state.focus).isTypedAtOnce = true;
  state.focus = null;
}

function countTime({ times }: Deeds, timeMs: number): void {
  times.count++;
  if (timeMs % 100 === 0) times.coarse++;
  times.tenths |= 1 << (Math.abs(Math.round(timeMs * 10)) % 10);
}
