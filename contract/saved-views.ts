import { z } from 'zod';
import { idText, nameText, text, wireInstant } from './fields';

// Lists that staff have named, for staff: a page of the dashboard with its filters and its order.

/** The pages that can be saved. */
export const VIEW_PAGES = ['sessions', 'users', 'courses', 'anomalies', 'alerts'] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];

/** The most views of an integration. */
export const MAX_VIEWS = 100;
const MAX_NAME_LENGTH = 60;
const MAX_QUERY_LENGTH = 4_000;

export const savedViewSchema = z.object({
  id: z.string(),
  page: z.enum(VIEW_PAGES),
  name: z.string(),
  query: z.string().describe('The query of its address, without `?`.'),
  createdAt: wireInstant(),
  createdBy: z.string().nullable(),
});
export type SavedView = z.infer<typeof savedViewSchema>;

export const createViewInput = z.object({
  page: z.enum(VIEW_PAGES),
  name: nameText(MAX_NAME_LENGTH),
  query: text(0, MAX_QUERY_LENGTH),
});
export type CreateViewInput = z.output<typeof createViewInput>;
export const viewIdInput = z.object({ id: idText() });
