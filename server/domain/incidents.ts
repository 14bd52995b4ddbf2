import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { IncidentStatus, ReopenIncidentInput } from '../../contract/findings';
import type { alerts, anomalies } from '../../db/schema';
import { INCIDENT_STATUS } from '../../db/schema/columns';
import { type AuditedContext, nameActor } from '../audit/acts';
import type { DomainContext } from './context';

// What staff do with an alert or an anomaly.

type IncidentTable = typeof alerts | typeof anomalies;
type Acting = DomainContext & AuditedContext;

/** The condition that an incident has a status, in the words of its index. */
export const isInStatus = (status: IncidentStatus): SQL => eq(sql.raw(INCIDENT_STATUS), status);

/** Finds the status of an incident. */
export function findStatus(row: { acknowledgedAt: string | null; resolvedAt: string | null }): IncidentStatus {
  if (row.resolvedAt !== null) return 'Resolved';
  return row.acknowledgedAt === null ? 'Open' : 'Acknowledged';
}

const isOne = (table: IncidentTable, context: DomainContext, id: string) =>
  and(eq(table.integrationId, context.integration.id), eq(table.id, id));

/** Says that somebody looks after an incident. The first one who does is kept. */
export async function acknowledgeIncident(table: IncidentTable, context: Acting, { id }: { id: string }) {
  await context.db.orm
    .update(table)
    .set({ acknowledgedAt: sql`now()`, acknowledgedBy: nameActor(context.actor) })
    .where(and(isOne(table, context, id), isInStatus('Open')));
}

/** Says that an incident is dealt with. The first one who does is kept. */
export async function resolveIncident(table: IncidentTable, context: Acting, { id }: { id: string }) {
  await context.db.orm
    .update(table)
    .set({ resolvedAt: sql`now()`, resolvedBy: nameActor(context.actor) })
    .where(and(isOne(table, context, id), isNull(table.resolvedAt)));
}

/** Opens an incident again, as if nobody had looked at it. What a colleague did unseen stays. */
export async function reopenIncident(table: IncidentTable, context: Acting, { id, seenStatus }: ReopenIncidentInput) {
  const untouched = { acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null };
  await context.db.orm
    .update(table)
    .set(untouched)
    .where(and(isOne(table, context, id), seenStatus && isInStatus(seenStatus)));
}
