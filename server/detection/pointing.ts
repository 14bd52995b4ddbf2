import { ELEMENT_ROLES, type EventCode, POINTERS } from '../../contract/beacon';
import type { Deeds, Jump, Moves, Point, Press } from './deeds';
import {
  changeDeed,
  countTime,
  type DocumentState,
  type Event,
  finishDeed,
  isTrusted,
  NEVER,
  type OpenDeed,
  REACTION_MS,
} from './document-state';
import { isBeyondScreen } from './emulation';
import { awaitFocus, hasFocusBefore } from './press-focus';
import { followToggle } from './toggles';
import { TEXT_ROLES } from './writing';

// What a pointer does: moves, presses, clicks and scrolling.

/**
 * Adds what a batch says of its moves. A page can lock the pointer, for example to look around in a laboratory: then its place stays,
 * and only the distances tell that it moves.
 */
export function addMoves(
  sum: Moves,
  { count, mismatched, coalesced, atMs }: Event<EventCode.MoveSummary>,
  hasTravelled: boolean,
): void {
  sum.count += count;
  if (hasTravelled) sum.mismatched += mismatched;
  sum.maxCoalesced = Math.max(sum.maxCoalesced, coalesced);
  sum.atMs ??= atMs;
}

/** A mouse can be pressed again near the place where it rests. */
const NEAR_PX = 30;
const DOUBLE_PRESS_MS = 500;
const MAX_UNAPPROACHED_MOVES = 2;
/** Smaller elements have few places that are not their centre. */
const MIN_CENTRED_PX = 10;
/** A program that rounds the middle of an element to whole pixels misses it by up to one. */
const CENTRE_TENTHS = 10;
/** Two presses in the same middle are closer. */
const ASIDE_PX = 3;

const FREE_ROLES = new Set(['other', 'page', 'media', 'canvas', 'frame']);

/** What comes so soon before a press belongs to it. */
const APPROACH_MS = 150;
const MAX_APPROACH_MOVES = 8;
const MIN_PAUSE_MS = 1_500;

/** Whether a sum of two places that were rounded to tenths is not next to a whole pixel. */
const isBetween = (at10: number): boolean => Math.abs(at10 - Math.round(at10 / 10) * 10) > 1;

/** Takes a press. One that a script made says nothing of the pointer, so it only counts. */
export function takePress(state: DocumentState, event: Event<EventCode.Press>, deeds: Deeds): void {
  const press = measurePress(state, event, deeds);
  deeds.presses.push(press);
  if (press.isTrusted) followPress(state, event, { deed: press, deeds, timeMs: event.timeMs });
}

const countMoves = ({ moveEvents, moveCount }: DocumentState): number => Math.max(moveEvents, moveCount);

/** Whether a press is so far from the one before, and so long after it, that the mouse must have moved there. */
const isElsewhere = ({ rest, pressMs }: DocumentState, { x, y }: Point, timeMs: number): boolean =>
  rest !== null && Math.hypot(x - rest.x, y - rest.y) >= NEAR_PX && timeMs - pressMs >= DOUBLE_PRESS_MS;

/** Whether a place is aside from that of the press before. */
export const isAside = ({ rest }: DocumentState, { x, y }: Point): boolean =>
  rest !== null && Math.hypot(x - rest.x, y - rest.y) >= ASIDE_PX;

/**
 * Whether somebody aimed for a press: the mouse came from elsewhere, or a program scrolled its next target to where the mouse was and
 * sent it there. A mouse that rests on a button only presses again.
 */
function isAimed(state: DocumentState, place: Point): boolean {
  const isSent = state.isScrolled && state.wheelMs < state.pressMs && countMoves(state) > 0;
  return state.rest === null || isAside(state, place) || state.hasLeft || isSent;
}

