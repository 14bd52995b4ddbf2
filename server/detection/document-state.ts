import { EVENT_FLAGS, type EventCode } from '../../contract/beacon';
import type { Deeds, FieldFocus, Jump, Press } from './deeds';
import type { Keystroke } from './keystroke';
import { createTextStream, type TextStream } from './text-stream';
import type { Toggle } from './toggles';
import type { TraceEvent } from './trace';

export type Event<Code extends EventCode> = Extract<TraceEvent, { code: Code }>;

/** A deed of which a later event can say more, the segment's deeds that it is one of, and when it was, by the document's clock. */
export interface OpenDeed<Deed> {
  deed: Deed;
  deeds: Deeds;
  timeMs: number;
}

/** The state of a document while its events are measured one after the other. Times are those of its clock. */
export interface DocumentState {
  /** Where the last move led, and whether the pointer has left that place since the last summary of moves. */
  pointer: { x: number; y: number };
  hasTravelled: boolean;
  /** Where the pointer was at the last press; null where that says nothing about the next one. */
  rest: { x: number; y: number } | null;
  /** Whether the mouse has left that place since, and whether the page was scrolled under it. */
  hasLeft: boolean;
  isScrolled: boolean;
  /** Moves since then: those that are in the trace, and those that were counted. */
  moveEvents: number;
  moveCount: number;
  press: OpenDeed<Press> | null;
  pressMs: number;
  /** The button, or the key that writes nothing, that was pressed last, unless something else was done since. */
  toggle: Toggle | null;
  held: Map<number, OpenDeed<Keystroke>>;
  characterMs: number;
  /** How long nothing was written, pressed or entered before the current stretch of keys. */
  quietMs: number;
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
  /** The last key that writes or accepts a proposal, until its text came or somebody went elsewhere. */
  writingKeyMs: number;
  /** The text without keys that came last. */
  stream: TextStream;
  valueLengths: Map<number, number>;
  focusedField: number | null;
  /** When another text field got the focus. */
  fieldMs: number;
  /** What got the focus last, and whether a press may be why. */
  focused: { role: number; isByPress: boolean } | null;
  /** The last press, as long as its element may still get the focus from it. */
  focusing: (OpenDeed<Press> & { role: number }) | null;
  /** Whether the page may move the focus on when somebody presses. */
  movesFocus: boolean;
  /** Whether the focus is in a field that the pixel does not report, such as one for a password: somebody may type there. */
  isUntold: boolean;
  focus: OpenDeed<FieldFocus> | null;
  /** Where the page was scrolled to last, and when the last turn of a wheel began. */
  scroll: { y: number; timeMs: number } | null;
  wheelMs: number;
  /** The latest jumps, because the event of a wheel can come after them. */
  jumps: OpenDeed<Jump>[];
  /** The last press, key or input, and the first sign of life that is more than an echo of it. */
  doneMs: number;
  stirMs: number;
}

export const NEVER = Number.NEGATIVE_INFINITY;
export const createDocumentState = (): DocumentState => ({
  rest: null,
  hasLeft: false,
  isScrolled: false,
  pointer: { x: 0, y: 0 },
  hasTravelled: false,
  moveEvents: 0,
  moveCount: 0,
  press: null,
  pressMs: NEVER,
  toggle: null,
  held: new Map(),
  characterMs: NEVER,
  quietMs: 0,
  lastStroke: null,
  keyMs: NEVER,
  deedMs: NEVER,
  typedMs: NEVER,
  noticedMs: NEVER,
  pageMs: NEVER,
  visibleMs: NEVER,
  compositionMs: NEVER,
  clipboardMs: NEVER,
  untrustedClickMs: NEVER,
  writingKeyMs: NEVER,
  stream: createTextStream(),
  valueLengths: new Map(),
  focusedField: null,
  fieldMs: NEVER,
  focused: null,
  focusing: null,
  movesFocus: false,
  isUntold: false,
  focus: null,
  scroll: null,
  wheelMs: NEVER,
  jumps: [],
  doneMs: NEVER,
  stirMs: Number.POSITIVE_INFINITY,
});

/** Opens a deed for a change. */
export function changeDeed<Deed>({ deed, deeds }: OpenDeed<Deed>): Deed {
  deeds.isChanged = true;
  return deed;
}

/** Finds the segments' deeds of which a later event can say more. */
export const findOpenDeeds = (state: DocumentState): ReadonlySet<Deeds> => {
  const { press, focusing, lastStroke, focus, held, jumps } = state;
  const open = [press, focusing, lastStroke, focus, ...held.values(), ...jumps];
  return new Set(open.flatMap((deed) => (deed ? [deed.deeds] : [])));
};

export const isTrusted = ({ flags }: { flags: number }) => (flags & EVENT_FLAGS.trusted) !== 0;

/** Somebody reacts to what the page does, and scripts of the page to what somebody does, within this time. */
export const REACTION_MS = 1_000;
/** What comes so soon after a deed belongs to it. */
const ECHO_MS = 300;

/** Notes the first sign of life since the last deed. */
export function noticeStir(state: DocumentState, timeMs: number): void {
  if (timeMs > state.doneMs + ECHO_MS && timeMs < state.stirMs) state.stirMs = timeMs;
}

/** Notes a deed: from now on, a pause begins. */
export function finishDeed(state: DocumentState, timeMs: number): void {
  state.doneMs = timeMs;
  state.stirMs = Number.POSITIVE_INFINITY;
}

/** Counts how the times of devices are rounded. */
export function countTime({ times }: Deeds, timeMs: number): void {
  times.count++;
  if (timeMs % 100 === 0) times.coarse++;
  times.tenths |= 1 << (Math.abs(Math.round(timeMs * 10)) % 10);
}
