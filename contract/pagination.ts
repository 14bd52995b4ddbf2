import { z } from 'zod';
import { int32, wireText } from './fields';
import { TIERS, type Tier } from './tiers';
import { parseCompiled } from './zod-internals';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
/** An id may take 1,024 bytes, and a cursor contains the last id of its page. */
export const MAX_CURSOR_LENGTH = 2048;

const EXAMPLE_CURSOR = 'AXkP0mZ2bH0r3cKp7Q1vXw9bIjIwMjYtMDEtMzFUMDk6MzA6MDAuMDAwWiIsInNlc181SGsybVEiXQ';

/** The query parameters of every paginated route (specification: Pagination). */
export const pageQuery = {
  cursor: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_CURSOR_LENGTH, `must have at most ${MAX_CURSOR_LENGTH} characters`)
    .describe(
      'Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.',
    )
    .optional(),
  pageSize: z
    .number()
    .refine(Number.isInteger, 'must be a whole number')
    .min(1, 'must be between 1 and 100')
    .max(MAX_PAGE_SIZE, 'must be between 1 and 100')
    .default(DEFAULT_PAGE_SIZE)
    .meta({ type: 'integer', description: 'Items a page, 1 to 100; clamped to the cap of the tier.' }),
};

export interface Page<T> {
  data: T[];
  pagination: { nextCursor?: string; hasMore: boolean; limit: number };
}

/** The envelope of a paginated collection. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  parseCompiled(
    z.object({
      data: z.array(item),
      pagination: z.object({
        nextCursor: wireText(EXAMPLE_CURSOR).optional().describe('Present when `hasMore` is true.'),
        hasMore: z.boolean().describe('False ends the walk.').meta({ example: true }),
        limit: int32(50).describe('The page size in effect, possibly smaller than requested.'),
      }),
    }),
  );

/** The page size in effect for a tier. */
export const clampPageSize = (pageSize: number, tier: Tier) => Math.min(pageSize, TIERS[tier].maxPageSize);
