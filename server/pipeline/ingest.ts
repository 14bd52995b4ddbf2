import { ApiError } from '../../contract/errors';
import { type Database, isTimeout, isUnavailable } from '../../db/client';
import { createStatisticsUpdater } from '../../db/statistics';
import { createBatcher, type PendingItem } from '../platform/batcher';
import { createId } from '../platform/ids';
import type { Logger } from '../platform/log';
import type { SubscriptionKey } from '../webhooks/deliveries';
import type { Handover } from '../webhooks/dispatcher';
import { planEvent } from '../webhooks/planning';
import type { Publisher } from '../webhooks/publisher';
import { BatchDraft, FactRefusal } from './draft';
import { type Fact, findFactKind, type IngestAnswer, type IngestInput, RECORD_KINDS } from './facts';
import { createRows, type IngestRows, type OutboxEntry, WRITTEN_TABLES, type WrittenDelivery, writeRows } from './rows';
import { type IngestState, readState } from './state';

const MAX_GROUP = 64;
/**
 * The most rows of a group, and texts of its facts that may be ids of users: one statement writes or looks up all of them, and all
 * callers wait for it. A larger batch is a group by itself.
 */
const MAX_GROUP_ROWS = 20_000;
/** Another process wrote the same keys at the same time (unique violation, deadlock). The batch is read and applied again. */
const RACE_CODES = ['23505', '40P01'];
const MAX_TRIES = 5;
/** The written tables and those that grow with them. */
const GROWING_TABLES = [...WRITTEN_TABLES, 'seen_hours', 'entity_pairs', 'webhook_subscriptions'];

const ERASED_MESSAGE = 'names a user who was erased; facts about them are refused';

const BRAND = Symbol.for('bot-detection.invalid-fact');

/** Thrown if a batch is refused because of one fact. `factIndex` counts from 0. Nothing of the batch is written. */
export class InvalidFactError extends Error {
  readonly [BRAND] = true;
  readonly factIndex: number;
  constructor(factIndex: number, message: string) {
    super(message);
    this.factIndex = factIndex;
  }
}

/** Recognises the error by its brand, because several bundles of a process have their own copy of the class. */
export const isInvalidFactError = (error: unknown): error is InvalidFactError =>
  error instanceof Object && BRAND in error;

export interface Ingester {
  /**
   * Commits a batch, with the events that it fires and their deliveries. Throws InvalidFactError, or NOT_FOUND for an unknown
   * integration.
   */
  ingestFacts(input: IngestInput): Promise<IngestAnswer>;
}

type Waiting = PendingItem<IngestInput, IngestAnswer>;

/** What a commit brought. */
export interface Commit {
  /** Of its batches. */
  integrationIds: string[];
  changedSessions: number;
  /** The sessions that the rules on findings are to judge. */
  concerns: OutboxEntry[];
}

/**
 * Creates the process's ingester. Batches that arrive together share a transaction (one flush to disk, one round trip for
 * each statement). Each batch is applied in memory before anything is written, and is still all or nothing.
 */
export function createIngester(dependencies: {
  db: Database;
  log: Logger;
  publisher: Publisher;
  handover: Handover;
  firstDelayMs: number;
  /** The public address, for links to the dashboard. */
  publicUrl: string | null;
  /** Finds erased users, about whom facts are refused. */
  erasureKey: Buffer;
  onCommitted: (commit: Commit) => void;
}): Ingester {
  const { db, log, publisher, handover, firstDelayMs, onCommitted } = dependencies;
  const reserve = (key: SubscriptionKey) => firstDelayMs === 0 && handover.reserve(key);
  const countWrites = createStatisticsUpdater(db, GROWING_TABLES, log);

  async function commitAll(waiting: Waiting[]) {
    for (const group of splitByRows(waiting)) await commitGroup(group);
  }

  /** Commits a group. If the database refuses it, its batches are committed one by one, so that each fails only by itself. */
  async function commitGroup(group: Waiting[]) {
    try {
      await commit(group);
    } catch (error) {
      const isTooLarge = group.length > 1 && isTimeout(error);
      if (isUnavailable(error) && !isTooLarge) throw error;
      for (const one of group) await commitAlone(one);
    }
  }

  async function commitAlone(one: Waiting) {
    for (let tries = 1; ; tries++) {
      try {
        return await commit([one]);
      } catch (error) {
        const isRace = RACE_CODES.includes(String((error as { code?: unknown }).code));
        if (!isRace || tries === MAX_TRIES) return one.reject(error);
      }
    }
  }

  async function commit(group: Waiting[]) {
    const rows = createRows();
    const { answers, written } = await writeGroup(group, rows).catch((error: unknown) => {
      for (const delivery of rows.deliveries) if (delivery.lease !== null) handover.release(delivery);
      throw error;
    });
    // First let the next group send its statements, so that Postgres works on them meanwhile.
    setImmediate(() => {
      group.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]!;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
      send(rows, written);
      countWrites(group.length);
      onCommitted({
        integrationIds: group.map(({ item }) => item.integrationId),
        changedSessions: rows.newSessions.length + rows.changedSessions.length,
        concerns: rows.concerns,
      });
    });
  }

  function writeGroup(group: Waiting[], rows: IngestRows) {
    return db.transact(async (query, commitWith) => {
      const batches = group.map(({ item }) => item);
      const state = await readState(query, batches, dependencies);
      const answers = batches.map((batch) => applyBatch(batch, state, rows, log, reserve));
      collectSessions(state, rows);
      const written = await writeRows(commitWith, rows, firstDelayMs, handover);
      return { answers, written };
    });
  }

  /** Starts the deliveries that have a reserved place, and wakes the drains of the others. */
  function send(rows: IngestRows, written: WrittenDelivery[]) {
    const events = new Map(rows.domainEvents.map((event) => [event.id, event]));
    const started = new Set<string>();
    const due: SubscriptionKey[] = [];
    for (const delivery of written) {
      const { integrationId, subscriptionId, deliveryId, eventId } = delivery;
      if (delivery.lease === null) {
        if (firstDelayMs === 0) due.push({ integrationId, subscriptionId });
        else publisher.publishLater({ integrationId, subscriptionId, dueAt: delivery.nextAttemptAt });
        continue;
      }
      const { type, payload } = events.get(eventId)!;
      started.add(deliveryId);
      handover.start({ attempt: 1, eventType: type, payload, isTest: false, ...delivery });
    }
    for (const delivery of rows.deliveries) {
      if (delivery.lease !== null && !started.has(delivery.id)) handover.release(delivery);
    }
    publisher.publish(due);
  }

  return { ingestFacts: createBatcher(MAX_GROUP, commitAll) };
}

