import type { Database } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import type { MentionFinder } from '../domain/mentions';
import { purgeReport } from './requests';
import type { ReportStores, StoreName } from './stores/store';

/** A user whose reports are to go. */
export interface ReportedUser {
  integrationId: string;
  /** The id that their sessions have now. */
  pseudonym: string;
  finder: MentionFinder;
}

interface ReportRow {
  id: string;
  name: string;
  format: 'csv' | 'json' | 'pdf';
  parameters: Record<string, unknown>;
  state: string;
  store: StoreName | null;
  parts: ReportPart[] | null;
  /** Whether the user had a session in the time that it covers. */
  isOfTime: boolean;
}

const SLICE_ROWS = 20;
/** A mention may begin in one piece of a file and end in the next. */
const OVERLAP = 4_096;

/**
 * Removes those of the next reports that name the user, with their files. A report that is being made begins again. Answers where to go
 * on (null at the end) and how many were removed.
 */
export async function eraseReports(
  { db, stores }: { db: Database; stores: ReportStores },
  user: ReportedUser,
  after: string,
): Promise<{ next: string | null; removed: number }> {
  const { integrationId, pseudonym } = user;
  const restarted = await db.query<{ id: string; store: StoreName }>(RESTART, [integrationId, after]);
  for (const { id: reportId, store } of restarted) await stores[store]?.remove({ integrationId, reportId });
  const rows = await db.query<ReportRow>(LIST, [integrationId, after, pseudonym]);
  let removed = 0;
  for (const row of rows) {
    if (!(await namesUser(stores, row, user))) continue;
    const report = { integrationId, reportId: row.id };
    await db.query(HIDE, [integrationId, row.id]);
    await db.query(REMOVE_FACT, [integrationId, row.id]);
    await purgeReport({ db }, stores, report, row.store);
    removed++;
  }
  return { next: rows.length === SLICE_ROWS ? rows.at(-1)!.id : null, removed };
}

async function namesUser(stores: ReportStores, row: ReportRow, user: ReportedUser): Promise<boolean> {
  const { finder, integrationId } = user;
  const described = JSON.stringify([row.name, row.parameters]);
  if (JSON.stringify(finder.replaceAll([row.name, row.parameters])) !== described) return true;
  if (row.state !== 'Ready') return false;
  const store = row.store && stores[row.store];
  // What cannot be read, or not understood, goes if it may name them.
  if (row.format === 'pdf' || finder.isWeak || !store) return row.isOfTime;
  let text = '';
  const decoder = new TextDecoder();
  for (const part of row.parts ?? []) {
    for await (const piece of store.read({ integrationId, reportId: row.id }, part)) {
      text += decoder.decode(piece, { stream: true });
      if (finder.replace(text) !== text) return true;
      text = text.slice(-OVERLAP);
    }
  }
  return false;
}

/** A report that is being made has read rows from before. Its run notices that it no longer has it. */
const RESTART = `
  update report_jobs set state = 'Queued', run_id = null, record_count = 0, woken_at = now() - interval '1 hour'
   where integration_id = $1 and id > $2 and state = 'Running'
  returning id, store`;

const LIST = `
  select j.id, j.name, j.format, j.parameters, j.state, j.store, j.parts, exists (
           select from sessions s where s.integration_id = $1 and s.user_id = $3 and s.created_at >= j.start_at
              and s.created_at < j.end_at) as "isOfTime"
    from report_jobs j where j.integration_id = $1 and j.id > $2 order by j.id limit ${SLICE_ROWS}`;

const HIDE = `update report_jobs set state = 'Deleted', expires_at = now() where integration_id = $1 and id = $2`;
const REMOVE_FACT = 'delete from reports where integration_id = $1 and id = $2';
