import { bigint, date, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { identifier } from './columns';

const counter = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** Requests of an integration by UTC day and documented route. `path` is the route template, or `(unmatched)`. */
export const usageDaily = pgTable(
  'usage_daily',
  {
    integrationId: identifier('integration_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    requests: counter('requests'),
    clientErrors: counter('client_errors'),
    serverErrors: counter('server_errors'),
    /** The part of the client errors that hit the rate limit. */
    rateLimited: counter('rate_limited'),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.day, table.method, table.path] })],
);
