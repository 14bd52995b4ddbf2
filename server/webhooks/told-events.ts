import { and, eq, type SQL, sql } from 'drizzle-orm';
import { anomalies, sessionCorrelations, writingScores } from '../../db/schema';
import type { DomainContext } from '../domain/context';
import { NATURAL_KEYS, type ToldEventType } from './natural-keys';

/** Builds a query for the ids of the events about a session, with one index look-up per event. */
export async function selectSessionEvents(context: DomainContext, sessionId: string): Promise<SQL> {
  const keys = await listEventKeys(context, sessionId);
  return sql`
  select e.id from json_to_recordset(${JSON.stringify(keys)}::text::json) as k(type text, "naturalKey" text)
   cross join lateral (
     select id from domain_events e
      where e.integration_id = ${context.integration.id} and e.type = k.type and e.natural_key = k."naturalKey" limit 1) e`;
}

interface EventKey {
  type: ToldEventType;
  naturalKey: string;
}

/** Lists the natural keys of the events about a session. */
async function listEventKeys({ db, integration }: DomainContext, sessionId: string): Promise<EventKey[]> {
  const [correlations, ofSession, texts] = await Promise.all([
    db.orm
      .select({ correlatedAt: sessionCorrelations.correlatedAt })
      .from(sessionCorrelations)
      .where(and(eq(sessionCorrelations.integrationId, integration.id), eq(sessionCorrelations.sessionId, sessionId))),
    db.orm
      .select({ anomalyId: anomalies.id })
      .from(anomalies)
      .where(and(eq(anomalies.integrationId, integration.id), eq(anomalies.sessionId, sessionId))),
    db.orm
      .select({ sessionId: writingScores.sessionId, scoredAt: writingScores.scoredAt })
      .from(writingScores)
      .where(and(eq(writingScores.integrationId, integration.id), eq(writingScores.browsingSessionId, sessionId))),
  ]);
  const { BotDetected, SessionAnomaly, SessionCorrelated, WritingSessionScored } = NATURAL_KEYS;
  return [
    { type: 'BotDetected', naturalKey: BotDetected({ sessionId }) },
    ...correlations.map(({ correlatedAt }) => ({
      type: 'SessionCorrelated' as const,
      naturalKey: SessionCorrelated({ sessionId, correlatedAt }),
    })),
    ...ofSession.map(({ anomalyId }) => ({
      type: 'SessionAnomaly' as const,
      naturalKey: SessionAnomaly({ anomalyId }),
    })),
    ...texts.map((text) => ({ type: 'WritingSessionScored' as const, naturalKey: WritingSessionScored(text) })),
  ];
}
