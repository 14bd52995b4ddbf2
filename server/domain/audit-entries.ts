import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { AuditEntry, ListAuditEntriesInput } from '../../contract/audit';
import { ApiError } from '../../contract/errors';
import { clampPageSize, type Page } from '../../contract/pagination';
import type { Database } from '../../db/client';
import { auditEntries, integrations } from '../../db/schema';
import type { DomainContext } from './context';
import { decodeCursor, makePage } from './cursors';

const NEWEST_FIRST = [desc(auditEntries.occurredAt), desc(auditEntries.id)];

function showEntry(row: typeof auditEntries.$inferSelect): AuditEntry {
  const { id, occurredAt, action, actorKind, actorId, actorName, clientAddress, integrationId, subjectId } = row;
  const actor = { kind: actorKind, id: actorId, name: actorName, clientAddress };
  return { id, at: occurredAt, action, actor, integrationId, subjectId, details: row.details };
}

/** Lists what was done to the integration, or to accounts, newest first. */
export async function listAuditEntries(
  context: DomainContext,
  { scope, cursor, pageSize }: ListAuditEntriesInput,
): Promise<Page<AuditEntry>> {
  const walk = { route: 'audit', filters: { scope } };
  const limit = clampPageSize(pageSize, context.integration.tier);
  const { integrationId, occurredAt, id } = auditEntries;
  const [lastAt, lastId] = cursor === undefined ? [] : decodeCursor(context, walk, cursor);
  const rows = await context.db.orm
    .select()
    .from(auditEntries)
    .where(
      and(
        scope === 'Staff' ? isNull(integrationId) : eq(integrationId, context.integration.id),
        cursor === undefined ? undefined : sql`(${occurredAt}, ${id}) < (${lastAt}::timestamptz, ${lastId})`,
      ),
    )
    .orderBy(...NEWEST_FIRST)
    .limit(limit + 1);
  return makePage(context, walk, rows, limit, showEntry, (row) => [row.occurredAt, row.id]);
}

/** The latest `limit` entries for the operator: all of them, or those of an integration. NOT_FOUND for an unknown one. */
export async function listLatestAuditEntries(
  db: Database,
  input: { integrationId?: string; limit: number },
): Promise<AuditEntry[]> {
  const { integrationId, limit } = input;
  if (integrationId !== undefined) {
    const [known] = await db.orm
      .select({ id: integrations.id })
      .from(integrations)
      .where(eq(integrations.id, integrationId));
    if (!known) throw new ApiError('NOT_FOUND', 'Integration not found');
  }
  const rows = await db.orm
    .select()
    .from(auditEntries)
    .where(integrationId === undefined ? undefined : eq(auditEntries.integrationId, integrationId))
    .orderBy(...NEWEST_FIRST)
    .limit(limit);
  return rows.map(showEntry);
}
