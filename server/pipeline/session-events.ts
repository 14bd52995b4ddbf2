import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { EVENT_TYPES } from '../../contract/session-events';
import { type BatchDraft, type EventRow, FactRefusal, type FactResult } from './draft';
import { count, factId, factTime, jsonObject, pageUrl } from './fact-fields';

const MAX_EVENT_COUNT = 100_000;
const MAX_INT32 = 2_147_483_647;

const eventSchema = z.object({
  sequence: count(),
  type: z.enum(EVENT_TYPES),
  timestamp: factTime(),
  url: pageUrl().nullish(),
  durationMs: count().nullish(),
  eventCount: count(MAX_EVENT_COUNT).nullish(),
  metadata: jsonObject().nullish(),
});

export const sessionEvents = z.object({
  kind: z.literal('sessionEvents'),
  sessionId: factId(),
  events: z.array(eventSchema).min(1, 'must not be empty'),
});

/** Events of a session, each known by its sequence; the fact is a duplicate when all of them are. */
export function applySessionEvents(fact: z.output<typeof sessionEvents>, draft: BatchDraft): FactResult {
  const session = draft.requireSession(fact.sessionId);
  let hasNew = false;
  for (const event of fact.events) {
    const row: EventRow = {
      integrationId: draft.integrationId,
      sessionId: fact.sessionId,
      sequence: event.sequence,
      type: event.type,
      timestamp: event.timestamp,
      url: event.url ?? null,
      durationMs: event.durationMs ?? null,
      eventCount: event.eventCount ?? 1,
      metadata: event.metadata ?? null,
    };
    const existing = session.events.get(event.sequence);
    if (existing) {
      draft.repeat(fact.kind, fact.sessionId, isDeepStrictEqual(existing, row));
      continue;
    }
    draft.assertNotAhead('events.timestamp', event.timestamp);
    if (session.row.eventCount + row.eventCount > MAX_INT32)
      throw new FactRefusal('events: more than the session can count');
    session.row.eventCount += row.eventCount;
    session.events.set(event.sequence, row);
    draft.newEvents.push(row);
    hasNew = true;
  }
  if (!hasNew) return 'duplicate';
  draft.touch(session);
  return 'accepted';
}