/** Measures a press: where, and after which moves. */
function measurePress(state: DocumentState, event: Event<EventCode.Press>, deeds: Deeds): Press {
  const { x10, y10, width, height, timeMs, atMs } = event;
  const place = { x: x10 / 10, y: y10 / 10 };
  const screenOffset = { x: event.screenX10 / 10, y: event.screenY10 / 10 };
  const moves = countMoves(state);
  const isFractional = x10 % 10 !== 0 || y10 % 10 !== 0;
  const isFocusedBefore = hasFocusBefore(state, event.role);
  const isLarge = Math.min(width, height) >= MIN_CENTRED_PX;
  return {
    atMs,
    pointer: POINTERS[event.pointer]!,
    isTrusted: isTrusted(event),
    hasPressure: event.pressurePercent > 0,
    isFractional,
    isBetweenPixels: isFractional && (isBetween(x10 + event.screenX10) || isBetween(y10 + event.screenY10)),
    isCentred: isLarge
      ? Math.abs(event.offsetX10) <= CENTRE_TENTHS && Math.abs(event.offsetY10) <= CENTRE_TENTHS
      : null,
    canFollow: FREE_ROLES.has(ELEMENT_ROLES[event.role]!),
    isAimed: event.pressurePercent === 0 || isAimed(state, place),
    isApproached: isElsewhere(state, place, timeMs) ? moves > MAX_UNAPPROACHED_MOVES : null,
    hasMoved: moves > 0,
    isFocusedBefore,
    isOfPointer: isFractional && !isFocusedBefore && hasPlainRatio(deeds),
    heldMs: null,
    place,
    isNowhere:
      x10 === 0 && y10 === 0 && (Math.abs(event.offsetX10) > width * 5 || Math.abs(event.offsetY10) > height * 5),
    offset10: { x: event.offsetX10, y: event.offsetY10 },
    areaPx: width * height,
    screenOffset,
    isBeyondScreen: isBeyondScreen(deeds.environments.at(-1)?.thing, screenOffset),
  };
}

/** Follows a press of a device: the pause before it, where its pointer rests, and what it can cause. */
function followPress(state: DocumentState, event: Event<EventCode.Press>, open: OpenDeed<Press>): void {
  const { timeMs, atMs, role } = event;
  const { deed: press, deeds } = open;
  const isMouse = press.pointer === 'mouse';
  // A pen, too, taps the keyboard on the screen, or writes by hand.
  if (!isMouse) deeds.hasTouch = true;
  countTime(deeds, timeMs);
  if (press.isApproached !== null && !state.isUntold && timeMs - state.doneMs >= MIN_PAUSE_MS) {
    const isSilent = state.stirMs >= timeMs - APPROACH_MS && countMoves(state) <= MAX_APPROACH_MOVES;
    deeds.pauses.push({ atMs, isSilent, press });
  }
  finishDeed(state, timeMs);
  // A press without pressure may be that of a screen reader, which moves the page as it reads.
  const isOfHand = isMouse && press.hasPressure;
  for (const jump of state.jumps)
    if (isOfHand && timeMs - jump.timeMs <= JUMP_TO_PRESS_MS) changeDeed(jump).isUsed = true;
  // A finger and a pen leave the mouse where it is.
  state.rest = isMouse ? press.place : null;
  state.hasLeft = false;
  state.isScrolled = false;
  state.moveEvents = 0;
  state.moveCount = 0;
  state.press = open;
  awaitFocus(state, open, role);
  state.pressMs = timeMs;
  state.deedMs = timeMs;
  state.writingKeyMs = NEVER;
  // Who presses a field enters it.
  state.toggle = TEXT_ROLES.has(ELEMENT_ROLES[role]!) ? null : followToggle(state.toggle, event, timeMs);
}

/** Whether a CSS pixel is a pixel of the screen. There Chromium rounds the places of presses for assistive technology. */
const hasPlainRatio = ({ environments }: Deeds): boolean => environments.at(-1)?.thing.v[9] === 1_000;

/** The browser tells of a touch twice, in events of the same time. Some round times to 100 ms. */
const SAME_TOUCH_MS = 100;

