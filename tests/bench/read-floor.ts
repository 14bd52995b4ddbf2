import { createHash } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import postgres from 'postgres';

// Run by `bench-server.ts` in a process of its own: what is left of two reads without contract, router and query
// builder. The same database, the same two statements a request, the same JSON. Argument: a ReadFloorRequest in JSON.

export interface ReadFloorRequest {
  databaseUrl: string;
  port: number;
}

interface KeyRow {
  integration_id: string;
  medium_at: number;
  bot_at: number;
  requests: number;
}

/** The key and its minute. Buckets of its own: it does not wait for the product's. */
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
const SELECT = `
  select s.*, u.name as user_name, u.url as user_url
    from sessions s left join users u on u.integration_id = s.integration_id and u.id = s.user_id`;
const BY_ID = `${SELECT} where s.integration_id = $1 and s.id = $2`;
const PAGE = `${SELECT} where s.integration_id = $1 order by s.created_at desc, s.id desc limit $2`;
const LIMIT = 100_000_000;

const { databaseUrl, port }: ReadFloorRequest = JSON.parse(process.argv[2]!);
const sql = postgres(databaseUrl, { max: 10, onnotice: () => {} });
const query = <Row extends object>(text: string, parameters: (string | number | Buffer)[]) =>
  sql.unsafe<Row[]>(text, parameters, { prepare: true });

async function verify(request: FastifyRequest): Promise<KeyRow> {
  const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const [row] = await query<KeyRow>(VERIFY, [createHash('sha256').update(key).digest()]);
  if (row === undefined || row.requests > LIMIT) throw new Error('refused');
  return row;
}

// biome-ignore lint/suspicious/noExplicitAny: rows as Postgres gives them
function showLabel({ label, label_confidence, label_notes, labeled_at }: any) {
  if (label === null || labeled_at === null) return null;
  const verdict = label === 1 ? 'bot' : 'human';
  return { verdict, confidence: label_confidence, notes: label_notes, labeledAt: labeled_at };
}

// biome-ignore lint/suspicious/noExplicitAny: rows as Postgres gives them
function show(row: any, { medium_at, bot_at }: KeyRow) {
  const bin: number | null = row.effective_bin;
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    status: row.status,
    botScore: row.bot_score,
    detectionFlags: row.detection_flags,
    pageUrl: row.page_url,
    userAgentSummary: row.user_agent_summary,
    userId: row.user_id,
    userName: row.user_name,
    userUrl: row.user_url,
    riskLevel: bin === null ? null : bin >= bot_at ? 'bot' : bin >= medium_at ? 'medium' : 'human',
    label: showLabel(row),
    courseId: row.course_id,
    deviceFingerprint: row.fingerprint,
    deviceType: row.device_type,
    browser: row.browser,
    origin: row.origin,
    country: row.country,
    correlationConfidence: row.correlation_confidence,
  };
}

const app = fastify();
app.addHook('onSend', async (_request, reply) => void reply.type('application/json; charset=utf-8'));

app.get('/health', async () => '{"status":"ok"}');

app.get<{ Params: { id: string } }>('/v1/sessions/:id', async (request) => {
  const key = await verify(request);
  const [row] = await query(BY_ID, [key.integration_id, request.params.id]);
  if (row === undefined) throw new Error('not found');
  return JSON.stringify({ data: show(row, key) });
});

app.get<{ Querystring: { pageSize: string } }>('/v1/sessions', async (request) => {
  const key = await verify(request);
  const limit = Number(request.query.pageSize);
  // biome-ignore lint/suspicious/noExplicitAny: rows as Postgres gives them
  const rows = await query<any>(PAGE, [key.integration_id, limit + 1]);
  const hasMore = rows.length > limit;
  const data = rows.slice(0, limit).map((row) => show(row, key));
  const last = data.at(-1);
  const nextCursor = hasMore && Buffer.from(`${last?.createdAt.toISOString()} ${last?.id}`).toString('base64url');
  return JSON.stringify({ data, pagination: { ...(nextCursor ? { nextCursor } : {}), hasMore, limit } });
});

await app.listen({ port, host: '127.0.0.1' });
