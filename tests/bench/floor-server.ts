import { createHash } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import postgres from 'postgres';
import type { Beacon } from '../../contract/beacon';
import { documentNumber } from '../../server/collector/packing';
import type { DomainContext } from '../../server/domain/context';
import { MAX_EXAMINED, walkSessions } from '../../server/domain/session-walks';
import { READ_SESSION } from '../../server/domain/sessions';

// Run by `bench-server.ts` in its own process: bare routes without contract and router, on the same database. Two reads use
// the product's own statements for the data, a shorter statement for key and limit, and return the same JSON. `/collect`
// inserts a row of the same table for each beacon, with the beacon's JSON as its body; it checks nothing and judges nothing.
// Takes a FloorRequest in JSON as its argument.

export interface FloorRequest {
  databaseUrl: string;
  port: number;
}

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

const { databaseUrl, port }: FloorRequest = JSON.parse(process.argv[2]!);
// Like postgres.js' own type, except that a bound of a walk may be `infinity`.
const instant = {
  to: 1184,
  from: [1184],
  serialize: (value: string) => value,
  parse: (text: string) => new Date(text),
};
const sql = postgres(databaseUrl, { max: 10, onnotice: () => {}, types: { instant } });
// biome-ignore lint/suspicious/noExplicitAny: parameters of any type
const query = <Row extends object>(text: string, parameters: any[]) =>
  sql.unsafe<Row[]>(text, parameters, { prepare: true });

async function verify(request: FastifyRequest): Promise<KeyRow> {
  const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const [row] = await query<KeyRow>(VERIFY, [createHash('sha256').update(key).digest()]);
  if (row === undefined || row.requests > LIMIT) throw new Error('refused');
  return row;
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

const app = fastify();
app.addHook('onSend', async (_request, reply) => void reply.type('application/json; charset=utf-8'));

app.get('/health', async () => '{"status":"ok"}');

app.get<{ Params: { id: string } }>('/v1/sessions/:id', async (request) => {
  const key = await verify(request);
  const [row] = await query(READ_SESSION, [key.integration_id, request.params.id]);
  if (row === undefined) throw new Error('not found');
  return JSON.stringify({ data: show(row, key) });
});

app.get<{ Querystring: { pageSize: string } }>('/v1/sessions', async (request) => {
  const key = await verify(request);
  const limit = Number(request.query.pageSize);
  const tenant = { integration: { id: key.integration_id }, db: { query } } as unknown as DomainContext;
  // biome-ignore lint/suspicious/noExplicitAny: rows as Postgres returns them
  const rows: any[] = await walkSessions(tenant, {}, { after: null, rows: limit + 1, budget: MAX_EXAMINED });
  const hasMore = rows.length > limit;
  const data = rows.slice(0, limit).map((row) => show(row, key));
  const last = data.at(-1);
  const nextCursor = hasMore && Buffer.from(`${last?.createdAt.toISOString()} ${last?.id}`).toString('base64url');
  return JSON.stringify({ data, pagination: { ...(nextCursor ? { nextCursor } : {}), hasMore, limit } });
});

/** No session of the product has this number. */
const SESSION_KEY = -1;
app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post<{ Body: string }>('/collect', async (request) => {
  const { d, n }: Beacon = JSON.parse(request.body);
  await sql`
    insert into session_batches (day, session_key, document, sequence, received_at, body)
    values (current_date, ${SESSION_KEY}, ${documentNumber(d)}, ${n}, now(), ${Buffer.from(request.body)})
    on conflict do nothing`;
  return '{}';
});

await app.listen({ port, host: '127.0.0.1' });
