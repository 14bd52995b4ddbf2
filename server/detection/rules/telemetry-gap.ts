import { decide, NOT_MEASURED, type Rule } from './rule';

export const telemetryGapRule: Rule = {
  ...{ flag: 'telemetry-gap', group: 'context', expected: '0 batches and events' },
  sees: 'Batches that are missing, and events that a full buffer dropped.',
  needs: 'a session',
  plainly: 'Parts of the session did not arrive. Networks do that; it never counts.',
  exempts: {},
  touches: {
    'slow-machine': 'a full buffer drops events; it never counts',
  },
  reference: null,
  judge({ telemetry }) {
    if (telemetry === null) return NOT_MEASURED;
    const missing = telemetry.missingBatches + telemetry.droppedEvents;
    return decide(missing > 0, missing, []);
  },
};
