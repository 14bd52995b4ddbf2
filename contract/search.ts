import { z } from 'zod';
import { text, wireInstant } from './fields';

// The search of everything, for staff.

/** What is found, in the order in which results show it. */
export const FOUND_KINDS = [
  ...(['user', 'session', 'course', 'device', 'webhook', 'alertRule', 'alert', 'report'] as const),
] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

/** The most results of a kind. */
export const MAX_FOUND = 5;

export const findInput = z.object({ query: text(1, 200) });
export type FindInput = z.infer<typeof findInput>;

export const searchResultSchema = z.object({
  kind: z.enum(FOUND_KINDS),
  id: z.string(),
  title: z.string(),
  /** A second line, which tells things of one name apart. */
  detail: z.string().nullable(),
  at: wireInstant().nullable().describe('When it was last seen, began, fired or was made.'),
});
export type SearchResult = z.infer<typeof searchResultSchema>;
