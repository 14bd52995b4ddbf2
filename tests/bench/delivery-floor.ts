import postgres from 'postgres';
import { Agent, request } from 'undici';
import { createWebhookSecret, signPayload } from '../../server/webhooks/signature';

// Run by `deliveries.ts` in its own process: a delivery loop without engine, address guard, lease and schedule. Takes a
// FloorRequest in JSON as its argument and prints a FloorResult.

export interface FloorRequest {
  /** A separate database in the product's Postgres. */
  databaseUrl: string;
  receiverUrl: string;
  payload: string;
  count: number;
  warmUp: number;
}

export interface FloorResult {
  perSecond: number;
  /** Processor time of this process, in µs. */
  cpuPerDelivery: number;
}

const BATCH = 25;

const INSERT = `
  insert into deliveries (id, payload)
  select gen_random_uuid(), $1 from generate_series(1, $2::int)`;
const READ = `select id, payload from deliveries where status is null order by id limit ${BATCH}`;
const RECORD = `
  update deliveries d set status = r.status, finished_at = now()
    from json_to_recordset($1::text::json) r(id uuid, status smallint) where d.id = r.id`;

const { databaseUrl, receiverUrl, payload, count, warmUp }: FloorRequest = JSON.parse(process.argv[2]!);
const secret = createWebhookSecret();
const sql = postgres(databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} });
const agent = new Agent({ connections: BATCH, pipelining: 1 });

async function post(id: string, body: string): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'bot-detection-webhooks/1',
    'x-webhook-event': 'BotDetected',
    'x-webhook-id': 'whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f',
    'x-webhook-delivery-id': id,
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': signPayload(secret, timestamp, body),
  };
  const answer = await request(receiverUrl, { method: 'POST', headers, body, dispatcher: agent });
  await answer.body.dump();
  return answer.statusCode;
}

async function deliverAll(rows: number): Promise<FloorResult> {
  await sql.unsafe('drop table if exists deliveries');
  await sql.unsafe(
    'create table deliveries (id uuid primary key, payload text not null, status smallint, finished_at timestamptz)',
  );
  await sql.unsafe(INSERT, [payload, rows]);
  await sql.unsafe('create index on deliveries (id) where status is null');
  await sql.unsafe('analyze deliveries');
  const from = performance.now();
  const cpuFrom = process.cpuUsage();
  for (;;) {
    const due = await sql.unsafe<{ id: string; payload: string }[]>(READ, [], { prepare: true });
    if (due.length === 0) break;
    const outcomes = await Promise.all(
      due.map(async ({ id, payload: body }) => ({ id, status: await post(id, body) })),
    );
    await sql.unsafe(RECORD, [JSON.stringify(outcomes)], { prepare: true });
  }
  const { user, system } = process.cpuUsage(cpuFrom);
  return { perSecond: (rows * 1_000) / (performance.now() - from), cpuPerDelivery: (user + system) / rows };
}

await deliverAll(warmUp);
const result = await deliverAll(count);
await agent.close();
await sql.end();
process.stdout.write(JSON.stringify(result));
