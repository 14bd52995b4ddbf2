import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { identifier } from './columns';

/**
 * The words by which staff find users and courses: of names, email addresses and codes, in lower case and without accents
 * (`split_words`). Triggers on both tables write them, so a process of an older version does too.
 */
export const searchWords = pgTable(
  'search_words',
  {
    integrationId: identifier('integration_id').notNull(),
    kind: text('kind').$type<'user' | 'course'>().notNull(),
    word: identifier('word').notNull(),
    id: identifier('id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.integrationId, table.kind, table.word, table.id] })],
);
