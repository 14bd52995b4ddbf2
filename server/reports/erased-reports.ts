import type { Database, Query } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import type { MentionFinder } from '../domain/mentions';
import { purgeReport } from './requests';
import { LostPartError, type ReportKey, type ReportStore, type ReportStores, type StoreName } from './stores/store';

/** A user whose reports are to go. */
export interface ReportedUser {
  integrationId: string;
  userId: string;
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
  /** Whether the user had a session in the time that it covers. Of sessions that are gone, only the first and last time are known. */
  isOfTime: boolean;
  /** Whether it lists all who ever had a session in a course, and the user is one of them. */
  isOfCourse: boolean;
}

const SLICE_ROWS = 20;
/** Files may be large. Where the work got to is recorded before a run is cut off, or no run would come to the end. */
const SLICE_MS = 1_000;
/** A mention may begin in one piece of a file and end in the next. */
const OVERLAP = 4_096;

/**
 * Removes those of the next reports that name the user, with their files. A report that is being made begins again. Returns where to go
 * on, or null at the end. `count` is called for each report, in the transaction from which on nobody can read it.
 */
export async function eraseReports(
  { db, stores }: { db: Database; stores: ReportStores },
  user: ReportedUser,
  after: string,
  count: (query: Query) => Promise<void>,
): Promise<string | null> {
  const { integrationId, userId, pseudonym } = user;
  const untilMs = performance.now() + SLICE_MS;
  const isFirst = after === '';
  const restarted = isFirst ? await db.query<{ id: string; store: StoreName }>(RESTART, [integrationId]) : [];
  for (const { id: reportId, store } of restarted) {
    await stores[store]?.remove({ integrationId, reportId });
    await db.query(RELEASE, [integrationId, reportId]);
  }
  const rows = await db.query<ReportRow>(LIST, [integrationId, after, pseudonym, userId]);
  for (const [index, row] of rows.entries()) {
    if (index > 0 && performance.now() > untilMs) return rows[index - 1]!.id;
    // Its file is still to be removed, perhaps because a process died before it did.
    const isHidden = row.state === 'Deleted';
    if (!isHidden && !(await namesUser(stores, row, user))) continue;
    await db.transact(async (query) => {
      const [hidden] = isHidden ? [] : await query(HIDE, [integrationId, row.id]);
      await query(EMPTY, [integrationId, row.id]);
      await query(REMOVE_FACT, [integrationId, row.id]);
      if (hidden) await count(query);
    });
    await purgeReport({ db }, stores, { integrationId, reportId: row.id }, row.store);
  }
  return rows.length === SLICE_ROWS ? rows.at(-1)!.id : null;
}

async function namesUser(stores: ReportStores, row: ReportRow, user: ReportedUser): Promise<boolean> {
  const { finder, integrationId } = user;
  if (finder.isIn([row.name, row.parameters])) return true;
  if (row.state !== 'Ready') return false;
  if (row.isOfCourse) return true;
  // In a file, nothing may tell that a weak id is a user's. What they are called is looked for nevertheless.
  if (row.isOfTime && finder.isWeak) return true;
  const store = row.store && stores[row.store];
  // What cannot be read goes if it may name them.
  if (row.format === 'pdf' || !store) return row.isOfTime;
  try {
    return await isInFile(store, { integrationId, reportId: row.id }, row.parts ?? [], finder);
  } catch (error) {
    // A lifecycle rule of the bucket may have removed it. While the store is away, the erasure waits.
    if (error instanceof LostPartError) return row.isOfTime;
    throw error;
  }
}

const ESCAPED_SIGN = /\\([\\"])/g;

async function isInFile(store: ReportStore, report: ReportKey, parts: ReportPart[], finder: MentionFinder) {
  let text = '';
  const decoder = new TextDecoder();
  for (const part of parts) {
    for await (const piece of store.read(report, part)) {
      text += decoder.decode(piece, { stream: true });
      // A text in a file of JSON may itself hold JSON, and then has the escapes of both.
      if ([text, text.replace(ESCAPED_SIGN, '$1')].some((found) => finder.replace(found) !== found)) return true;
      text = text.slice(-OVERLAP);
    }
  }
  return false;
}

/**
 * A report that is being made has read rows from before. Its run notices that it no longer has it. One that waits for another run, or
 * has failed, may have parts still. No other run begins until they are removed, because its own would go with them. Only at the
 * beginning: what is made later reads rows without the user.
 */
const RESTART = `
  update report_jobs
     set state = case state when 'Failed' then state else 'Queued' end, run_id = null, record_count = 0,
         woken_at = now() + interval '10 minutes'
   where integration_id = $1 and state in ('Queued', 'Running', 'Failed') and store is not null
  returning id, store`;
/** Lets the next look for lost reports find them. */
const RELEASE = `
  update report_jobs set woken_at = now() - interval '1 hour'
   where integration_id = $1 and id = $2 and state = 'Queued'`;

/**
 * All counts have the pseudonym since an earlier step; only retention may have written the id later, of a session that still had it.
 * A pair of course and user stays when its sessions are gone.
 */
const LIST = `
  select j.id, j.name, j.format, j.parameters, j.state, j.store, j.parts,
         exists (
           select from sessions s where s.integration_id = $1 and s.user_id = $3 and s.created_at >= j.start_at
              and s.created_at < j.end_at)
         or exists (
           select from pruned_ends p where p.integration_id = $1 and p.kind = 'user' and p.value in ($3, $4)
              and p.last_seen_at >= j.start_at and p.first_seen_at < j.end_at) as "isOfTime",
         j.template = 'course-integrity' and exists (
           select from entity_pairs p where p.integration_id = $1 and p.kind = 'course'
              and p.value = j.parameters ->> 'courseId' and p.other = $3) as "isOfCourse"
    from report_jobs j where j.integration_id = $1 and j.id > $2 order by j.id limit ${SLICE_ROWS}`;

/** Returns nothing if another run of the same erasure has hidden it, and counted it. */
const HIDE = `
  update report_jobs set state = 'Deleted', expires_at = now()
   where integration_id = $1 and id = $2 and state <> 'Deleted' returning 1`;
/** Its row stays for as long as its store is not configured. Nothing reads this of a hidden report. */
const EMPTY = `
  update report_jobs set name = '', parameters = '{}' where integration_id = $1 and id = $2 and state = 'Deleted'`;
const REMOVE_FACT = 'delete from reports where integration_id = $1 and id = $2';
