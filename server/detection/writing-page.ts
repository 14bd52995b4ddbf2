import { CLIPBOARD_KINDS, EVENT_FLAGS, EventCode, KEY_CLASSES } from '../../contract/beacon';
import { type Event, isTrusted, NEVER } from './document-state';
import { IS_WRITING_KEY, isToggleKey, maySpeakAt } from './keystroke';
import { createTextStream, type TextStream } from './text-stream';
import { followToggle, type Toggle } from './toggles';
import type { TraceEvent } from './trace';

// What happens on a page between the Inputs of a text. It tells where the next characters come from.

/** What happened on a page before an Input. Times are of its document's clock. */
export interface PageState {
  /** The last key that writes, until its text came. */
  key: { kind: (typeof KEY_CLASSES)[number]; hasCode: boolean; timeMs: number } | null;
  /** How many keys that write were pressed since the last Input. */
  keyCount: number;
  /** The last event in which somebody, or a program, did something; at first the beginning of the document. */
  noticedMs: number;
  /** The last press of a pointer. */
  pressedMs: number;
  /** The button, or the key that writes nothing, that was pressed. Null after other events. */
  toggle: Toggle | null;
  isComposing: boolean;
  composedMs: number;
  /** The last paste or drop, with those before it after which no text came; the length is −1 where unknown. */
  clip: { timeMs: number; length: number } | null;
  /** The last Input of any field. */
  inputMs: number;
  /** The short pieces of text without keys that came last. */
  stream: TextStream;
  /** What was copied or cut on the page and is still there to be pasted; its length is −1 where unknown. */
  copied: { timeMs: number; length: number; isCut: boolean } | null;
  removed: { timeMs: number; length: number };
  /** How many characters were composed or corrected since anything else changed the text: dictation writes its last words again. */
  composedLength: number;
}

export const createPageState = (): PageState => ({
  ...{ key: null, keyCount: 0, noticedMs: 0, isComposing: false, composedMs: NEVER, clip: null, copied: null },
  ...{ removed: { timeMs: NEVER, length: 0 }, inputMs: NEVER, pressedMs: NEVER, stream: createTextStream() },
  ...{ composedLength: 0, toggle: null },
});

/** Between a paste or a removal and its text lies less. */
export const ECHO_MS = 1_000;

/** Notes an event in which something was done, and what it toggled. */
function notice(state: PageState, timeMs: number, toggle: Toggle | null = null): void {
  state.noticedMs = timeMs;
  state.toggle = toggle;
}

/** Notes a key, which may write the next text. */
export function followKey(state: PageState, keyClass: number, flags: number, timeMs: number): void {
  const kind = KEY_CLASSES[keyClass]!;
  const isCommand = (flags & EVENT_FLAGS.control) !== 0 && (flags & EVENT_FLAGS.alt) === 0;
  // The pause before a key belongs to the text that the key writes.
  if (!IS_WRITING_KEY[keyClass] || isCommand || (flags & EVENT_FLAGS.trusted) === 0) {
    if (maySpeakAt(keyClass, flags)) return;
    notice(state, timeMs, isToggleKey(keyClass, flags) ? followToggle(state.toggle, null, timeMs) : null);
  } else {
    state.key = { kind, hasCode: (flags & EVENT_FLAGS.hasCode) !== 0 && kind !== 'composition', timeMs };
    state.keyCount++;
  }
}

/** Notes what may explain later text, in addition to keys. */
export function followPage(state: PageState, event: TraceEvent): void {
  const { timeMs } = event;
  switch (event.code) {
    case EventCode.Clipboard: {
      if (!isTrusted(event)) return;
      const kind = CLIPBOARD_KINDS[event.kind]!;
      if (kind === 'paste' || kind === 'drop') state.clip = joinClips(state, event);
      else state.copied = { timeMs, length: event.length, isCut: kind === 'cut' };
      return;
    }
    case EventCode.Composition:
      state.isComposing = event.phase === 0;
      state.composedMs = timeMs;
      return;
    case EventCode.Visibility:
    case EventCode.Leave:
      // Somewhere else, something else may be copied.
      state.copied = null;
      notice(state, timeMs);
      return;
    case EventCode.Press:
    case EventCode.Touch:
      followPress(state, event);
  }
}

function followPress(state: PageState, event: Event<EventCode.Press> | Event<EventCode.Touch>): void {
  const { timeMs } = event;
  if (!isTrusted(event)) {
    notice(state, timeMs);
    return;
  }
  state.pressedMs = timeMs;
  // A finger also presses, and only that has a place.
  const isPlaced = event.code === EventCode.Press;
  notice(state, timeMs, isPlaced ? followToggle(state.toggle, event, timeMs) : state.toggle);
}

/**
 * Since when the text that comes next may have been spoken. A button or key that is pressed again ends what it began: the text of a
 * dictation comes after the second press.
 */
export const findSpeechStart = ({ noticedMs, toggle }: PageState): number => toggle?.sinceMs ?? noticedMs;

/** Many editors insert a paste without an Input. Several in a row are then seen at once, with the next key. */
function joinClips({ clip, inputMs }: PageState, { timeMs, length }: Event<EventCode.Clipboard>): PageState['clip'] {
  if (clip === null || clip.timeMs <= inputMs) return { timeMs, length };
  return { timeMs, length: clip.length < 0 || length < 0 ? -1 : clip.length + length };
}

/** Notes an Input, which may be that of a field in which nobody writes at length. */
export function noticeInput(state: PageState, timeMs: number): void {
  notice(state, timeMs);
  state.inputMs = timeMs;
}

/** Notes that text was removed, which may come back elsewhere. */
export function noticeRemoval(state: PageState, timeMs: number, length: number): void {
  if (length === 0) return;
  state.removed = { timeMs, length };
  if (state.copied?.isCut && timeMs - state.copied.timeMs < ECHO_MS) state.copied.length = length;
}
