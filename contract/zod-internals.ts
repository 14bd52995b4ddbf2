import type { z } from 'zod';

// Everything that reaches into the inside of zod 4. `tests/domain/library-internals.test.ts` fails when an upgrade moves it.

/**
 * Makes a schema's asynchronous parser the synchronous one, which zod compiles. Replaces `parseAsync`: tRPC prefers it, zod does
 * not compile it, and a page of 50 sessions takes a tenth more CPU time. Nothing in the schema may wait.
 */
export function parseCompiled<T extends z.ZodType>(schema: T): T {
  schema.parseAsync = async (value, params) => schema.parse(value, params);
  return schema;
}
