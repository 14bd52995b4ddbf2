import { createHash } from 'node:crypto';
import postgres from 'postgres';
import type { DomainContext } from '../../server/domain/context';
import { MAX_EXAMINED, walkSessions } from '../../server/domain/session-walks';
import { READ_SESSION } from '../../server/domain/sessions';

// The reads of both floors, Fastify's and Next's: the product's own statements for the data, a shorter statement for key and
// limit, and JSON by hand. They return the same data as the product.

interface KeyRow {
  integration_id: string;
  medium_at: number;
  bot_at: number;
  requests: number;
}

/** Checks the key and counts the request. It has its own buckets, so that it does not wait for the product's. */
const VERIFY = `
  with found as (
    select k.id, k.integration_id, i.medium_at, i.bot_at
      from api_keys k join integrations i on i.id = k.integration_id
     where k.hash = $1 and k.revoked_at is null),
  counted as (
    insert into rate_windows as w (bucket, window_start, requests)
    select 'floor:' || id, date_trunc('minute', now()), 1 from found
        on conflict (bucket, window_start) do update set requests = w.requests + 1
    returning requests)
  select found.*, counted.requests from found, counted`;
const LIMIT = 100_000_000;

// Like postgres.js' own type, except that a bound of a walk may be `infinity`.
const instant = {
  to: 1184,
  from: [1184],
  serialize: (value: string) => value,
  parse: (text: string) => new Date(text),
};
/** The reads of a floor. Each returns the JSON of its answer. */
export interface FloorReads {
  sql: postgres.Sql;
  readSession(authorization: string | null | undefined, id: string): Promise<string>;
  readPage(authorization: string | null | undefined, limit: number): Promise<string>;
}

export function openFloorReads(url: string): FloorReads {
  const sql = postgres(url, { max: 10, onnotice: () => {}, types: { instant } });
  // biome-ignore lint/suspicious/noExplicitAny: parameters of any type
  const query = <Row extends object>(text: string, parameters: any[]) =>
    sql.unsafe<Row[]>(text, parameters, { prepare: true });

  async function verify(authorization: string | null | undefined): Promise<KeyRow> {
    const key = authorization?.slice('Bearer '.length) ?? '';
    const [row] = await query<KeyRow>(VERIFY, [createHash('sha256').update(key).digest()]);
    if (row === undefined || row.requests > LIMIT) throw new Error('refused');
    return row;
  }

  return {
    sql: sql as unknown as postgres.Sql,
    async readSession(authorization, id) {
      const key = await verify(authorization);
      const [row] = await query(READ_SESSION, [key.integration_id, id]);
      if (row === undefined) throw new Error('not found');
      return JSON.stringify({ data: show(row, key) });
    },
    async readPage(authorization, limit) {
      const key = await verify(authorization);
      const tenant = {
        integration: { id: key.integration_id },
        db: { query, lookUp: query },
      } as unknown as DomainContext;
      // biome-ignore lint/suspicious/noExplicitAny: rows as Postgres returns them
      const rows: any[] = await walkSessions(tenant, {}, { after: null, rows: limit + 1, budget: MAX_EXAMINED });
      const hasMore = rows.length > limit;
      const data = rows.slice(0, limit).map((row) => show(row, key));
      const last = data.at(-1);
      const nextCursor = hasMore && Buffer.from(`${last?.createdAt.toISOString()} ${last?.id}`).toString('base64url');
      return JSON.stringify({ data, pagination: { ...(nextCursor ? { nextCursor } : {}), hasMore, limit } });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: rows as Postgres returns them
function showLabel({ label, labelConfidence, labelNotes, labeledAt }: any) {
  if (label === null || labeledAt === null) return null;
  return { verdict: label === 1 ? 'bot' : 'human', confidence: labelConfidence, notes: labelNotes, labeledAt };
}

// biome-ignore lint/suspicious/noExplicitAny: rows as Postgres returns them
function show(row: any, { medium_at, bot_at }: KeyRow) {
  const bin: number | null = row.effectiveBin;
  return {
    id: row.id,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    status: row.status,
    botScore: row.botScore,
    detectionFlags: row.detectionFlags,
    pageUrl: row.pageUrl,
    userAgentSummary: row.userAgentSummary,
    userId: row.userId,
    userName: row.userName,
    userUrl: row.userUrl,
    riskLevel: bin === null ? null : bin >= bot_at ? 'bot' : bin >= medium_at ? 'medium' : 'human',
    label: showLabel(row),
    courseId: row.courseId,
    deviceFingerprint: row.fingerprint,
    deviceType: row.deviceType,
    browser: row.browser,
    origin: row.origin,
    country: row.country,
    correlationConfidence: row.correlationConfidence,
  };
}