/** Splits what waits into groups, in order. */
function* splitByRows(waiting: readonly Waiting[]): Iterable<Waiting[]> {
  let group: Waiting[] = [];
  let rows = 0;
  for (const one of waiting) {
    const added = one.item.facts.reduce((sum, fact) => sum + countRows(fact), 0);
    if (group.length > 0 && rows + added > MAX_GROUP_ROWS) {
      yield group;
      group = [];
      rows = 0;
    }
    group.push(one);
    rows += added;
  }
  if (group.length > 0) yield group;
}

function countRows(fact: Fact): number {
  const users = findFactKind(fact).listUsers?.(fact).length ?? 0;
  return users + (fact.kind === 'sessionEvents' ? fact.events.length : 1);
}

/** Applies one batch. If it succeeds, adds its changes to state and rows. Returns the batch's error instead of throwing it. */
function applyBatch(
  input: IngestInput,
  state: IngestState,
  rows: IngestRows,
  log: Logger,
  reserve: (key: SubscriptionKey) => boolean,
): IngestAnswer | Error {
  const tenant = state.tenants.get(input.integrationId);
  if (!tenant) return new ApiError('NOT_FOUND', 'Integration not found');
  const draft = new BatchDraft(tenant, input.isOurs);
  const answer: IngestAnswer = { accepted: 0, duplicates: 0, suppressed: 0 };
  for (const [index, fact] of input.facts.entries()) {
    const kind = findFactKind(fact);
    const isErased = kind.listUsers?.(fact).some((userId) => tenant.erasedUserIds.has(userId));
    if (isErased && !input.isOurs) return new InvalidFactError(index, ERASED_MESSAGE);
    try {
      const result = isErased ? 'suppressed' : kind.apply(fact, draft);
      answer[result === 'duplicate' ? 'duplicates' : result]++;
    } catch (error) {
      if (error instanceof FactRefusal) return new InvalidFactError(index, error.message);
      throw error;
    }
  }
  for (const [id, session] of draft.sessions) tenant.sessions.set(id, session);
  for (const kind of RECORD_KINDS) rows.records.get(kind)!.push(...draft.newRecords.list(kind));
  tenant.records.merge(draft.newRecords);
  rows.users.push(...draft.describedUsers);
  rows.courses.push(...draft.namedCourses);
  for (const [sessionId, causes] of input.isOfPast ? [] : draft.concerns) {
    const { integrationId } = input;
    rows.concerns.push({ integrationId, id: createId('obx'), sessionId, causes: [...causes] });
  }
  for (const event of draft.domainEvents) {
    const planned = planEvent(event, tenant.subscriptions, reserve);
    rows.domainEvents.push(planned.event);
    rows.deliveries.push(...planned.deliveries);
  }
  // Two judgements of one session may find the same and have read other facts: the first one counts.
  for (const conflict of input.isOurs ? [] : draft.conflicts) {
    log.warn(
      { integrationId: input.integrationId, ...conflict },
      'a fact came again with other content and was ignored',
    );
  }
  return answer;
}

function collectSessions(state: IngestState, rows: IngestRows) {
  for (const { sessions } of state.tenants.values()) {
    for (const { row, isNew, isChanged, storedFlags } of sessions.values()) {
      if (isNew) rows.newSessions.push(row);
      else if (isChanged) rows.changedSessions.push(row);
      if (row.detectionFlags === storedFlags) continue;
      const [now, before] = [new Set(row.detectionFlags), new Set(storedFlags)];
      const { integrationId, createdAt, id: sessionId } = row;
      const toRow = (flag: string) => ({ integrationId, flag, createdAt, sessionId });
      rows.newFlags.push(...[...now].filter((flag) => !before.has(flag)).map(toRow));
      rows.oldFlags.push(...[...before].filter((flag) => !now.has(flag)).map(toRow));
    }
  }
}
