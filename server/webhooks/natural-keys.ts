import type { EventPayload, EventTypeName } from '../../contract/events';

/**
 * The natural key of an event: fields of its payload that distinguish it from others of its type, so that nothing is reported
 * twice. Keys are made only here, both to write an event and to look it up.
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

/** The types of events that pipeline facts cause. */
export type ToldEventType = keyof typeof NATURAL_KEYS;

/** Makes the natural key of an event. */
export function makeNaturalKey<Type extends ToldEventType>(type: Type, payload: EventPayload<Type>): string {
  const makeKey = NATURAL_KEYS[type] as (payload: EventPayload<Type>) => string;
  return makeKey(payload);
}

/** Joins time and id. A time always has the same length, so two different pairs never give the same key. */
function timedKey(sessionId: string, time: string): string {
  return `${time} ${sessionId}`;
}
