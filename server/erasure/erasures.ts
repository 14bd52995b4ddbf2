import type { UserErasure } from '../../contract/user-erasures';
import { RECEIPT_DAYS } from '../../contract/user-erasures';
import type { Database, Query } from '../../db/client';
import type { KnownUser } from '../../db/schema';
import { eraseCollected, findOpenSessionsOf } from '../collector/erased-sessions';
import { COMMIT_DELAY_MS } from '../collector/intake';
import { createMentionFinder } from '../domain/mentions';
import { LOCK_FOLD } from '../domain/rollups';
import { type ErasureContext, requestErasure } from '../domain/user-erasures';
import type { Logger } from '../platform/log';
import { eraseReports } from '../reports/erased-reports';
import type { ReportStores } from '../reports/stores/store';
import { forgetAnomalyIds } from './anomaly-ids';
import { moveCounts, moveLateCounts } from './counts';
import { eraseEvents } from './events';
import { eraseRows } from './rows';
import { addCounts, type RunningErasure } from './running-erasure';
import { eraseSessions, listErasedSessions, SESSIONS_PER_BATCH } from './sessions';

// The erasure of a user. Its row refuses facts about them from the moment it is committed. Then the steps below run in their order,
// each in small transactions, and each can be repeated.

export interface ErasureKey {
  integrationId: string;
  erasureId: string;
}

/** The erasures of a process. */
export interface Erasures {
  /** Erases a user in the background. Returns the receipt. */
  request(context: ErasureContext, input: { userId: string }): Promise<UserErasure>;
  jobs: {
    continueErasure(key: ErasureKey): Promise<number | null>;
    wakeErasures(): Promise<number>;
  };
}

/** What a piece of a step has done. */
interface Progress {
  /** Where the step goes on. Null: it is done. */
  after: unknown;
  /** The step cannot go on before. */
  pauseMs?: number;
}

/** A piece of work takes about a second at most; a call works for so long. */
const WORK_MS = 5_000;
const PAUSE_MS = 250;
/** A process may have taken a batch of the pixel before it knew of the erasure, which takes a second, and commit it so much later. */
const SETTLE_MS = COMMIT_DELAY_MS + 1_000;

