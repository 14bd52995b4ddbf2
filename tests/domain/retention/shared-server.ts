import { afterAll, beforeAll } from 'vitest';
import type { Customer } from '../../support/customer';
import { closed, correlated, happened, scored, started } from '../../support/facts';
import { startTestServer, type TestServer } from '../../support/server';

// One server for all tests of retention.

export let server: TestServer;

export function shareRetentionServer(): void {
  beforeAll(async () => {
    server = await startTestServer();
    // Its crons would remove what these tests count.
    await server.service.engine!.stop(0);
  });
  afterAll(() => server.stop());
}

const DAY_MS = 86_400_000;
export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

/** A whole session that began so many days ago, with a course and a user. */
export const sessionOf = (id: string, days: number, botScore: number) => {
  const at = daysAgo(days);
  return [
    started(id, { startedAt: at, pageUrl: 'https://lms.example.edu/courses/42', deviceFingerprint: `fp-${id}` }),
    happened(id, [{ sequence: 1, timestamp: at }]),
    closed(id, { closedAt: at }),
    scored(id, botScore, { scoredAt: at, detectionFlags: ['webdriver', 'linear-mouse'] }),
    correlated(id, 'u', { correlatedAt: at }),
  ];
};

/** Inserts webhooks that were deleted so many minutes ago, or not (null). */
export const insertWebhooks = ({ id }: Customer, webhooks: [id: string, deletedMinutesAgo: number | null][]) =>
  server.database.db.sql`
    insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
    select ${id}, w ->> 0, 'https://example.com/', 'BotDetected', '', false, '', now() - (w ->> 1)::int * interval '1 minute'
      from json_array_elements(${JSON.stringify(webhooks)}::text::json) w`;
