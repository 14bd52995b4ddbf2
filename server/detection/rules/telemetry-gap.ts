import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees batches that are missing between others, and events that the pixel dropped. Evidence only: networks lose batches,
 * and full buffers drop moves. Needs a session.
 */
export const telemetryGapRule: Rule = {
  ...{ flag: 'telemetry-gap', group: 'context', expected: '0 batches and events' },
  judge({ telemetry }) {
    if (telemetry === null) return NOT_MEASURED;
    const missing = telemetry.missingBatches + telemetry.droppedEvents;
    return decide(missing > 0, missing, []);
  },
};
