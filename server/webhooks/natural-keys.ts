import type { EventPayload, EventTypeName } from '../../contract/events';

/**
 * What tells an event from the others of its type, by fields of its payload: the same thing is told once. Keys are made
 * here alone, both to write an event and to look it up.
 */
export const NATURAL_KEYS = {
  BotDetected: ({ sessionId }: { sessionId: string }) => sessionId,
  SessionAnomaly: ({ anomalyId }: { anomalyId: string }) => anomalyId,
  SessionCorrelated: ({ sessionId, correlatedAt }: { sessionId: string; correlatedAt: string }) =>
    timedKey(sessionId, correlatedAt),
  WritingSessionScored: ({ sessionId, scoredAt }: { sessionId: string; scoredAt: string }) =>
    timedKey(sessionId, scoredAt),
  ReportReady: ({ reportId }: { reportId: string }) => reportId,
  AlertTriggered: ({ alertId }: { alertId: string }) => alertId,
} satisfies { [Type in EventTypeName]?: (payload: EventPayload<Type>) => string };

/** The types of events that the pipeline tells of. */
export type ToldEventType = keyof typeof NATURAL_KEYS;

/** Makes the natural key of an event. */
export function makeNaturalKey<Type extends ToldEventType>(type: Type, payload: EventPayload<Type>): string {
  const makeKey = NATURAL_KEYS[type] as (payload: EventPayload<Type>) => string;
  return makeKey(payload);
}

/** A time always has the same length, so time and id never run into each other. */
function timedKey(sessionId: string, time: string): string {
  return `${time} ${sessionId}`;
}
