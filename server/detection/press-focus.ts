import { ELEMENT_ROLES, type EventCode } from '../../contract/beacon';
import type { Press } from './deeds';
import { changeDeed, type DocumentState, type Event, type OpenDeed } from './document-state';

// The time of the focus shows who pressed an element. A pointer presses first, and the browser then focuses what was
// pressed. If assistive technology asks for the action of an element, Chromium focuses it first and then makes the events of
// a press (AXObject::OnNativeClickAction).

/** The elements that take the focus by themselves. For others the page decides. */
const FOCUSABLE: ReadonlySet<number> = new Set(
  (['link', 'button', 'input', 'textarea', 'select', 'checkbox', 'radio', 'summary'] as const).map((role) =>
    ELEMENT_ROLES.indexOf(role),
  ),
);

/** The focus follows a press within this time, also on a busy page. */
const PRESS_TO_FOCUS_MS = 300;

/** Says of a press whether its element had the focus before. */
export const hasFocusBefore = ({ focused }: DocumentState, role: number): boolean =>
  focused !== null && !focused.isByPress && focused.role === role && FOCUSABLE.has(role);

/** Waits for the focus that a press can cause. */
export function awaitFocus(state: DocumentState, { deed, deeds, timeMs }: OpenDeed<Press>, role: number): void {
  state.focusing = { deed, deeds, timeMs, role };
}

/** Stops waiting when the press is too long ago. */
export function stopAwaitingFocus(state: DocumentState, timeMs: number): void {
  if (state.focusing && timeMs - state.focusing.timeMs > PRESS_TO_FOCUS_MS) state.focusing = null;
}

/**
 * Notes which element got the focus. The page can move it when it handles a click. That comes after the release, like the
 * focus of an instant press, so then only a press after a move counts, and only until the page is seen to move it: a pointer can
 * follow assistive technology.
 */
export function noteFocus(state: DocumentState, { role }: Event<EventCode.Focus>): void {
  const { focusing } = state;
  state.focused = { role, isByPress: focusing !== null };
  state.focusing = null;
  if (focusing === null) return;
  // The element had the focus before, so the page moves it on.
  state.movesFocus ||= focusing.deed.isFocusedBefore;
  if (focusing.role !== role || !FOCUSABLE.has(role)) return;
  const press = changeDeed(focusing);
  const isHeld = state.press?.deed === press;
  if (press.isFocusedBefore) {
    // An element with the focus cannot get it, so another one of this kind was focused before or after the press: that says nothing.
    press.isFocusedBefore = false;
  } else if (isHeld || (press.hasMoved && !state.movesFocus)) press.isOfPointer = true;
}
