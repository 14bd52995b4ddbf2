import { timingSafeEqual } from 'node:crypto';
import { TRPCError } from '@trpc/server';
import { findApiError } from '../../contract/errors';
import { type IngestAnswer, ingestInput, ingestOutput } from '../pipeline/facts';
import { isInvalidFactError } from '../pipeline/ingest';
import type { Context } from './context';
import { publicProcedure, router } from './trpc';

/**
 * Ingests a batch of 1 to 500 facts, in order, in one transaction, all or nothing. The caller needs the pipeline's token;
 * `readInput` is called only after the token was checked. Errors: 401 for a wrong token, 503 if no token is configured, 404
 * for an unknown integration, 400 with `error.data.factIndex` for an invalid fact. The pipeline's endpoint calls this without
 * tRPC's middleware, which would cost more than the rest of the endpoint.
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

/** Converts a refusal of facts to a TRPCError. Returns other errors unchanged. */
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
  /** Ingests facts. Not part of the public API. `ingestFacts` itself reads the input, after it has checked the token. */
  ingest: publicProcedure
    .use(({ getRawInput, next }) => next({ ctx: { readInput: getRawInput } }))
    .output(ingestOutput)
    .mutation(({ ctx }) => ingestFacts(ctx, ctx.readInput)),
});
