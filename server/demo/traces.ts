import type { Database } from '../../db/client';
import { packTrace } from '../collector/packing';
import type { TraceBatch } from '../detection/trace';

// The recordings of the demo's sessions. Their facts go through the pipeline; what a pixel sent would have been kept like this.

/** What a pixel would have sent of a session. */
export interface DemoTrace {
  sessionId: string;
  userAgent: string;
  startedAtMs: number;
  batches: TraceBatch[];
}

/** Moves batches to another time, and to the pages of the demo. */
export function moveBatches(
  batches: readonly TraceBatch[],
  laterMs: number,
  moveUrl: (url: string) => string,
): TraceBatch[] {
  return batches.map(({ d, n, c, e, p, m, l, x, events, receivedAtMs }) => ({
    ...{ d, n, c: [c[0], c[1] + laterMs], events, receivedAtMs: receivedAtMs + laterMs },
    ...(e && { e }),
    ...(p && { p: p.map(moveUrl) }),
    ...(m && { m }),
    ...(l && { l }),
    ...(x && { x }),
  }));
}

/** Keeps traces as those of sessions that are closed. */
export async function storeDemoTraces(
  db: Database,
  { integrationId, siteId }: { integrationId: string; siteId: string },
  traces: readonly DemoTrace[],
): Promise<void> {
  const rows = await Promise.all(
    traces.map(async ({ sessionId, userAgent, startedAtMs, batches }) => ({
      ...{ sessionId, userAgent, startedAt: new Date(startedAtMs).toISOString(), count: batches.length },
      body: (await packTrace(batches)).toString('base64'),
    })),
  );
  await db.query(STORE, [integrationId, siteId, JSON.stringify(rows)]);
}

const STORE = `
  with given as (
    select * from json_to_recordset($3::text::json)
      as g("sessionId" text, "userAgent" text, "startedAt" timestamptz, count int, body text)),
  kept as (
    insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, closed_at)
    select $1, "sessionId", $2, "startedAt", ("startedAt" at time zone 'UTC')::date, "userAgent", "startedAt" from given
    returning key, day, session_id)
  insert into session_traces (day, session_key, batches, body)
  select k.day, k.key, g.count, decode(g.body, 'base64') from kept k join given g on g."sessionId" = k.session_id`;
