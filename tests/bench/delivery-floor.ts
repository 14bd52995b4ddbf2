import postgres from 'postgres';
import { Client } from 'undici';
import { createWebhookSecret, signPayload } from '../../server/webhooks/signature';

// Run by `deliveries.ts` in a process of its own: what is left of a delivery without engine, guard, lease and schedule.
// Argument: a FloorRequest in JSON; prints a FloorResult.

export interface FloorRequest {
  /** A database of its own in the product's Postgres. */
  databaseUrl: string;
  receiverUrl: string;
  payload: string;
  count: number;
  warmUp: number;
}

export interface FloorResult {
  perSecond: number;
  /** Processor time of the loop's process, in µs. */
  cpuPerDelivery: number;
}

const WINDOW = 25;
const BATCH = 25;
/** As the product's own client has them. */
const CLIENT_OPTIONS = { pipelining: 1, keepAliveTimeout: 4_000, headersTimeout: 0, bodyTimeout: 0 };

const INSERT = `
  insert into deliveries (id, payload)
  select gen_random_uuid(), $1 from generate_series(1, $2::int)`;
const READ = 'select id, payload from deliveries where status is null';
const RECORD = `
  update deliveries d set status = r.status, finished_at = now()
    from json_to_recordset($1::text::json) r(id uuid, status smallint) where d.id = r.id`;

const { databaseUrl, receiverUrl, payload, count, warmUp }: FloorRequest = JSON.parse(process.argv[2]!);
const secret = createWebhookSecret();
const sql = postgres(databaseUrl, { max: 2, fetch_types: false, onnotice: () => {} });
const { origin, pathname } = new URL(receiverUrl);
const clients = Array.from({ length: WINDOW }, () => new Client(origin, CLIENT_OPTIONS));

async function post(client: Client, id: string, body: string): Promise<number> {
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
  return new Promise((resolve, reject) => {
    let status = 0;
    client.dispatch(
      { path: pathname, method: 'POST', headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData() {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

async function deliverAll(rows: number): Promise<FloorResult> {
  await sql.unsafe('drop table if exists deliveries');
  await sql.unsafe(
    'create table deliveries (id uuid primary key, payload text not null, status smallint, finished_at timestamptz)',
  );
  await sql.unsafe(INSERT, [payload, rows]);
  await sql.unsafe('analyze deliveries');
  const from = performance.now();
  const cpuFrom = process.cpuUsage();
  const due = await sql.unsafe<{ id: string; payload: string }[]>(READ, [], { prepare: true });
  let next = 0;
  let outcomes: { id: string; status: number }[] = [];
  const records: Promise<unknown>[] = [];
  const record = () => {
    records.push(sql.unsafe(RECORD, [JSON.stringify(outcomes)], { prepare: true }).execute());
    outcomes = [];
  };
  const work = async (client: Client) => {
    while (next < due.length) {
      const { id, payload: body } = due[next++]!;
      outcomes.push({ id, status: await post(client, id, body) });
      if (outcomes.length === BATCH) record();
    }
  };
  await Promise.all(clients.map(work));
  if (outcomes.length > 0) record();
  await Promise.all(records);
  const { user, system } = process.cpuUsage(cpuFrom);
  return { perSecond: (rows * 1_000) / (performance.now() - from), cpuPerDelivery: (user + system) / rows };
}

await deliverAll(warmUp);
const result = await deliverAll(count);
await Promise.all(clients.map((client) => client.close()));
await sql.end();
process.stdout.write(JSON.stringify(result));
