import type { BeaconEnvironment, KEY_CLASSES, POINTERS } from '../../contract/beacon';

// What rules read: the deeds of a segment, or of the whole session, with what was measured of each.

/** Something that was seen at a time of the server. */
export interface Seen<Thing> {
  thing: Thing;
  atMs: number;
}

/** What the batches say about themselves. */
export interface Telemetry {
  /** Batches that are missing between others. */
  missingBatches: number;
  /** Events that the pixel dropped. */
  droppedEvents: number;
  /** By how much a clock of the page disagrees with the other clocks. */
  clockErrorMs: number;
}

/** A press of a pointer's button. Null means that it cannot be told. */
export interface Press {
  atMs: number;
  pointer: (typeof POINTERS)[number];
  isTrusted: boolean;
  hasPressure: boolean;
  /** Whether a coordinate is not a whole pixel. */
  isFractional: boolean;
  /** Whether it hit the exact centre of its element. */
  isCentred: boolean | null;
  /** Whether the mouse moved there. */
  isApproached: boolean | null;
  heldMs: number | null;
  /** screenX − clientX − window.screenX, and the same for y. */
  screenOffset: { x: number; y: number };
}

/** A key that was pressed, without repeats. */
export interface Keystroke {
  atMs: number;
  kind: (typeof KEY_CLASSES)[number];
  /** Whether it is a key that writes a character. */
  isCharacter: boolean;
  isTrusted: boolean;
  hasCode: boolean;
  hasShift: boolean;
  hasCapsLock: boolean;
  /** Whether it wrote into a text area or an editable element. */
  isMultiline: boolean;
  heldMs: number | null;
  /** Time since the character before; null after a pause of 2 s. */
  intervalMs: number | null;
}

/** Text that came into a text area or an editable element, and was not pasted, dropped or filled in. */
export interface Insertion {
  atMs: number;
  length: number;
  /** Whether no key was pressed for it, and nobody can speak as fast. */
  isKeyless: boolean;
}

/** A text field that got the focus. */
export interface FieldFocus {
  atMs: number;
  /** Whether something that a person did, or that the browser does by itself, explains it. */
  hasCause: boolean;
  /** Whether text came in the same moment. */
  isTypedAtOnce: boolean;
}

export interface Moves {
  count: number;
  mismatched: number;
  fractional: number;
  /** The most moves that the browser joined into one. */
  maxCoalesced: number;
  atMs: number | null;
}

export interface Features {
  userAgent: string;
  environments: Seen<BeaconEnvironment>[];
  marks: Seen<number>[];
  presses: Press[];
  keys: Keystroke[];
  insertions: Insertion[];
  focuses: FieldFocus[];
  moves: Moves;
  /** When scripts clicked form controls while no person did anything. */
  untrustedClicksMs: number[];
  hasTouch: boolean;
  /** Times of keys and presses, and how many of them are multiples of 100 ms. */
  times: { count: number; coarse: number };
  /** Of the whole session; null for a segment. */
  telemetry: Telemetry | null;
}

export const createFeatures = (userAgent: string, telemetry: Telemetry | null = null): Features => ({
  ...{ userAgent, environments: [], marks: [], presses: [], keys: [], insertions: [], focuses: [] },
  moves: { count: 0, mismatched: 0, fractional: 0, maxCoalesced: 0, atMs: null },
  ...{ untrustedClicksMs: [], hasTouch: false, times: { count: 0, coarse: 0 }, telemetry },
});

/** Puts the features of segments together, as those of the whole session. */
export function mergeFeatures(userAgent: string, parts: readonly Features[], telemetry: Telemetry): Features {
  const [only] = parts;
  if (only && parts.length === 1) return { ...only, telemetry };
  const whole = createFeatures(userAgent, telemetry);
  whole.environments = parts.flatMap(({ environments }) => environments);
  whole.marks = parts.flatMap(({ marks }) => marks);
  whole.presses = parts.flatMap(({ presses }) => presses);
  whole.keys = parts.flatMap(({ keys }) => keys);
  whole.insertions = parts.flatMap(({ insertions }) => insertions);
  whole.focuses = parts.flatMap(({ focuses }) => focuses);
  whole.untrustedClicksMs = parts.flatMap(({ untrustedClicksMs }) => untrustedClicksMs);
  whole.hasTouch = parts.some(({ hasTouch }) => hasTouch);
  for (const { moves, times } of parts) {
    addMoves(whole.moves, moves);
    whole.times.count += times.count;
    whole.times.coarse += times.coarse;
  }
  return whole;
}

export function addMoves(sum: Moves, moves: Moves): void {
  sum.count += moves.count;
  sum.mismatched += moves.mismatched;
  sum.fractional += moves.fractional;
  sum.maxCoalesced = Math.max(sum.maxCoalesced, moves.maxCoalesced);
  sum.atMs ??= moves.atMs;
}
