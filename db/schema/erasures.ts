import { sql } from 'drizzle-orm';
import { boolean, index, jsonb, pgTable, primaryKey, uniqueIndex } from 'drizzle-orm/pg-core';
import { bytes, identifier, instant } from './columns';

/** How far an erasure is. Each step can be repeated. */
export interface ErasurePosition {
  /** The place in the list of steps (`server/erasure/erasures.ts`). */
  step: number;
  /** Where the step goes on: a key, written by the step. */
  after?: unknown;
}

/** What is known of the user, to look for in texts. */
export interface KnownUser {
  id: string;
  name: string | null;
  email: string | null;
  url: string | null;
}

/** What an erasure has changed, counted in the transactions that changed it. */
export type ErasureCounts = Record<'sessions' | 'traces' | 'events' | 'deliveries' | 'reports' | 'texts', number>;

/**
 * Erasures of users, and receipts of them. While one runs, its row names the user, because the rest of the database still does.
 * Afterwards only a keyed hash is left, by which later facts about the user are refused, until that ends too.
 */
export const userErasures = pgTable(
  'user_erasures',
  {
    integrationId: identifier('integration_id').notNull(),
    id: identifier('id').notNull(),
    /** Null from `refusedUntil` on. */
    userHash: bytes('user_hash'),
    refusedUntil: instant('refused_until').notNull(),
    /** The user's id, what to look for in texts, and the id that replaces theirs. Null when the erasure is complete. */
    userId: identifier('user_id'),
    knownUser: jsonb('known_user').$type<KnownUser>(),
    pseudonym: identifier('pseudonym'),
    /** Whether the counts have the pseudonym already. From then on a trigger counts changes of the user's sessions as its. */
    areCountsMoved: boolean('are_counts_moved').notNull().default(false),
    position: jsonb('position').$type<ErasurePosition>().notNull(),
    counts: jsonb('counts').$type<ErasureCounts>().notNull(),
    requestedAt: instant('requested_at').notNull().defaultNow(),
    /** When the engine last got a wake-up for it, or worked on it. */
    wokenAt: instant('woken_at').notNull().defaultNow(),
    completedAt: instant('completed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.id] }),
    uniqueIndex('user_erasures_running').on(table.integrationId, table.userId).where(sql`user_id is not null`),
    index('user_erasures_hash').on(table.integrationId, table.userHash).where(sql`user_hash is not null`),
    index('user_erasures_woken').on(table.wokenAt).where(sql`completed_at is null`),
    index('user_erasures_refused').on(table.refusedUntil).where(sql`user_hash is not null`),
  ],
);
