import { EventCode } from '../../contract/beacon';
import type { Deeds } from './deeds';
import { type DocumentState, isTrusted, NEVER, noticeStir } from './document-state';
import { isToggleKey, maySpeakAt } from './keystroke';
import { addMoves, isAside, takeClick, takePress, takeRelease, takeScroll, takeTouch, takeWheel } from './pointing';
import { noteFocus, stopAwaitingFocus } from './press-focus';
import type { TraceEvent } from './trace';
import { takeFocus, takeInput, takeKeyDown, takeKeyUp } from './writing';

/** What shows that somebody is there between two deeds, in addition to moves. */
const STIRS: ReadonlySet<EventCode> = new Set([
  ...[EventCode.Scroll, EventCode.Wheel, EventCode.Touch, EventCode.Visibility, EventCode.Page],
  ...[EventCode.Clipboard, EventCode.Composition],
]);

/** What a press of a button brings with it. */
const OF_BUTTONS: ReadonlySet<EventCode> = new Set([
  ...[EventCode.Press, EventCode.Release, EventCode.Click, EventCode.Touch, EventCode.Focus, EventCode.KeyUp],
  EventCode.Visibility,
]);

/** Measures a move: when it was, and whether the pointer went anywhere. */
export function measureMove(state: DocumentState, timeMs: number, x: number, y: number): void {
  if (state.pageMs === NEVER) state.pageMs = timeMs;
  state.moveEvents++;
  state.hasLeft ||= isAside(state, { x, y });
  const { pointer } = state;
  state.hasTravelled ||= x !== pointer.x || y !== pointer.y;
  pointer.x = x;
  pointer.y = y;
  noticeStir(state, timeMs);
}

/** Whether what somebody speaks may have begun before this event, and go on after it. */
const isWithinSpeech = (event: TraceEvent): boolean =>
  event.code === EventCode.KeyUp || (event.code === EventCode.KeyDown && maySpeakAt(event.class, event.flags));

/** Whether it does not end what a button or a key began, as anything else does. */
const isOfToggle = (event: TraceEvent): boolean =>
  OF_BUTTONS.has(event.code) ||
  isWithinSpeech(event) ||
  (event.code === EventCode.KeyDown && isToggleKey(event.class, event.flags));

/**
 * Measures the next event of a document, which is no move. What it says of earlier events is written to where these were
 * measured.
 */
export function measureEvent(state: DocumentState, event: TraceEvent, deeds: Deeds): void {
  // Says more of the Input that follows, which is measured.
  if (event.code === EventCode.Writing) return;
  if (state.pageMs === NEVER) state.pageMs = event.timeMs;
  deeds.isChanged = true;
  stopAwaitingFocus(state, event.timeMs);
  if (STIRS.has(event.code)) noticeStir(state, event.timeMs);
  switch (event.code) {
    case EventCode.MoveSummary:
      state.moveCount += event.count;
      addMoves(deeds.moves, event, state.hasTravelled);
      state.hasTravelled = false;
      return;
    case EventCode.Scroll:
      takeScroll(state, event, deeds);
      return;
    case EventCode.Wheel:
      takeWheel(state, event);
      return;
    case EventCode.Press:
      takePress(state, event, deeds);
      break;
    case EventCode.Release:
      takeRelease(state, event);
      break;
    case EventCode.Click:
      takeClick(state, event, deeds);
      break;
    case EventCode.KeyDown:
      takeKeyDown(state, event, deeds);
      break;
    case EventCode.KeyUp:
      takeKeyUp(state, event);
      break;
    case EventCode.Input:
      takeInput(state, event, deeds);
      break;
    case EventCode.Clipboard:
      state.clipboardMs = event.timeMs;
      break;
    case EventCode.Focus:
      noteFocus(state, event);
      takeFocus(state, event, deeds);
      break;
    case EventCode.Touch:
      takeTouch(state, event, deeds);
      break;
    case EventCode.Visibility:
    case EventCode.Leave:
      state.visibleMs = event.timeMs;
      // Where the pointer comes back is unknown.
      state.rest = null;
      break;
    case EventCode.Page:
      state.pageMs = event.timeMs;
      // An application has left the page with that field.
      state.isUntold = false;
      break;
    case EventCode.Composition:
      state.compositionMs = event.timeMs;
      break;
    default:
      return;
  }
  if (!isWithinSpeech(event)) state.noticedMs = event.timeMs;
  const isOfScript = 'flags' in event && !isTrusted(event);
  if (!isOfToggle(event) && !isOfScript) state.toggle = null;
}
