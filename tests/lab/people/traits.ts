import { type Chance, createChance } from './chance';

// What makes one person different from another. This is a model of people, not a recording of any. Its numbers come from
// studies of people, never from what the rules of the detector ask for.

export interface Traits {
  /** What the pointing hand achieves (Fitts' law; Soukoreff and MacKenzie 2004: 3.7 to 4.9 for a mouse). */
  bitsPerSecond: number;
  /** Share of the way by which the first movement misses (Meyer et al. 1988). */
  aimError: number;
  /** How far the path bends to the side, as a share of the way. Its sign depends on the hand. */
  bow: number;
  /** Physiological tremor, 8 to 12 Hz (Elble and Koller 1990). */
  tremorPx: number;
  tremorHz: number;
  /** How far one stroke goes before the finger must be set down again. A mouse has none. */
  strokePx: number | null;
  /** Time between two reports of the device: 8 ms for a common mouse. */
  reportMs: number;
  /** Software that clicks when the pointer rests does so after exactly this time. Null: a hand presses a button. */
  dwellMs: number | null;
  /** Median time for which a button is held. */
  pressMs: number;
  /** Time to find the next thing to act on. */
  searchMs: number;
  /** Mean time between two keys, and for which a key is held (Dhakal et al. 2018: 239 ± 112 and 116 ± 24). */
  intervalMs: number;
  keyMs: number;
  /** Deviation of the logarithm of single intervals. */
  rhythmSpread: number;
  /** Share of keys that miss (Dhakal et al. 2018: 6.3 % of the characters are corrected). */
  typoRate: number;
  /** Time between two notches of the wheel. */
  wheelMs: number;
}

/** Draws a person. The same seed is the same person. */
export function drawTraits(seed: number, given: Partial<Traits> = {}): Traits {
  const chance = createChance(seed * 7_919 + 17);
  const isLeftHanded = chance.happens(0.1);
  return {
    bitsPerSecond: clamp(chance.normal(4.3, 0.5), 3, 6),
    aimError: chance.between(0.03, 0.08),
    bow: Math.abs(chance.normal(0.04, 0.03)) * (isLeftHanded ? -1 : 1),
    tremorPx: chance.between(0.2, 0.6),
    tremorHz: chance.between(8, 12),
    strokePx: null,
    reportMs: 8,
    dwellMs: null,
    pressMs: chance.logNormal(90, 0.2),
    searchMs: chance.logNormal(450, 0.3),
    ...drawTypist(chance),
    wheelMs: chance.between(45, 110),
    ...given,
  };
}

/** Mean and deviation of the people's intervals are those of the study; few are slower than 500 ms. */
function drawTypist(chance: Chance): Pick<Traits, 'intervalMs' | 'keyMs' | 'rhythmSpread' | 'typoRate'> {
  return {
    intervalMs: clamp(chance.logNormal(216, 0.44), 100, 500),
    keyMs: clamp(chance.normal(116, 24), 60, 190),
    rhythmSpread: chance.between(0.3, 0.5),
    typoRate: clamp(chance.logNormal(0.025, 0.6), 0.005, 0.08),
  };
}

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));
