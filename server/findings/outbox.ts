import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, isUnavailable } from '../../db/client';
import { deleteRecords } from '../../db/recordset';
import { factOutbox } from '../../db/schema';
import type { Ingester } from '../pipeline/ingest';
import type { OutboxEntry } from '../pipeline/rows';
import type { Logger } from '../platform/log';
import { createFindingJudge } from './judge';
import type { RuleDescription } from './rule';
import { RULE_DESCRIPTIONS } from './rules';

/** Judges what the outbox names. */
export interface FindingsOutbox {
  /** What is looked for, in words. */
  rules: readonly RuleDescription[];
  /** Has the entries of a commit judged, by the process that wrote them. */
  notice(entries: OutboxEntry[]): void;
  /** Starts looking for entries that were left behind. */
  start(): void;
  /** Judges what was left behind, once. Returns how many entries it took. */
  sweep(): Promise<number>;
  /** Counts the entries that wait in memory. */
  count(): number;
  /** Judges everything that waits. For processes that may be frozen after a request. */
  flush(): Promise<void>;
  /** Starts nothing more, and waits for what runs. */
  stop(): Promise<void>;
}

const SWEEP_MS = 1_000;
/** The most entries that are judged at the same time. */
const MAX_GROUP = 32;
/** While few entries wait, the next group has so much time to grow: entries are removed in one commit per group. */
const PAUSE_MS = 15;
/** The most entries that wait in memory. Others stay in the table until a process has time for them. */
const MAX_WAITING = 2_000;
/** The most entries that one look takes, and what one statement of it takes. */
const MAX_TAKEN = 1_000;
const TAKE_SIZE = 200;
/** An entry that was taken is left to its process for this long, and for twice as long after each further try. */
const FIRST_PAUSE_MS = 10_000;
/** After this many tries, which take three hours, an entry is given up: judging it fails each time. */
const MAX_TRIES = 10;

/** Creates the process's judge of the outbox. Starts nothing. */
export function createFindings(dependencies: {
  db: Database;
  log: Logger;
  ingester: Ingester;
  /** Whether the process may run timers. Without them, entries are judged by `flush`. */
  hasTimers: boolean;
}): FindingsOutbox {
  const { db, log, hasTimers } = dependencies;
  const judge = createFindingJudge(dependencies);
  const waiting = new Map<string, OutboxEntry>();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  function notice(entries: OutboxEntry[]) {
    if (isStopped) return;
    for (const entry of entries) if (waiting.size < MAX_WAITING) waiting.set(entry.id, entry);
    if (hasTimers) void run();
  }

  /** Judges what waits, one group after the other. */
  function run(): Promise<void> {
    running ??= judgeWaiting().finally(() => {
      running = null;
    });
    return running;
  }

  async function judgeWaiting() {
    while (waiting.size > 0 && !isStopped) {
      const group = [...waiting.values()].slice(0, MAX_GROUP);
      const results = await Promise.allSettled(group.map(judge));
      for (const { id } of group) waiting.delete(id);
      for (const result of results) if (result.status === 'rejected') report(result.reason);
      const judged = group.filter((_, index) => results[index]!.status === 'fulfilled');
      if (judged.length > 0) await db.query(REMOVE, [JSON.stringify(judged)]).catch(report);
      if (hasTimers && waiting.size < MAX_GROUP) await sleep(PAUSE_MS);
    }
  }

  /** Entries that could not be judged stay in the table, and are taken later. */
  const report = (error: unknown) =>
    log[isUnavailable(error) ? 'debug' : 'error']({ err: error }, 'findings could not be judged');

  /** Takes entries that their process did not judge, unless another process is at them. */
  async function takeOverdue(): Promise<number> {
    let count = 0;
    while (count < MAX_TAKEN && waiting.size < MAX_WAITING && !isStopped) {
      const rows = await db.query<OutboxEntry & { tries: number }>(TAKE, [TAKE_SIZE, FIRST_PAUSE_MS]);
      const [given, taken] = [rows.filter(isGivenUp), rows.filter((row) => !isGivenUp(row))];
      for (const { integrationId, sessionId } of given)
        log.error({ integrationId, sessionId }, 'the findings of a session were given up');
      if (given.length > 0) await db.query(REMOVE, [JSON.stringify(given)]);
      for (const { tries: _, ...entry } of taken) waiting.set(entry.id, entry);
      count += rows.length;
      if (rows.length < TAKE_SIZE) break;
    }
    return count;
  }

  function lookAgain() {
    timer = setTimeout(async () => {
      await takeOverdue().catch(report);
      void run();
      if (!isStopped) lookAgain();
    }, SWEEP_MS).unref();
  }

  return {
    rules: RULE_DESCRIPTIONS,
    notice,
    start: lookAgain,
    async sweep() {
      const count = await takeOverdue();
      await run();
      return count;
    },
    count: () => waiting.size,
    flush: run,
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}

const isGivenUp = ({ tries }: { tries: number }) => tries > MAX_TRIES;

const TAKE = `
  update fact_outbox o set due_at = now() + $2::int * 2 ^ o.tries * interval '1 ms', tries = o.tries + 1
   where o.ctid = any (array(
     select ctid from fact_outbox where due_at <= now() order by due_at limit $1::int for update skip locked))
  returning o.integration_id as "integrationId", o.id, o.session_id as "sessionId", o.causes, o.tries`;

const REMOVE = deleteRecords(factOutbox, '$1', ['integrationId', 'id']);
