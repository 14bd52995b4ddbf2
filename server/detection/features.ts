import type { BeaconEnvironment } from '../../contract/beacon';
import type { Deeds, Moves, Seen } from './deeds';
import { isOfMouse, mergePresses, type PressesByOrigin, sortPresses } from './mouse-presses';
import { leaveOutPhrases } from './phrases';
import {
  add,
  countShare,
  type Merge,
  type Moments,
  mergeFields,
  mergeMoments,
  mergeShares,
  noteMoment,
  type Share,
} from './statistics';
import type { TraceSource } from './trace';
import { listCapitals, MIN_HELD_MS, mayBePosted, mergeTyping, sumUpTyping, type Typing } from './typing';

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

export interface Features extends TraceSource, PressesByOrigin {
  environments: readonly Sighting<BeaconEnvironment>[];
  marks: readonly Sighting<number>[];
  hasTouch: boolean;
  hasPen: boolean;
  /** Whether somebody, or a program, pressed with a mouse. */
  hasMouse: boolean;
  /** Whether other parts of the session show taps of somebody far away (`isTapping`). */
  isTapped: boolean;
  moves: Moves;
  /** Times of keys and presses, how many of them are multiples of 100 ms, and which tenths of a millisecond they have (bits). */
  times: { count: number; coarse: number; tenths: number };
  /** How many keys were pressed. */
  keyCount: number;
  /** Those that a script made: of all presses, of all keys that write a character, and clicks on form controls. */
  untrustedPresses: Share;
  untrustedCharacters: Share;
  untrustedClicks: Share;
  /** Capitals without Shift and Caps Lock, among those from a keyboard that are next to small letters. */
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

const either: Merge<boolean> = (one, other) => one || other;
const keepFirst = <Value>(one: Value): Value => one;

const MERGES: { [Name in keyof Features]: Merge<Features[Name]> } = {
  userAgent: keepFirst,
  environments: mergeSightings,
  marks: mergeSightings,
  hasTouch: either,
  hasPen: either,
  hasMouse: either,
  isTapped: either,
  moves: mergeFields<Moves>({
    count: add,
    mismatched: add,
    maxCoalesced: (one, other) => Math.max(one, other),
    atMs: (one, other) => one ?? other,
  }),
  times: mergeFields<Features['times']>({ count: add, coarse: add, tenths: (one, other) => one | other }),
  keyCount: add,
  untrustedPresses: mergeShares,
  untrustedCharacters: mergeShares,
  untrustedClicks: mergeShares,
  mousePresses: mergePresses,
  simulatedPresses: mergePresses,
  touchPresses: mergePresses,
  assistedCount: add,
  drivenCount: add,
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

/** Sums up what was done in a segment. */
export function sumUpDeeds(source: TraceSource, deeds: Deeds): Features {
  const { presses, keys, insertions, focuses, untrustedClicks, hasTouch, moves, times } = deeds;
  const isUntrusted = ({ isTrusted }: { isTrusted: boolean }) => !isTrusted;
  const typed = leaveOutPhrases(keys);
  const keyless = insertions.filter(({ isKeyless }) => isKeyless);
  return {
    userAgent: source.userAgent,
    environments: listSightings(deeds.environments),
    marks: listSightings(deeds.marks),
    hasTouch,
    hasPen: presses.some(({ pointer }) => pointer === 'pen'),
    hasMouse: presses.some(({ pointer, isTrusted }) => pointer === 'mouse' && isTrusted),
    isTapped: false,
    moves: { ...moves },
    times: { ...times },
    keyCount: keys.length,
    untrustedPresses: countShare(presses, isUntrusted),
    untrustedCharacters: countShare(
      keys.filter(({ isCharacter }) => isCharacter),
      isUntrusted,
    ),
    untrustedClicks: countShare(untrustedClicks, () => true),
    ...sortPresses(presses),
    unshiftedCapitals: countShare(
      listCapitals(typed).filter((capital) => !mayBePosted(source, capital)),
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
