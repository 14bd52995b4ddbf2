import { and, eq, isNull, type SQL } from 'drizzle-orm';
import type { AuditEntry, KeyAuditEntry, ListAuditEntriesInput, ListKeyAuditEntriesInput } from '../../contract/audit';
import { ApiError } from '../../contract/errors';
import type { Page } from '../../contract/pagination';
import type { Database, Query } from '../../db/client';
import { auditEntries, integrations } from '../../db/schema';
import type { DomainContext } from './context';
import type { Walk } from './cursors';
import { newestFirst, type PageInput, readPage } from './pages';

const NEWEST_FIRST = newestFirst(auditEntries, 'occurredAt');

type Row = typeof auditEntries.$inferSelect;

function showEntry(row: Row): AuditEntry {
  const { id, occurredAt, action, actorKind, actorId, actorName, clientAddress, integrationId, subjectId } = row;
  const actor = { kind: actorKind, id: actorId, name: actorName, clientAddress };
  return { id, at: occurredAt, action, actor, integrationId, subjectId, details: row.details };
}

/** What an entry tells of who confirmed a device. That may be a person of the staff. */
export const STAFF_DETAIL = 'confirmedBy';

/** Leaves out which member of staff it was: customers do not know our people. */
function showToKey({ id, occurredAt, action, actorKind, actorId, actorName, subjectId, details }: Row): KeyAuditEntry {
  const isKey = actorKind === 'ApiKey';
  const actor = { kind: actorKind, id: isKey ? actorId : null, name: isKey ? actorName : null };
  const { [STAFF_DETAIL]: _, ...shown } = details;
  return { id, at: occurredAt, action, actor, subjectId, details: shown };
}

/** Lists the changes to the integration, or to accounts, newest first. */
export function listAuditEntries(
  context: DomainContext,
  { scope, ...position }: ListAuditEntriesInput,
): Promise<Page<AuditEntry>> {
  const isInScope = scope === 'Staff' ? isNull(auditEntries.integrationId) : isOf(context);
  return readEntries(context, { route: 'audit', filters: { scope } }, position, isInScope, showEntry);
}

/** Lists the changes to the integration as a key may see them, newest first. */
export const listKeyAuditEntries = (
  context: DomainContext,
  position: ListKeyAuditEntriesInput,
): Promise<Page<KeyAuditEntry>> =>
  readEntries(context, { route: 'audit-log', filters: {} }, position, isOf(context), showToKey);

const isOf = ({ integration }: DomainContext) => eq(auditEntries.integrationId, integration.id);

const readEntries = <Entry>(
  context: DomainContext,
  walk: Walk,
  position: PageInput,
  isInScope: SQL,
  show: (row: Row) => Entry,
) =>
  readPage(context, walk, position, {
    read: (after, limit) =>
      context.db.orm
        .select()
        .from(auditEntries)
        .where(and(isInScope, NEWEST_FIRST.isAfter(after)))
        .orderBy(...NEWEST_FIRST.orderBy)
        .limit(limit),
    locate: NEWEST_FIRST.locate,
    show,
  });

/**
 * Lists the latest `limit` entries for the operator, of everything or of one integration. NOT_FOUND for an unknown
 * integration.
 */
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
    .orderBy(...NEWEST_FIRST.orderBy)
    .limit(limit);
  return rows.map(showEntry);
}

/** How many changes of each action that customers made with API keys are kept for each integration. */
export const MAX_KEY_ENTRIES = 10_000;

/**
 * Removes the oldest changes that customers made with API keys, beyond the newest ones of each integration and action, so that
 * many labels push out no change of thresholds. What staff and operators did stays forever. It has no time limit: a busy
 * hour has more labels than a statement can remove in time, and the rest would grow each hour. Returns how many were
 * removed.
 */
export async function pruneAuditEntries(db: Database): Promise<number> {
  let pruned = 0;
  const find = (query: Query) => query<{ id: string }>(FIND_FULL, [MAX_KEY_ENTRIES]);
  for (const { id } of await db.transact(find, { isLong: true })) {
    const prune = (query: Query) => query<{ removed: number }>(PRUNE, [id, MAX_KEY_ENTRIES]);
    const [row] = await db.transact(prune, { isLong: true });
    pruned += row!.removed;
  }
  return pruned;
}

/** All others, perhaps thousands, have nothing to remove. */
const FIND_FULL = `
  select integration_id as id from audit_entries where actor_kind = 'ApiKey'
   group by integration_id having count(*) > $1::int order by integration_id`;

const PRUNE = `
  with removed as (
    delete from audit_entries e using (
      select id, row_number() over (partition by action order by occurred_at desc, id desc) as place
        from audit_entries where integration_id = $1 and actor_kind = 'ApiKey') old
     where e.integration_id = $1 and e.id = old.id and old.place > $2::int returning 1)
  select count(*)::int as removed from removed`;