/** Creates the process's erasures. */
export function createErasures(dependencies: {
  db: Database;
  log: Logger;
  stores: ReportStores;
  erasureKey: Buffer;
  /** Tells the engine of erasures. */
  wake: (erasures: ErasureKey[]) => Promise<void>;
}): Erasures {
  const { db, log, stores, erasureKey, wake } = dependencies;

  /** The steps. Facts about the user are refused already; the first waits for transactions that do not know it yet. */
  const steps: ((erasure: RunningErasure, after: unknown) => Promise<Progress>)[] = [
    waitForOlder,
    async (erasure) => {
      const pauseMs = await moveCounts(db, erasure);
      return pauseMs === null ? DONE : { after: null, pauseMs };
    },
    takeSessions,
    settle,
    eraseTraces,
    eraseOpenSessions,
    eraseAllRows,
    async (erasure, after) => {
      const count = (query: Query) => addCounts(query, erasure, { reports: 1 });
      return { after: await eraseReports({ db, stores }, erasure, (after as string | null) ?? '', count) };
    },
    async (erasure, after) => ({ after: await eraseEvents(db, erasure, (after as string | null) ?? '') }),
    async (erasure) => ({ after: (await forgetAnomalyIds(db, erasure)) > 0 ? 'more' : null }),
  ];

  /** Waits until all transactions are over that began before facts were refused. */
  async function waitForOlder(_: RunningErasure, after: unknown): Promise<Progress> {
    const running = (await db.query<{ id: string }>(LIST_TRANSACTIONS, [])).map(({ id }) => id);
    const before = after === null ? running : running.filter((id) => (after as string[]).includes(id));
    return before.length === 0 ? DONE : { after: before, pauseMs: PAUSE_MS };
  }

  async function takeSessions(erasure: RunningErasure): Promise<Progress> {
    return { after: (await eraseSessions(db, erasure)) > 0 ? 'more' : null };
  }

  async function settle({ integrationId, requestedAt }: RunningErasure): Promise<Progress> {
    const [waiting] = await db.query<{ leftMs: number }>(READ_SETTLING, [integrationId, requestedAt, SETTLE_MS]);
    return waiting ? { after: 'waiting', pauseMs: waiting.leftMs } : DONE;
  }

  const eraseTracesOf = (erasure: RunningErasure, ids: string[]) =>
    db.transact(
      async (query) => {
        const traces = await eraseCollected(query, erasure, ids);
        if (traces > 0) await addCounts(query, erasure, { traces });
      },
      { isLong: true },
    );

  async function eraseTraces(erasure: RunningErasure, after: unknown): Promise<Progress> {
    const found = await listErasedSessions(db, erasure, after as { createdAt: string; id: string } | null);
    const ids = found.map(({ id }) => id);
    await eraseTracesOf(erasure, ids);
    return { after: found.length === SESSIONS_PER_BATCH ? found.at(-1) : null };
  }

  async function eraseOpenSessions(erasure: RunningErasure, from: unknown): Promise<Progress> {
    // An erasure that an older version began has a word as its position. It begins with the first session.
    const { key = '0' } = (from ?? {}) as { key?: string };
    const { ids, after } = await findOpenSessionsOf(db, erasure, key, SESSIONS_PER_BATCH);
    await eraseTracesOf(erasure, ids);
    return { after: after === null ? null : { key: after } };
  }

  async function eraseAllRows(erasure: RunningErasure, after: unknown): Promise<Progress> {
    const position = (after as Parameters<typeof eraseRows>[2] | null) ?? { table: 0, key: null };
    return { after: await eraseRows(db, erasure, position) };
  }

  /** Ends the erasure. Returns false if a session names the user still, so that the steps from there on are repeated. */
  async function end(erasure: RunningErasure): Promise<boolean> {
    const { integrationId, id, userId, pseudonym } = erasure;
    return db.transact(
      async (query) => {
        // The fold reads one snapshot, so it could not change the same rows at the same time.
        await query(LOCK_FOLD, []);
        const [left] = await query(FIND_LEFT, [integrationId, userId]);
        if (left) return false;
        await moveLateCounts(query, erasure);
        await query(MOVE_ENDS, [integrationId, userId, pseudonym]);
        await query(REMOVE_ENDS, [integrationId, userId]);
        await query(FORGET_ENDS, [integrationId, pseudonym]);
        await query(WRITE_TOTALS, [integrationId, pseudonym]);
        await query(COMPLETE, [integrationId, id]);
        return true;
      },
      { isLong: true },
    );
  }

  async function continueErasure({ integrationId, erasureId: id }: ErasureKey): Promise<number | null> {
    const [row] = await db.query<ErasureRow>(READ, [integrationId, id]);
    if (!row) return null;
    let { position, knownUser } = row;
    const untilMs = Date.now() + WORK_MS;
    while (Date.now() < untilMs) {
      const finder = createMentionFinder(knownUser);
      const erasure: RunningErasure = { ...row, integrationId, id, position, finder, erasureKey };
      const step = steps[position.step];
      if (!step) {
        if (await end(erasure)) {
          log.info({ integrationId, erasureId: id }, 'a user was erased');
          return null;
        }
        position = { step: steps.indexOf(takeSessions) };
        continue;
      }
      const { after, pauseMs = 0 } = await step(erasure, position.after ?? null);
      const isWaiting = pauseMs > 0;
      if (after !== null || isWaiting) position = { step: position.step, after };
      else position = { step: position.step + 1 };
      const [written] = await db.query<{ knownUser: KnownUser }>(RECORD, [integrationId, id, JSON.stringify(position)]);
      if (!written) return null;
      knownUser = written.knownUser;
      if (isWaiting) return pauseMs;
    }
    return 0;
  }

  return {
    async request(context, input) {
      const receipt = await requestErasure(context, input);
      await wake([{ integrationId: context.integration.id, erasureId: receipt.id }]).catch((error: unknown) =>
        log.warn({ err: error }, 'the engine was not told of an erasure'),
      );
      return receipt;
    },
    jobs: {
      continueErasure,
      async wakeErasures() {
        await db.query(END_REFUSALS, []);
        await db.query(REMOVE_RECEIPTS, [RECEIPT_DAYS]);
        const lost = await db.query<ErasureKey>(FIND_LOST, []);
        if (lost.length > 0) await wake(lost);
        return lost.length;
      },
    },
  };
}

