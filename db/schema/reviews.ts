import { date, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { identifier, instant } from './columns';

// What the review desk keeps. Verdicts are in `sessions.ts`.

/** Days (UTC) of which sessions were drawn at random for review, from how many. */
export const reviewDraws = pgTable(
  'review_draws',
  {
    integrationId: identifier('integration_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    population: integer('population').notNull(),
    drawnAt: instant('drawn_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.day] })],
);

/** The sessions drawn, in random order. Their score is hidden until they have a verdict. */
export const reviewSample = pgTable(
  'review_sample',
  {
    integrationId: identifier('integration_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    position: integer('position').notNull(),
    sessionId: identifier('session_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.day, table.position] }),
    index('review_sample_session').on(table.integrationId, table.sessionId),
  ],
);

/** Lists that staff have named: a page of the dashboard and its filters. Everyone who sees the integration sees them. */
export const savedViews = pgTable(
  'saved_views',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    /** The page's path in the integration, such as `sessions`. */
    page: text('page').notNull(),
    name: text('name').notNull(),
    /** The query of its address, without `?`. */
    query: text('query').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    createdBy: text('created_by'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    uniqueIndex('saved_views_name').on(table.integrationId, table.page, table.name),
  ],
);
