import type { Trace, TraceBatch } from '../../server/detection/trace';
import { type Recording, readTrace } from '../lab/recordings';

const START_MS = 1_800_000_000_000;
const PAUSE_MS = 5_000;
const PLACE_DIGITS = 4;

/** Makes one session of several recordings, one after the other, each on pages of its own. */
export function chainRecordings(recordings: readonly Recording[]): Trace {
  let startMs = START_MS;
  const batches: TraceBatch[] = [];
  for (const [place, recording] of recordings.entries()) {
    const trace = readTrace(recording);
    const arrivals = trace.batches.map(({ receivedAtMs }) => receivedAtMs);
    const laterMs = startMs - Math.min(...arrivals);
    for (const batch of trace.batches)
      batches.push({
        ...batch,
        // The same recording may be in a session twice.
        d: batch.d.slice(0, -PLACE_DIGITS) + place.toString(16).padStart(PLACE_DIGITS, '0'),
        receivedAtMs: batch.receivedAtMs + laterMs,
        c: [batch.c[0], batch.c[1] + laterMs],
      });
    startMs += Math.max(...arrivals) - Math.min(...arrivals) + PAUSE_MS;
  }
  return { userAgent: recordings[0]!.userAgent, batches };
}
