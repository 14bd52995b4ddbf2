// How many characters were written when, in little memory: bins that become twice as long when there are too many.

const MAX_BINS = 256;
const FIRST_BIN_MS = 1_000;

export interface Pace {
  binMs: number;
  counts: number[];
}

export const createPace = (): Pace => ({ binMs: FIRST_BIN_MS, counts: [] });

/** Counts characters that were written so long after the beginning. */
export function addToPace(pace: Pace, afterMs: number, characters: number): void {
  while (afterMs >= pace.binMs * MAX_BINS) {
    const { counts } = pace;
    pace.counts = Array.from(
      { length: Math.ceil(counts.length / 2) },
      (_, i) => counts[2 * i]! + (counts[2 * i + 1] ?? 0),
    );
    pace.binMs *= 2;
  }
  const bin = Math.max(0, Math.floor(afterMs / pace.binMs));
  while (pace.counts.length <= bin) pace.counts.push(0);
  pace.counts[bin]! += characters;
}

const PARTS = 10;

/**
 * Measures how uneven the pace is: the standard deviation of the characters in the tenths of the time, divided by their mean. A
 * bin that two tenths share is divided between them. Null if nothing was written.
 */
export function measureUnevenness({ binMs, counts }: Pace, durationMs: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0 || durationMs <= 0) return null;
  const partMs = durationMs / PARTS;
  const parts = Array.from({ length: PARTS }, () => 0);
  for (const [bin, count] of counts.entries()) {
    const [fromMs, toMs] = [bin * binMs, Math.min((bin + 1) * binMs, durationMs)];
    // What was written at the very end.
    if (toMs <= fromMs) parts[PARTS - 1]! += count;
    else
      for (let part = Math.floor(fromMs / partMs); part < PARTS && part * partMs < toMs; part++) {
        const sharedMs = Math.min(toMs, (part + 1) * partMs) - Math.max(fromMs, part * partMs);
        parts[part]! += (count * Math.max(0, sharedMs)) / (toMs - fromMs);
      }
  }
  const mean = total / PARTS;
  const squares = parts.reduce((sum, part) => sum + (part - mean) ** 2, 0);
  return Math.sqrt(squares / (PARTS - 1)) / mean;
}
