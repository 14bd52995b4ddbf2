import { z } from 'zod';
import { alertFired, applyAlertFired } from './alert-fired';
import { anomalyDetected, applyAnomalyDetected } from './anomaly-detected';
import type { BatchDraft, FactResult } from './draft';
import { factId } from './fact-fields';
import { applyReportReady, reportReady } from './report-ready';
import { applySessionClosed, sessionClosed } from './session-closed';
import { applySessionCorrelated, sessionCorrelated } from './session-correlated';
import { applySessionEvents, sessionEvents } from './session-events';
import { applySessionFailed, sessionFailed } from './session-failed';
import { applySessionScored, sessionScored } from './session-scored';
import { applySessionStarted, sessionStarted } from './session-started';
import { applyWritingScored, writingScored } from './writing-scored';

/** The facts that come through the door, by kind. */
export const factSchema = z.discriminatedUnion('kind', [
  sessionStarted,
  sessionEvents,
  sessionClosed,
  sessionScored,
  sessionFailed,
  sessionCorrelated,
  anomalyDetected,
  writingScored,
  reportReady,
  alertFired,
]);
export type Fact = z.output<typeof factSchema>;

export const MAX_FACTS = 500;

export const ingestInput = z.object({
  integrationId: factId(),
  facts: z.array(factSchema).min(1).max(MAX_FACTS),
});
export type IngestInput = z.output<typeof ingestInput>;

export const ingestOutput = z.object({ accepted: z.number(), duplicates: z.number(), suppressed: z.number() });
export type IngestAnswer = z.output<typeof ingestOutput>;

/** Applies one fact to the draft of its batch; throws a FactRefusal. */
export function applyFact(fact: Fact, draft: BatchDraft): FactResult {
  switch (fact.kind) {
    case 'sessionStarted':
      return applySessionStarted(fact, draft);
    case 'sessionEvents':
      return applySessionEvents(fact, draft);
    case 'sessionClosed':
      return applySessionClosed(fact, draft);
    case 'sessionScored':
      return applySessionScored(fact, draft);
    case 'sessionFailed':
      return applySessionFailed(fact, draft);
    case 'sessionCorrelated':
      return applySessionCorrelated(fact, draft);
    case 'anomalyDetected':
      return applyAnomalyDetected(fact, draft);
    case 'writingScored':
      return applyWritingScored(fact, draft);
    case 'reportReady':
      return applyReportReady(fact, draft);
    case 'alertFired':
      return applyAlertFired(fact, draft);
  }
}