/**
 * Notes a touch. Firefox that resists fingerprinting can say of its press that it is one of a mouse. A script that makes touches shows
 * no touch screen: libraries make them of a mouse.
 */
export function takeTouch(state: DocumentState, event: Event<EventCode.Touch>, deeds: Deeds): void {
  const { press } = state;
  if (!isTrusted(event)) return;
  state.deedMs = event.timeMs;
  if (press && event.timeMs - press.timeMs <= SAME_TOUCH_MS) {
    changeDeed(press).pointer = 'touch';
    state.rest = null;
  }
  deeds.hasTouch = true;
}

/** Measures how long the press before was held. */
export function takeRelease(state: DocumentState, event: Event<EventCode.Release>): void {
  if (!isTrusted(event)) return;
  if (state.press && event.held10 >= 0) changeDeed(state.press).heldMs = event.held10 / 10;
  state.press = null;
  state.deedMs = event.timeMs;
}

/** A wheel that is turned, a finger and an animation make smaller steps, and the first of them comes after a rest. */
const MIN_JUMP_PX = 300;
const MIN_REST_MS = 500;
const JUMP_CAUSE_MS = 2_000;
const JUMP_TO_PRESS_MS = 1_500;
const WHEEL_MS = 100;
const MAX_RECENT_JUMPS = 8;

/** If a batch ends while a wheel turns, its event comes after the jumps that it caused. Else the time when it began to turn comes first. */
export function takeWheel(state: DocumentState, { timeMs }: Event<EventCode.Wheel>): void {
  state.wheelMs = timeMs;
  for (const jump of state.jumps) if (jump.timeMs >= timeMs - WHEEL_MS) changeDeed(jump).hasCause = true;
}

/** Measures a scroll: whether the page jumped, and whether somebody caused that. */
export function takeScroll(state: DocumentState, { y, timeMs, atMs }: Event<EventCode.Scroll>, deeds: Deeds): void {
  const { scroll } = state;
  state.scroll = { y, timeMs };
  state.isScrolled = true;
  // Where the page was before the first step is unknown.
  if (!scroll || Math.abs(y - scroll.y) < MIN_JUMP_PX || timeMs - scroll.timeMs < MIN_REST_MS) return;
  const { wheelMs, deedMs, typedMs, keyMs, pageMs, visibleMs, clipboardMs } = state;
  const causeMs = Math.max(wheelMs, deedMs, typedMs, keyMs, pageMs, visibleMs, clipboardMs);
  const hasCause = state.isUntold || timeMs - causeMs <= JUMP_CAUSE_MS;
  const jump: Jump = { atMs, hasCause, isUsed: false };
  deeds.jumps.push(jump);
  state.jumps = [...state.jumps, { deed: jump, deeds, timeMs }].slice(-MAX_RECENT_JUMPS);
}

const CONTROL_ROLES = new Set(['input', 'textarea', 'editable', 'select', 'checkbox', 'radio', 'label']);
/** Scripts of the page set up their controls, and react to people. */
const PAGE_START_MS = 3_000;
const CLICK_SERIES_MS = 300;

/** Measures a click that a script made on a form control. For a trusted one it notes only the time. */
export function takeClick(state: DocumentState, event: Event<EventCode.Click>, deeds: Deeds): void {
  const { timeMs } = event;
  if (isTrusted(event)) {
    state.deedMs = timeMs;
    return;
  }
  const isControl = CONTROL_ROLES.has(ELEMENT_ROLES[event.role]!);
  const isReaction = state.isUntold || timeMs - Math.max(state.deedMs, state.typedMs) < REACTION_MS;
  const isSeries = timeMs - state.untrustedClickMs < CLICK_SERIES_MS;
  state.untrustedClickMs = timeMs;
  if (!isControl || isReaction || isSeries || timeMs - state.pageMs < PAGE_START_MS) return;
  deeds.untrustedClicks.push({ atMs: event.atMs });
}
