import type { BeaconEnvironment, POINTERS } from '../../contract/beacon';
import type { Keystroke } from './keystroke';

// What was done in a segment, with what was measured of each deed. Rules read features, which sum up the deeds.

/** Something that was seen at a time of the server. */
export interface Seen<Thing> {
  thing: Thing;
  atMs: number;
}

/** A press of a pointer's button. Null means that it cannot be told. */
export interface Press {
  atMs: number;
  pointer: (typeof POINTERS)[number];
  isTrusted: boolean;
  hasPressure: boolean;
  /** Whether a coordinate is not a whole pixel. */
  isFractional: boolean;
  /** Whether it is not one of the screen either: where a page is pinched, their pixels differ. */
  isBetweenPixels: boolean;
  /** Whether it hit the exact centre of its element. */
  isCentred: boolean | null;
  /** Whether what it hit can follow the mouse, such as a lens over a picture: it is no link, button, field or label. */
  canFollow: boolean;
  /** Whether it was aimed: the mouse of a hand that rests on a button presses again where it pressed before. */
  isAimed: boolean;
  /** Whether the mouse moved there. */
  isApproached: boolean | null;
  /** Whether the mouse moved at all since the press before. */
  hasMoved: boolean;
  /** Whether its element had the focus before, though no press had put it there. */
  isFocusedBefore: boolean;
  /** Whether only a pointer can have made it, not assistive technology: its element got the focus from it, or it is between pixels. */
  isOfPointer: boolean;
  heldMs: number | null;
  /** Where the mouse was. */
  place: Point;
  /** Whether it was at the origin of the page, where its element is not. */
  isNowhere: boolean;
  /** From the middle of the element, in tenths of a pixel, and the area of the element in square pixels. */
  offset10: { x: number; y: number };
  areaPx: number;
  /** screenX − clientX − window.screenX, and the same for y. */
  screenOffset: Point;
  /** Whether the page is where the screen that it tells of has ended. */
  isBeyondScreen: boolean;
}

export interface Point {
  x: number;
  y: number;
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

/** A scroll position that was far away at once, without the steps of a wheel, a finger or an animation. */
export interface Jump {
  atMs: number;
  /** Whether something that a person did, or a new page, explains it. */
  hasCause: boolean;
  /** Whether a button of the mouse was pressed soon after it. */
  isUsed: boolean;
}

/** A pause before a mouse was pressed at a new place. */
export interface Pause {
  atMs: number;
  /** Whether nothing at all happened in it. */
  isSilent: boolean;
  /** The press that ended it. */
  press: Press;
}

export interface Moves {
  count: number;
  mismatched: number;
  /** The most moves that the browser joined into one. */
  maxCoalesced: number;
  /** When the first were summed up. */
  atMs: number | null;
}

export interface Deeds {
  environments: Seen<BeaconEnvironment>[];
  marks: Seen<number>[];
  presses: Press[];
  keys: Keystroke[];
  insertions: Insertion[];
  focuses: FieldFocus[];
  jumps: Jump[];
  pauses: Pause[];
  /** Agents that signed requests, and numbers of the networks (autonomous systems) that requests came from. */
  agents: Seen<string>[];
  networks: Seen<number>[];
  moves: Moves;
  /** Clicks of scripts on form controls while no person did anything. */
  untrustedClicks: { atMs: number }[];
  hasTouch: boolean;
  /** Times of keys and presses, how many of them are multiples of 100 ms, and which tenths of a millisecond they have (bits). */
  times: { count: number; coarse: number; tenths: number };
  /** Whether something changed since the deeds were summed up. A later segment can do that: a key is released there. */
  isChanged: boolean;
}

export const createDeeds = (): Deeds => ({
  environments: [],
  marks: [],
  presses: [],
  keys: [],
  insertions: [],
  focuses: [],
  jumps: [],
  pauses: [],
  agents: [],
  networks: [],
  moves: { count: 0, mismatched: 0, maxCoalesced: 0, atMs: null },
  untrustedClicks: [],
  hasTouch: false,
  times: { count: 0, coarse: 0, tenths: 0 },
  isChanged: true,
});
