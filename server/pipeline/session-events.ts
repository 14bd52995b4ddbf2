import { z } from 'zod';
import { MAX_INT32 } from '../../contract/fields';
import { SESSION_EVENT_TYPES } from '../../contract/session-events';
import { sessionEvents } from '../../db/schema';
import { hasReliableUser, isInput } from '../domain/correlation';
import { FactRefusal } from './draft';
import { count, cutPageUrl, factId, factTime, jsonObject, webUrl } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

const MAX_EVENT_COUNT = 100_000;

const eventSchema = z.object({
  sequence: count(),
  type: z.enum(SESSION_EVENT_TYPES),
  timestamp: factTime(),
  url: webUrl().nullish(),
  durationMs: count().nullish(),
  eventCount: count(MAX_EVENT_COUNT).nullish(),
  metadata: jsonObject().nullish(),
});

const EVENTS = defineRecords({ table: sessionEvents, key: ['sessionId', 'sequence'], isOfSession: true });

/** Events of a session, identified by their sequence numbers. The fact is a duplicate if all its events are. */
export const sessionEventsFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionEvents'),
    sessionId: factId(),
    events: z.array(eventSchema).min(1, 'must not be empty'),
  }),
  records: EVENTS,
  nameKeys(fact, keys) {
    const { integrationId } = keys;
    const { sessionId, events } = fact;
    keys.nameSession(sessionId);
    for (const { sequence } of events) keys.nameRecord(EVENTS, { integrationId, sessionId, sequence });
  },
  apply(fact, draft) {
    const session = draft.requireSession(fact.sessionId);
    let hasNew = false;
    let hasInput = false;
    for (const event of fact.events) {
      const row: RecordRow<typeof EVENTS> = {
        integrationId: draft.integrationId,
        sessionId: fact.sessionId,
        sequence: event.sequence,
        type: event.type,
        timestamp: event.timestamp,
        url: event.url == null ? null : cutPageUrl(event.url),
        durationMs: event.durationMs ?? null,
        eventCount: event.eventCount ?? 1,
        metadata: event.metadata ?? null,
      };
      const existing = draft.findRecord(EVENTS, row);
      if (existing) {
        draft.repeat(fact.kind, fact.sessionId, isSameRecord(existing, row));
        continue;
      }
      draft.assertNotAhead('events.timestamp', event.timestamp);
      if (session.row.eventCount + row.eventCount > MAX_INT32)
        throw new FactRefusal('events: more than the session can count');
      session.row.eventCount += row.eventCount;
      draft.addRecord(EVENTS, row);
      hasNew = true;
      hasInput ||= isInput(row);
    }
    if (!hasNew) return 'duplicate';
    if (hasInput && session.row.fingerprint !== null && hasReliableUser(session.row))
      draft.concern(fact.sessionId, 'happened');
    draft.touch(session);
    return 'accepted';
  },
});
