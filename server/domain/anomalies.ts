import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Anomaly, ListAnomaliesInput, ReopenIncidentInput } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import { anomalies } from '../../db/schema';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { acknowledgeIncident, findStatus, isInStatus, reopenIncident, resolveIncident } from './incidents';
import { eitherFirst, readPage } from './pages';

const ORDERS = eitherFirst(anomalies, 'detectedAt');

// Names of tables in full: without them, the columns would be those of the inner table. Each is a look-up by key.
const nameUser = (id: string): SQL<string | null> =>
  sql.raw(`(select u.name from users u where u.integration_id = anomalies.integration_id and u.id = ${id})`) as SQL<
    string | null
  >;
type FoundSession = { startedAtMs: number; country: string | null; device: string };
const findSession = (id: string): SQL<FoundSession | null> =>
  sql.raw(`(
    select json_build_object('startedAtMs', round(extract(epoch from s.created_at) * 1000), 'country', s.country,
                             'device', s.user_agent_summary)
      from sessions s where s.integration_id = anomalies.integration_id and s.id = ${id})`) as SQL<FoundSession | null>;

const SHOWN = {
  ...getTableColumns(anomalies),
  userName: nameUser('anomalies.user_id'),
  previousUserName: nameUser(`anomalies.metadata ->> 'previousUserId'`),
  session: findSession('anomalies.session_id'),
  otherSession: findSession(`anomalies.metadata ->> 'otherSessionId'`),
};

type AnomalyRow = typeof anomalies.$inferSelect & {
  userName: string | null;
  previousUserName: string | null;
  session: FoundSession | null;
  otherSession: FoundSession | null;
};

const showSession = (session: FoundSession | null): Anomaly['session'] =>
  session && { startedAt: new Date(session.startedAtMs).toISOString(), ...session };

const showAnomaly = ({ integrationId: _, type, fingerprint, session, otherSession, ...row }: AnomalyRow): Anomaly => ({
  anomalyType: type,
  deviceFingerprint: fingerprint,
  status: findStatus(row),
  session: showSession(session),
  otherSession: showSession(otherSession),
  ...row,
});

/** Lists anomalies, newest or oldest first, optionally filtered by session, user, type, severity and status. */
export async function listAnomalies(context: DomainContext, input: ListAnomaliesInput): Promise<Page<Anomaly>> {
  const { sessionId, userId, anomalyType, severity, status, sort } = input;
  const walk = { route: 'anomalies', filters: { sessionId, userId, anomalyType, severity, status, sort } };
  const order = ORDERS[sort];
  return readPage(context, walk, input, {
    // Each list is read along an index that begins with the integration.
    read: (after, limit): Promise<AnomalyRow[]> =>
      context.db.orm
        .select(SHOWN)
        .from(anomalies)
        .where(
          and(
            eq(anomalies.integrationId, context.integration.id),
            sessionId === undefined ? undefined : eq(anomalies.sessionId, sessionId),
            userId === undefined ? undefined : eq(anomalies.userId, userId),
            anomalyType === undefined ? undefined : eq(anomalies.type, anomalyType),
            severity === undefined ? undefined : eq(anomalies.severity, severity),
            status === undefined ? undefined : isInStatus(status),
            order.isAfter(after),
          ),
        )
        .orderBy(...order.orderBy)
        .limit(limit),
    locate: order.locate,
    show: showAnomaly,
  });
}

type One = { id: string };

/** Returns an anomaly. NOT_FOUND for an unknown one. */
export async function getAnomaly(context: DomainContext, { id }: One): Promise<Anomaly> {
  const [row] = await context.db.orm
    .select(SHOWN)
    .from(anomalies)
    .where(and(eq(anomalies.integrationId, context.integration.id), eq(anomalies.id, id)));
  if (!row) throw new ApiError('NOT_FOUND', 'Anomaly not found');
  return showAnomaly(row);
}

const changeBy =
  (change: typeof reopenIncident) =>
  async (context: DomainContext & AuditedContext, input: ReopenIncidentInput): Promise<Anomaly> => {
    await change(anomalies, context, input);
    return getAnomaly(context, input);
  };

/** These change the status of an anomaly (incidents.ts). NOT_FOUND as getAnomaly. */
export const acknowledgeAnomaly = changeBy(acknowledgeIncident);
export const resolveAnomaly = changeBy(resolveIncident);
export const reopenAnomaly = changeBy(reopenIncident);
