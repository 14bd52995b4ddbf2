import { afterAll, beforeAll, expect } from 'vitest';
import { sendRaw } from '../../support/connection';
import { finding, secondsAgo } from '../../support/facts';
import { type Answer, PIPELINE_TOKEN, startTestServer, type TestServer } from '../../support/server';

// Two processes on one database, for all tests of the endpoint: what is posted to them, and what they have stored.

export const ENDPOINT = '/api/trpc/pipeline.ingest';
export const MIB = 1024 * 1024;

export let server: TestServer;
/** A second process on the same database. */
export let second: TestServer;

export function shareServers(): void {
  beforeAll(async () => {
    server = await startTestServer();
    second = await startTestServer({}, server);
  });
  afterAll(async () => {
    await second.stop();
    await server.stop();
  });
}

export type Tenant = { id: string; key: string };
export const sql = () => server.database.db.sql;
export const authorized = { Authorization: `Bearer ${PIPELINE_TOKEN}`, 'Content-Type': 'application/json' };
export const post = (body: string | Uint8Array, headers: Record<string, string> = authorized, url = server.url) =>
  sendRaw(url, 'POST', ENDPOINT, { headers, body });

export const events = (sessionId: string, sequences: number[], fields: Record<string, unknown> = {}) => ({
  kind: 'sessionEvents',
  sessionId,
  events: sequences.map((sequence) => ({ sequence, type: 'mouse', timestamp: secondsAgo(30), ...fields })),
});

/** Makes findings that take so many bytes as JSON. */
export function fillEvidence(bytes: number) {
  const findings = Array.from({ length: 90 }, (_, n) => ({ ...finding(`flag-${n}`), measured: '' }));
  let left = bytes - Buffer.byteLength(JSON.stringify(findings));
  for (const each of findings) {
    const length = Math.min(256, left);
    left -= length;
    each.measured = 'x'.repeat(length);
  }
  expect(Buffer.byteLength(JSON.stringify(findings))).toBe(bytes);
  return findings;
}

export function expectCounts(answer: Pick<Answer, 'status' | 'body'>, accepted: number, duplicates: number) {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { result: { data: { accepted, duplicates, suppressed: 0 } } },
  });
}
export async function accept(tenant: Tenant, facts: unknown[]) {
  expectCounts(await server.ingest(tenant.id, facts), facts.length, 0);
}
export async function readSession({ key }: Tenant, id: string) {
  const { status, body } = await server.call('GET', `/v1/sessions/${encodeURIComponent(id)}`, { key });
  return status === 200 ? body.data : null;
}
export async function countSessions({ id }: Tenant): Promise<number> {
  const [row] = await sql()<{ count: number }[]>`select count(*)::int from sessions where integration_id = ${id}`;
  return row!.count;
}
export async function readEventCount({ id }: Tenant, sessionId: string) {
  const [row] = await sql()<{ total: number; rows: number; sum: number }[]>`
    select s.event_count as total, count(e.sequence)::int as rows, coalesce(sum(e.event_count), 0)::int as sum
      from sessions s left join session_events e on e.integration_id = s.integration_id and e.session_id = s.id
     where s.integration_id = ${id} and s.id = ${sessionId} group by s.event_count`;
  return row;
}
/** Reads the payloads of the recorded BotDetected events. */
export async function readDetections({ id }: Tenant, sessionId?: string) {
  const rows = await sql()<{ payload: string; natural_key: string }[]>`
    select payload, natural_key from domain_events where integration_id = ${id} and type = 'BotDetected' order by id`;
  return rows
    .filter((row) => sessionId === undefined || row.natural_key === sessionId)
    .map((row) => JSON.parse(row.payload));
}
