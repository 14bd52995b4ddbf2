import { timingSafeEqual } from 'node:crypto';
import { TRPCError } from '@trpc/server';
import { findApiError } from '../../contract/errors';
import { type IngestAnswer, ingestInput, ingestOutput } from '../pipeline/facts';
import { isInvalidFactError } from '../pipeline/ingest';
import type { Context } from './context';
import { publicProcedure, router } from './trpc';

/**
 * Ingests a batch of facts for the holder of the pipeline's token: 1 to 500, applied in order in one transaction, all or
 * nothing. `readInput` is called only for that holder. 401 bad token, 503 closed, 404 unknown integration, 400 with
 * `error.data.factIndex`. The door calls it without tRPC's middleware, which would cost more than all the rest of the door.
 */
export async function ingestFacts(
  { service, caller }: Context,
  readInput: () => Promise<unknown>,
): Promise<IngestAnswer> {
  const expected = service.env.PIPELINE_TOKEN;
  if (!expected)
    throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The pipeline is closed: PIPELINE_TOKEN is not set' });
  if (caller.kind !== 'bearer' || caller.token === null || !isSameSecret(caller.token, expected))
    throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Invalid pipeline token' });
  const input = ingestInput.safeParse(await readInput());
  if (!input.success) throw new TRPCError({ code: 'BAD_REQUEST', cause: input.error });
  try {
    return await service.ingester.ingestFacts(input.data);
  } catch (error) {
    throw toTrpcRefusal(error);
  }
}

/** What a refusal of facts is to tRPC; other faults stay what they are. */
function toTrpcRefusal(cause: unknown): unknown {
  const apiError = findApiError(cause);
  if (apiError?.code === 'NOT_FOUND') return new TRPCError({ code: 'NOT_FOUND', message: apiError.message, cause });
  if (isInvalidFactError(cause)) return new TRPCError({ code: 'BAD_REQUEST', message: cause.message, cause });
  return cause;
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const pipelineRouter = router({
  /** The door for the pipeline's facts. Not part of the public API. `ingestFacts` itself reads the input, after the token. */
  ingest: publicProcedure
    .use(({ getRawInput, next }) => next({ ctx: { readInput: getRawInput } }))
    .output(ingestOutput)
    .mutation(({ ctx }) => ingestFacts(ctx, ctx.readInput)),
});
