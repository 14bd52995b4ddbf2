import { ApiError } from '../../contract/errors';
import type { ScoredSegment } from '../../contract/evidence';
import type { FoundRecording, Recording, RecordingState } from '../../contract/recordings';
import { PLANS } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { makeRecording } from '../detection/recording';
import { countNumbers } from '../detection/varints';
import type { DomainContext } from '../domain/context';
import { type KeptBatch, toDocumentId, unpackBatch, unpackBeginning } from './packing';

// What staff see of a page's data, while it is kept.

type Scope = Pick<DomainContext, 'integration'>;

export interface Recordings {
  /** Says whether there is a recording of a session. NOT_FOUND if the integration has no such session. */
  find(scope: Scope, input: { sessionId: string }): Promise<RecordingState>;
  /** Reads the recording, if there is one. NOT_FOUND as `find`. */
  read(scope: Scope, input: { sessionId: string }): Promise<FoundRecording>;
}

const DAY_MS = 86_400_000;
/** How the ids of sessions look that a pixel began (`deriveSessionId`). What else is known of them goes with their traces. */
const PIXEL_SESSION = /^ses_[\w-]{24}$/;

/**
 * A recording is read up to one of these bounds, so that no trace takes longer than a page may: bytes as they are stored, bytes
 * when inflated, numbers, batches. Somebody who types and points without a pause for an hour and a quarter stays below them.
 */
const MAX_STORED_BYTES = 512 * 1024;
const MAX_INFLATED_BYTES = 1.5 * 1024 * 1024;
const MAX_VALUES = 250_000;
/** For an open session, whose batches are packed one by one. */
const MAX_BATCHES = 1_000;

/** Creates the reader of recordings. `traceDays` is for how many days traces are kept. */
export function createRecordings({ db, traceDays }: { db: Database; traceDays: number }): Recordings {
  async function findRow({ integration }: Scope, sessionId: string) {
    const [row] = await db.query<Row>(FIND, [integration.id, sessionId]);
    if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
    const days = Math.min(traceDays, PLANS[integration.plan].retentionDays);
    return { row, found: judgeState(row, sessionId, days) };
  }

  return {
    async find(scope, { sessionId }) {
      return (await findRow(scope, sessionId)).found;
    },
    async read(scope, { sessionId }) {
      const { row, found } = await findRow(scope, sessionId);
      return { ...found, recording: found.state === 'kept' ? await readRecording(db, row) : null };
    },
  };
}

interface Row {
  createdAt: string;
  now: string;
  /** Null if no pixel recorded the session, or its trace was removed. */
  key: string | null;
  day: string | null;
  hasTrace: boolean;
  segments: ScoredSegment[] | null;
}

const writeDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const addDays = (day: string, days: number) => writeDay(Date.parse(day) + days * DAY_MS);

/** Says what became of a recording that is kept for some days. After these it is not shown, even if it was not removed yet. */
function judgeState({ createdAt, now, key, day, hasTrace }: Row, sessionId: string, days: number): RecordingState {
  const today = now.slice(0, 10);
  const firstDay = day ?? createdAt.slice(0, 10);
  const keptUntil = addDays(firstDay, days);
  const isOver = keptUntil < today;
  if (key !== null && hasTrace && !isOver) return { state: 'kept', keptUntil, removedOn: null };
  if (key === null && !(isOver && PIXEL_SESSION.test(sessionId)))
    return { state: 'none', keptUntil: null, removedOn: null };
  return { state: 'removed', keptUntil: null, removedOn: isOver ? addDays(keptUntil, 1) : null };
}

async function readRecording(db: Database, { createdAt, key, day, segments }: Row): Promise<Recording> {
  const startMs = Date.parse(createdAt);
  const { batches, cutAtMs } = await readBatches(db, [day, key]);
  return {
    ...makeRecording(batches, startMs),
    cutMs: cutAtMs === null ? null : cutAtMs - startMs,
    segments: (segments ?? []).map(({ startedAt, logOdds }) => ({
      startMs: Date.parse(startedAt) - startMs,
      score: Math.round(1_000 / (1 + Math.exp(-logOdds))) / 1_000,
    })),
  };
}

/** Reads the first batches of a session, and when the last of them arrived if there are more. */
async function readBatches(db: Database, place: [day: string | null, key: string | null]) {
  const [traces, rows] = await Promise.all([
    db.query<{ body: Buffer; count: number }>(READ_TRACE, [...place, MAX_STORED_BYTES]),
    db.query<BatchRow>(READ_BATCHES, [...place, MAX_STORED_BYTES, MAX_BATCHES]),
  ]);
  const batches: KeptBatch[] = [];
  let values = 0;
  /** Takes a batch, unless there are enough. */
  function take(batch: KeptBatch): boolean {
    values += countNumbers(batch.events);
    if (values <= MAX_VALUES) batches.push(batch);
    return values <= MAX_VALUES;
  }
  let expected = rows.length;
  for (const { body, count } of traces) {
    expected += count;
    for (const batch of await unpackBeginning(body, MAX_INFLATED_BYTES)) if (!take(batch)) break;
  }
  for (const { document, sequence, receivedAt, body } of rows) {
    const row = { d: toDocumentId(document), n: sequence, receivedAtMs: Date.parse(receivedAt) };
    if (body === null || !take(unpackBatch(body, row))) break;
  }
  const lastMs = batches.reduce((latest, { receivedAtMs }) => Math.max(latest, receivedAtMs), 0);
  return { batches, cutAtMs: batches.length > 0 && batches.length < expected ? lastMs : null };
}

interface BatchRow {
  document: string;
  sequence: number;
  receivedAt: string;
  /** Null of the first one that is beyond the bound. */
  body: Buffer | null;
}

const FIND = `
  select s.created_at as "createdAt", now() as now, c.key, c.day::text, p.segments,
         exists (select 1 from session_traces t where t.day = c.day and t.session_key = c.key)
           or exists (select 1 from session_batches b where b.day = c.day and b.session_key = c.key) as "hasTrace"
    from sessions s
    left join collected_sessions c on c.integration_id = s.integration_id and c.session_id = s.id
    left join session_scores p
      on p.integration_id = s.integration_id and p.session_id = s.id and p.scored_at = s.scored_at
   where s.integration_id = $1 and s.id = $2`;

const READ_TRACE = `
  select substring(body from 1 for $3::int) as body, batches as count from session_traces
   where day = $1::date and session_key = $2::bigint`;

const READ_BATCHES = `
  select document, sequence, received_at as "receivedAt", case when upto <= $3::int and place <= $4::int then body end as body
    from (select *, sum(octet_length(body)) over (order by received_at, document, sequence) as upto,
                 row_number() over (order by received_at, document, sequence) as place
            from session_batches where day = $1::date and session_key = $2::bigint) b
   where upto - octet_length(body) <= $3::int and place <= $4::int + 1
   order by place`;
