// A button or a key that begins something and, pressed again, ends it, such as dictation: the text comes after the second press.

export interface Toggle {
  /** Where the button is. Null for a key. */
  place: { x10: number; y10: number } | null;
  /** When it was pressed, and since when what it ends may have gone on: the press right before it, if that was of the same. */
  timeMs: number;
  sinceMs: number;
}

/** Two presses on one button are not farther apart, in CSS pixels. */
const MAX_BUTTON_WIDTH = 40;

/** Follows a press; `before` is the one right before it, or null after anything else. */
export function followToggle(before: Toggle | null, place: Toggle['place'], timeMs: number): Toggle {
  const isAgain = before !== null && isSame(before.place, place);
  return { place: place && { x10: place.x10, y10: place.y10 }, timeMs, sinceMs: isAgain ? before.timeMs : timeMs };
}

/** Whether both are one button, or both are keys: which key writes nothing is unknown. */
function isSame(one: Toggle['place'], other: Toggle['place']): boolean {
  if (one === null || other === null) return one === other;
  return Math.hypot(other.x10 - one.x10, other.y10 - one.y10) <= MAX_BUTTON_WIDTH * 10;
}

/** Whether it was pressed again. */
export const isPressedAgain = (toggle: Toggle | null): toggle is Toggle =>
  toggle !== null && toggle.sinceMs < toggle.timeMs;
