import { and, asc, count, eq } from 'drizzle-orm';
import { RANGE_NAMES } from '../../contract/date-ranges';
import { ApiError } from '../../contract/errors';
import { readListQuery } from '../../contract/list-queries';
import { type CreateViewInput, MAX_VIEWS, type SavedView, type ViewPage } from '../../contract/saved-views';
import { integrations, savedViews } from '../../db/schema';
import { type AuditedContext, nameActor } from '../audit/acts';
import { createId } from '../platform/ids';
import type { DomainContext } from './context';
import { assertNotErased, type RefusalContext } from './user-erasures';

type Context = DomainContext & AuditedContext;

function showView({ integrationId: _, page, ...view }: typeof savedViews.$inferSelect): SavedView {
  return { ...view, page: page as ViewPage };
}

/** Lists the views of the integration by page and name. There are at most 100. */
export async function listViews({ db, integration }: DomainContext): Promise<SavedView[]> {
  const rows = await db.orm
    .select()
    .from(savedViews)
    .where(eq(savedViews.integrationId, integration.id))
    .orderBy(asc(savedViews.page), asc(savedViews.name));
  return rows.map(showView);
}

/**
 * Saves a page with its filters under a name. INVALID_BODY that names `query` if the page's list does not take it, so a view
 * leads only to a list, or `name` if the page has a view of that name. PLAN_LIMIT_REACHED at 100 views,
 * UNSUPPORTED_OPERATION if it is of a user who was erased.
 */
export async function createView(
  context: Context & RefusalContext,
  { page, name, query }: CreateViewInput,
): Promise<SavedView> {
  const { actor, db, integration, secrets } = context;
  const read = readListQuery(page, page === 'sessions' ? leaveOutRange(query) : query);
  if ('fault' in read) throw new ApiError('INVALID_BODY', `query: ${read.field} ${read.fault}`, { field: 'query' });
  return db.orm.transaction(async (tx) => {
    const userId = new URLSearchParams(query).get('userId');
    if (userId !== null) await assertNotErased(tx, secrets.erasureKey, { integrationId: integration.id, userId });
    // Others who save a view wait, so that two of them cannot share the last place.
    await tx
      .select({ id: integrations.id })
      .from(integrations)
      .where(eq(integrations.id, integration.id))
      .for('no key update');
    const isOurs = eq(savedViews.integrationId, integration.id);
    const [counted] = await tx.select({ views: count() }).from(savedViews).where(isOurs);
    if (counted!.views >= MAX_VIEWS)
      throw new ApiError(
        'PLAN_LIMIT_REACHED',
        `An integration holds at most ${MAX_VIEWS} saved views. Delete one first`,
      );
    const createdBy = nameActor(actor);
    const [created] = await tx
      .insert(savedViews)
      .values({
        integrationId: integration.id,
        id: createId('vie'),
        page,
        name,
        query: String(new URLSearchParams(query)),
        createdBy,
      })
      .onConflictDoNothing()
      .returning();
    if (!created) throw new ApiError('INVALID_BODY', 'name: this page has a view of that name', { field: 'name' });
    return showView(created);
  });
}

/** A range of days that moves with time is known to the page alone, which turns it into bounds. */
function leaveOutRange(query: string): string {
  const params = new URLSearchParams(query);
  for (const range of RANGE_NAMES) params.delete('range', range);
  return params.toString();
}

/** Deletes a view. NOT_FOUND for an unknown one. */
export async function deleteView({ db, integration }: DomainContext, { id }: { id: string }): Promise<{ id: string }> {
  const [deleted] = await db.orm
    .delete(savedViews)
    .where(and(eq(savedViews.integrationId, integration.id), eq(savedViews.id, id)))
    .returning({ id: savedViews.id });
  if (!deleted) throw new ApiError('NOT_FOUND', 'Saved view not found');
  return deleted;
}
