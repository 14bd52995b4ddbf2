import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldCounts } from '../support/count-rows';
import { Customer } from '../support/customer';
import { eventually } from '../support/eventually';
import * as facts from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import { keepSending } from '../support/traffic';

const SESSIONS = 10_000;
/** Between two batches about others. Without it they take most of the machine. */
const PAUSE_MS = 50;
/** Takes 33 to 59 s in a whole run on two cores. */
const LIMIT_MS = 150_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('a user with 10,000 sessions is erased while facts about others are taken', async () => {
  const customer = await Customer.create(server, [facts.started('first'), facts.correlated('first', 'ada-4711')]);
  const { sql } = server.database.db;
  await sql`
    insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser,
                          fingerprint, bot_score, score_bin, scored_at, user_id, correlation_confidence, correlated_at)
    select ${customer.id}, 's' || n, now() - n * interval '1 minute', 'Scored', 'https://lms.example.edu/people/ada-4711?n=' || n,
           'https://lms.example.edu', ${facts.CHROME}, 'Chrome 142 on Windows', 'desktop', 'Chrome', 'device-' || n % 7, 0.8, 80, now(),
           case when n <= ${SESSIONS} then 'ada-4711' else 'ben' end, 0.9, now()
      from generate_series(1, ${2 * SESSIONS}) n`;
  await sql`
    insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
    select integration_id, id, n, 'mouse', created_at, page_url, 1 from sessions, generate_series(0, 9) n where integration_id = ${customer.id}`;
  await sql`
    insert into session_scores (integration_id, session_id, scored_at, bot_score, detection_flags)
    select integration_id, id, scored_at, bot_score, '{}' from sessions where integration_id = ${customer.id} and scored_at is not null`;
  await sql`
    insert into session_correlations (integration_id, session_id, correlated_at, user_id, confidence)
    select integration_id, id, correlated_at, user_id, 0.9 from sessions where integration_id = ${customer.id} on conflict do nothing`;
  await sql`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    select integration_id, 'evt_' || id, 'BotDetected', id, json_build_object('sessionId', id, 'userId', user_id)::text
      from sessions where integration_id = ${customer.id} and id <> 'first'`;
  await foldCounts(server.database.db);
  const before = await customer.read('/v1/stats');

  const startedAt = performance.now();
  const { body } = await server.call('DELETE', '/v1/users/ada-4711', { key: customer.key });
  let [slowestMs, sent] = [0, 0];
  const traffic = keepSending(1, async () => {
    const sentAt = performance.now();
    await customer.accept([facts.scored('s15000', 0.3, { scoredAt: facts.secondsAgo(1 - sent / 1000) })]);
    slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    sent++;
    await sleep(PAUSE_MS);
  });
  await eventually(
    async () => expect((await customer.read(`/v1/user-erasures/${body.data.id}`)).status).toBe('Completed'),
    LIMIT_MS,
  );
  const tookMs = performance.now() - startedAt;
  await traffic.stop();
  // biome-ignore lint/suspicious/noConsole: the figure is what the test is for
  console.info(
    `erased in ${(tookMs / 1000).toFixed(1)} s; the slowest of ${sent} batches of others took ${Math.round(slowestMs)} ms`,
  );

  expect(await customer.read(`/v1/user-erasures/${body.data.id}`)).toMatchObject({
    sessionCount: SESSIONS + 1,
    eventCount: SESSIONS + 1,
  });
  const after = await customer.read('/v1/stats');
  expect([after.totalSessions, after.matchedSessions]).toEqual([before.totalSessions, before.matchedSessions]);
  const [left] =
    await sql`select count(*)::int as n from sessions where integration_id = ${customer.id} and page_url like '%ada-4711%'`;
  expect(left!.n).toBe(0);
});
