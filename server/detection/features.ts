import type { BeaconEnvironment } from '../../contract/beacon';
import type { Deeds, Keystroke, Moves, Press, Seen } from './deeds';
import { leaveOutPhrases } from './phrases';
import {
  countShare,
  type Moments,
  mergeMoments,
  mergeSamples,
  mergeShares,
  noteMoment,
  type Sample,
  type Share,
  takeSample,
} from './statistics';
import type { TraceSource } from './trace';

// What rules read of a segment, or of the whole session: sums. The features of a session are those of its segments put
// together, so nothing of a segment that is over is read again. MERGES says how each feature is put together.

/** Something that was seen, and when first. */
export interface Sighting<Thing> {
  thing: Thing;
  momentsMs: Moments;
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

/** The presses of a mouse that neither a script nor assistive technology made. */
export interface MousePresses {
  count: number;
  /** Presses without pressure. */
  pressureless: Share;
  fractional: Share;
  /** Among those on elements that are large enough. */
  centred: Share;
  /** Those to which the mouse did not move, among those that are far from the press before. */
  unapproached: Share;
  /** All that were released. */
  released: Share;
  /** Those that were released at once and are odd in another way too: in the exact middle, or between two pixels. */
  hasty: Share;
  holds: Sample;
  /** The screen offset of the first press, and the range of all of them. Null without presses. */
  screenOffsets: { first: Point; least: Point; most: Point } | null;
}

interface Point {
  x: number;
  y: number;
}

/** Times of typed keys: of holding them, or between them. */
export interface Typing {
  times: Sample;
  /** How many of the keys wrote into a text area. */
  multiline: number;
  /** How many of the keys have an interval, and how many of the intervals are long, as with a switch or an eye tracker. */
  intervals: number;
  slow: number;
  /** Those that nobody holds so shortly; of intervals all. */
  suspected: Share;
}

export interface Features extends TraceSource {
  environments: readonly Sighting<BeaconEnvironment>[];
  marks: readonly Sighting<number>[];
  hasTouch: boolean;
  hasPen: boolean;
  moves: Moves;
  /** Times of keys and presses, how many of them are multiples of 100 ms, and which tenths of a millisecond they have (bits). */
  times: { count: number; coarse: number; tenths: number };
  /** How many keys were pressed. */
  keyCount: number;
  /** Those that a script made: of all presses, of all keys that write a character, and clicks on form controls. */
  untrustedPresses: Share;
  untrustedCharacters: Share;
  untrustedClicks: Share;
  mousePresses: MousePresses;
  /** Capitals without Shift and Caps Lock, among those from a keyboard. */
  unshiftedCapitals: Share;
  keyHolds: Typing;
  keyIntervals: Typing;
  /** Text in text areas: how often, how long, and how much of it came without keys. */
  insertions: { count: number; length: number; keylessLength: number; momentsMs: Moments };
  /** Text fields that got the focus without a cause, and text at once, among all that got it. */
  suddenFocuses: Share;
  /** Jumps of the page that nobody caused, to what was pressed next, and pauses in which nothing happened. */
  suddenJumps: Share;
  silentPauses: Share;
  agents: readonly Sighting<string>[];
  /** Numbers of networks (autonomous systems). */
  networks: readonly Sighting<number>[];
  /** Of the whole session: whether its input was seen before in another session. Null: not known. */
  isReplay: boolean | null;
  /** Of the whole session; null for a segment. */
  telemetry: Telemetry | null;
}

type Merge<Value> = (one: Value, other: Value) => Value;

/** Puts records together field by field. A new field does not compile until it is said how. */
const mergeFields =
  <Fields extends object>(merges: { [Name in keyof Fields]: Merge<Fields[Name]> }): Merge<Fields> =>
  (one, other) => {
    const whole = {} as Fields;
    for (const name in merges) whole[name] = merges[name](one[name], other[name]);
    return whole;
  };

const add: Merge<number> = (one, other) => one + other;
const either: Merge<boolean> = (one, other) => one || other;
const keepFirst = <Value>(one: Value): Value => one;

const MERGES: { [Name in keyof Features]: Merge<Features[Name]> } = {
  userAgent: keepFirst,
  environments: mergeSightings,
  marks: mergeSightings,
  hasTouch: either,
  hasPen: either,
  moves: mergeFields<Moves>({
    count: add,
    mismatched: add,
    fractional: add,
    maxCoalesced: (one, other) => Math.max(one, other),
    atMs: (one, other) => one ?? other,
  }),
  times: mergeFields<Features['times']>({ count: add, coarse: add, tenths: (one, other) => one | other }),
  keyCount: add,
  untrustedPresses: mergeShares,
  untrustedCharacters: mergeShares,
  untrustedClicks: mergeShares,
  mousePresses: mergeFields<MousePresses>({
    count: add,
    pressureless: mergeShares,
    fractional: mergeShares,
    centred: mergeShares,
    unapproached: mergeShares,
    released: mergeShares,
    hasty: mergeShares,
    holds: mergeSamples,
    screenOffsets: mergeOffsets,
  }),
  unshiftedCapitals: mergeShares,
  keyHolds: mergeTyping,
  keyIntervals: mergeTyping,
  insertions: mergeFields<Features['insertions']>({
    count: add,
    length: add,
    keylessLength: add,
    momentsMs: mergeMoments,
  }),
  suddenFocuses: mergeShares,
  suddenJumps: mergeShares,
  silentPauses: mergeShares,
  agents: mergeSightings,
  networks: mergeSightings,
  isReplay: keepFirst,
  telemetry: keepFirst,
};

/** Puts the features of two parts of a session together; `one` begins first. */
export const mergeFeatures: Merge<Features> = mergeFields<Features>(MERGES);

/** Whether a keyboard wrote a character. Dictation, input methods and text expanders send keys without a code. */
export const isTyped = ({ isCharacter, hasCode, isTrusted }: Keystroke): boolean => isCharacter && hasCode && isTrusted;

/** Whether it is a press of a mouse that neither a script nor assistive technology made. */
export const isOfMouse = (press: Press): boolean => press.pointer === 'mouse' && press.isTrusted && !isAssisted(press);

const MAX_ASSISTED_MS = 1;

/**
 * Whether assistive technology pressed for somebody. If a screen reader asks for the action of an element, Chromium makes
 * the events of a mouse: without pressure, in the middle, released at once, and without a move. Programs that drive a
 * browser move first, or hold longer.
 */
const isAssisted = ({ hasPressure, hasMoved, heldMs }: Press): boolean =>
  !hasPressure && !hasMoved && heldMs !== null && heldMs < MAX_ASSISTED_MS;

/** Sums up what was done in a segment. */
export function sumUpDeeds(source: TraceSource, deeds: Deeds): Features {
  const { presses, keys, insertions, focuses, untrustedClicks, hasTouch, moves, times } = deeds;
  const isUntrusted = ({ isTrusted }: { isTrusted: boolean }) => !isTrusted;
  const typed = leaveOutPhrases(keys.filter(isTyped));
  const keyless = insertions.filter(({ isKeyless }) => isKeyless);
  return {
    ...source,
    environments: listSightings(deeds.environments),
    marks: listSightings(deeds.marks),
    hasTouch,
    hasPen: presses.some(({ pointer }) => pointer === 'pen'),
    moves: { ...moves },
    times: { ...times },
    keyCount: keys.length,
    untrustedPresses: countShare(presses, isUntrusted),
    untrustedCharacters: countShare(
      keys.filter(({ isCharacter }) => isCharacter),
      isUntrusted,
    ),
    untrustedClicks: countShare(untrustedClicks, () => true),
    mousePresses: sumUpPresses(presses.filter(isOfMouse)),
    unshiftedCapitals: countShare(
      keys.filter(({ kind, hasCode, isTrusted }) => kind === 'capital' && hasCode && isTrusted),
      ({ hasShift, hasCapsLock }) => !hasShift && !hasCapsLock,
    ),
    keyHolds: sumUpTyping(
      typed,
      ({ heldMs }) => heldMs,
      (heldMs) => heldMs < MIN_HELD_MS,
    ),
    keyIntervals: sumUpTyping(
      typed,
      ({ intervalMs }) => intervalMs,
      () => true,
    ),
    insertions: {
      count: insertions.length,
      length: sumLengths(insertions),
      keylessLength: sumLengths(keyless),
      momentsMs: countShare(keyless, () => true).momentsMs,
    },
    suddenFocuses: countShare(focuses, ({ hasCause, isTypedAtOnce }) => !hasCause && isTypedAtOnce),
    suddenJumps: countShare(deeds.jumps, ({ hasCause, isUsed }) => !hasCause && isUsed),
    silentPauses: countShare(
      deeds.pauses.filter(({ press }) => isOfMouse(press)),
      ({ isSilent }) => isSilent,
    ),
    agents: listSightings(deeds.agents),
    networks: listSightings(deeds.networks),
    isReplay: null,
    telemetry: null,
  };
}

const sumLengths = (some: readonly { length: number }[]) => some.reduce((total, { length }) => total + length, 0);

function sumUpPresses(presses: readonly Press[]): MousePresses {
  const released = presses.filter(({ heldMs }) => heldMs !== null);
  return {
    count: presses.length,
    pressureless: countShare(presses, ({ hasPressure }) => !hasPressure),
    fractional: countShare(presses, ({ isFractional }) => isFractional),
    centred: countShare(
      presses.filter(({ isCentred }) => isCentred !== null),
      ({ isCentred }) => isCentred === true,
    ),
    unapproached: countShare(
      presses.filter(({ isApproached }) => isApproached !== null),
      ({ isApproached }) => isApproached === false,
    ),
    released: countShare(released, () => true),
    hasty: countShare(
      released,
      ({ heldMs, isCentred, isFractional }) => heldMs! < MIN_PRESSED_MS && (isCentred === true || isFractional),
    ),
    holds: takeSample(released.map(({ heldMs }) => heldMs!)),
    screenOffsets: presses.reduce<MousePresses['screenOffsets']>(
      (range, { screenOffset: at }) => mergeOffsets(range, { first: at, least: at, most: at }),
      null,
    ),
  };
}

function mergeOffsets(
  one: MousePresses['screenOffsets'],
  other: MousePresses['screenOffsets'],
): MousePresses['screenOffsets'] {
  if (one === null || other === null) return one ?? other;
  return {
    first: one.first,
    least: { x: Math.min(one.least.x, other.least.x), y: Math.min(one.least.y, other.least.y) },
    most: { x: Math.max(one.most.x, other.most.x), y: Math.max(one.most.y, other.most.y) },
  };
}

/** A finger holds a button longer. */
const MIN_PRESSED_MS = 12;
const MIN_SLOW_INTERVAL_MS = 350;
/** A finger holds a key longer. */
export const MIN_HELD_MS = 30;

function sumUpTyping(
  typed: readonly Keystroke[],
  findTime: (key: Keystroke) => number | null,
  isSuspected: (ms: number) => boolean,
): Typing {
  const keys = typed.filter((key) => findTime(key) !== null);
  const intervals = keys.filter(({ intervalMs }) => intervalMs !== null);
  return {
    times: takeSample(keys.map((key) => findTime(key)!)),
    multiline: keys.filter(({ isMultiline }) => isMultiline).length,
    intervals: intervals.length,
    slow: intervals.filter(({ intervalMs }) => intervalMs! >= MIN_SLOW_INTERVAL_MS).length,
    suspected: countShare(keys, (key) => isSuspected(findTime(key)!)),
  };
}

function mergeTyping(one: Typing, other: Typing): Typing {
  return {
    times: mergeSamples(one.times, other.times),
    multiline: one.multiline + other.multiline,
    intervals: one.intervals + other.intervals,
    slow: one.slow + other.slow,
    suspected: mergeShares(one.suspected, other.suspected),
  };
}

/** Lists each thing once. Things that are equal are the same object. */
function listSightings<Thing>(seen: readonly Seen<Thing>[]): Sighting<Thing>[] {
  const moments = new Map<Thing, number[]>();
  for (const { thing, atMs } of seen) {
    const known = moments.get(thing);
    if (known) noteMoment(known, atMs);
    else moments.set(thing, [atMs]);
  }
  return [...moments].map(([thing, momentsMs]) => ({ thing, momentsMs }));
}

function mergeSightings<Thing>(
  one: readonly Sighting<Thing>[],
  other: readonly Sighting<Thing>[],
): readonly Sighting<Thing>[] {
  if (other.length === 0) return one;
  if (one.length === 0) return other;
  const merged = new Map(one.map((sighting) => [sighting.thing, sighting]));
  for (const sighting of other) {
    const known = merged.get(sighting.thing);
    const momentsMs = known ? mergeMoments(known.momentsMs, sighting.momentsMs) : sighting.momentsMs;
    merged.set(sighting.thing, { thing: sighting.thing, momentsMs });
  }
  return [...merged.values()];
}
