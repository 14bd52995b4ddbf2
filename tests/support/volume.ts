import type { Database } from '../../db/client';

/** A tenant with as many rows as a real one, and the things that its calls name. */
export interface Volume {
  integrationId: string;
  sessions: number;
}

/** Contents of every volume, with the same names in each. */
export const IN_VOLUME = {
  // Primes, so that their members are scattered.
  users: 401,
  courses: 211,
  devices: 1_009,
  origin: 'https://lms1.example.edu',
  /** A session with many events. The others have one. */
  longSession: 'ses-1',
  eventsOfLongSession: 300,
  /** Each of these has about a tenth of all sessions. */
  busiest: { userId: 'user-00000', courseId: 'course-00000', fingerprint: 'device-00000' },
};

/**
 * Fills tenants directly in the tables: sessions of 90 days in random order of time, a tenth of them with one user, one
 * course and one device. Renews the statistics.
 */
export async function loadVolumes({ sql }: Database, volumes: Volume[]): Promise<void> {
  await sql.begin(async (tx) => {
    // Building them at once afterwards takes a fraction of the time.
    const indexes = await tx<{ name: string; definition: string }[]>`
      select i.indexname as name, i.indexdef as definition from pg_indexes i
       where i.tablename = 'sessions' and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`;
    for (const { name } of indexes) await tx`drop index ${tx(name)}`;
    for (const volume of volumes)
      for (const statement of STATEMENTS) await tx.unsafe(statement, parametersOf(statement, volume));
    for (const { definition } of indexes) await tx.unsafe(definition);
  });
  await sql.unsafe('analyze');
}

/** Inserts sessions with long addresses, one a second before the other, `ses-1` the newest. A row of a file takes about 2 kB. */
export const insertWideSessions = ({ sql }: Database, integrationId: string, count: number) => sql`
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
  select ${integrationId}, 'ses-' || n, now() - n * interval '1 s', 'Scored', 'https://lms/' || repeat('x', 1500), 'https://lms', '', '', 'desktop', 'Chrome'
    from generate_series(1, ${count}::int) n`;

const parametersOf = (statement: string, { integrationId, sessions }: Volume) =>
  statement.includes('$2') ? [integrationId, sessions] : [integrationId];

/** Gives a tenth of the rows to the first value. */
const spread = (prefix: string, count: number, salt: number) =>
  `'${prefix}-' || lpad((case when n % 10 = ${salt} then 0 else (n * 7919 + ${salt}) % ${count} end)::text, 5, '0')`;

/** What stands next to the sessions of a tenant that are there: anomalies, usage, webhooks and deliveries. */
export const NEXT_TO_SESSIONS = [
  `insert into anomalies (integration_id, id, type, severity, detected_at, session_id, user_id)
     select integration_id, 'anomaly-' || id, 'SharedDevice', 'high', created_at, id, user_id from sessions
      where integration_id = $1 and score_bin < 10 on conflict do nothing`,
  `insert into usage_daily (integration_id, day, method, path, requests, client_errors, server_errors, rate_limited)
     select $1, current_date - d, 'GET', '/v1/path-' || p, 100, 1, 0, 0 from generate_series(0, 89) d, generate_series(1, 15) p`,
  `insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed)
     select $1, 'whk-' || n, 'https://example.com/', 'BotDetected', 'own', true, '' from generate_series(1, 10) n`,
  `insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, created_at, finished_at)
     select integration_id, 'dlv-' || id, 'whk-1', 'evt-' || id, 'Delivered', 1, created_at, created_at from sessions
      where integration_id = $1 and score_bin >= 80`,
];

const STATEMENTS = [
  `insert into sessions (integration_id, id, created_at, updated_at, closed_at, status, page_url, origin, user_agent,
       user_agent_summary, device_type, browser, country, fingerprint, bot_score, score_bin, scored_at, detection_flags,
       user_id, correlation_confidence, correlated_at, course_id, event_count, label, labeled_at)
     select $1, 'ses-' || n, at, at, at + interval '5 minutes', 'Scored', origin || '/courses/1', origin, 'a browser',
       'Chrome 142 on Windows', (array['desktop', 'mobile', 'tablet'])[1 + n % 3], (array['Chrome', 'Safari'])[1 + n % 2],
       'US', ${spread('device', IN_VOLUME.devices, 3)}, score / 100.0, score, at + interval '6 minutes',
       case when n % 10 = 0 then array['webdriver'] else '{}' end,
       case when n % 5 > 0 then ${spread('user', IN_VOLUME.users, 1)} end, case when n % 5 > 0 then 0.9 end,
       case when n % 5 > 0 then at end, ${spread('course', IN_VOLUME.courses, 2)}, 3,
       case when n % 10 = 4 then 1 end, case when n % 10 = 4 then at end
     from (select n, now() - n * 104729 % 7776000 * interval '1 s' as at, (n * 31 % 100)::int as score,
                  'https://lms' || n % 3 || '.example.edu' as origin
             from generate_series(1, $2::bigint) n) s`,
  `insert into session_flags (integration_id, flag, created_at, session_id)
     select integration_id, unnest(detection_flags), created_at, id from sessions where integration_id = $1`,
  `insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
     select integration_id, id, sequence, case when sequence % 2 = 0 then 'mouse' else 'navigation' end,
       created_at + sequence * interval '1 s', page_url, 1
     from sessions, generate_series(0, case id when '${IN_VOLUME.longSession}' then ${IN_VOLUME.eventsOfLongSession - 1} else 0 end) sequence
     where integration_id = $1`,
  `insert into users (integration_id, id, name, described_at)
     select distinct integration_id, user_id, 'Somebody', now() from sessions where integration_id = $1 and user_id is not null`,
  `insert into courses (integration_id, id, name, url)
     select distinct integration_id, course_id, 'Course', 'https://lms1.example.edu/courses/1' from sessions where integration_id = $1`,
  `insert into device_confirmations (integration_id, user_id, fingerprint)
     select distinct integration_id, user_id, fingerprint from sessions
      where integration_id = $1 and user_id is not null and score_bin < 5`,
  ...NEXT_TO_SESSIONS,
];