const DONE: Progress = { after: null };

type ErasureRow = Pick<RunningErasure, 'userId' | 'pseudonym' | 'requestedAt' | 'position'> & { knownUser: KnownUser };

const READ = `
  select user_id as "userId", pseudonym, requested_at as "requestedAt", position, known_user as "knownUser"
    from user_erasures where integration_id = $1 and id = $2 and completed_at is null`;

const RECORD = `
  update user_erasures set position = $3::text::jsonb, woken_at = now()
   where integration_id = $1 and id = $2 and completed_at is null
  returning known_user as "knownUser"`;

/** Every transaction holds the lock of its number from its first statement on, and everybody may see it. */
const LIST_TRANSACTIONS = `
  select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'virtualxid' and a.datname = current_database() and l.pid <> pg_backend_pid()
     and a.backend_type is distinct from 'autovacuum worker'`;

const FIND_LEFT = 'select 1 from sessions where integration_id = $1 and user_id = $2 limit 1';

/** Retention may have removed sessions of the user meanwhile. */
const MOVE_ENDS = `
  insert into pruned_ends as p (integration_id, kind, value, first_seen_at, last_seen_at, max_bot_score)
  select integration_id, kind, $3, first_seen_at, last_seen_at, max_bot_score from pruned_ends
   where integration_id = $1 and kind = 'user' and value = $2
  on conflict (integration_id, kind, value) do update
    set first_seen_at = least(p.first_seen_at, excluded.first_seen_at),
        last_seen_at = greatest(p.last_seen_at, excluded.last_seen_at),
        max_bot_score = greatest(p.max_bot_score, excluded.max_bot_score)`;
const REMOVE_ENDS = `delete from pruned_ends where integration_id = $1 and kind = 'user' and value = $2`;
/** A trigger writes the totals again by the sessions, which have all got the pseudonym now. It looks up what is not known. */
const FORGET_ENDS = `
  update entity_totals set last_seen_at = '-infinity', max_bot_score = -1
   where integration_id = $1 and kind = 'user' and value = $2`;
const WRITE_TOTALS = `
  update entity_rollups set sessions = sessions where integration_id = $1 and kind = 'user' and value = $2`;
const COMPLETE = `
  update user_erasures set completed_at = now(), user_id = null, known_user = null, pseudonym = null, position = '{"step": 0}'
   where integration_id = $1 and id = $2`;

const END_REFUSALS = 'update user_erasures set user_hash = null where user_hash is not null and refused_until <= now()';
const REMOVE_RECEIPTS = `
  delete from user_erasures where completed_at < now() - $1::int * interval '1 day' and user_hash is null`;

/** How long batches of the integration's pages may still be in flight. No row if it has no pages, or if the time is over. */
const READ_SETTLING = `
  select left_ms as "leftMs"
    from (select ceil(extract(epoch from $2::timestamptz - now()) * 1000)::int + $3::int as left_ms) w
   where left_ms > 0 and exists (select from sites where integration_id = $1)`;

const FIND_LOST = `
  update user_erasures set woken_at = now()
   where completed_at is null and woken_at < now() - interval '2 minutes'
  returning integration_id as "integrationId", id as "erasureId"`;
