import { TRPCError } from '@trpc/server';
import { type IngestAnswer, type IngestInput, ingestInput, ingestOutput } from '../pipeline/facts';
import type { Context } from './context';
import { checkPipelineToken, publicProcedure, router, toPipelineError } from './trpc';

/**
 * What `ingest` does, without tRPC's middleware, which would cost more than all the rest of the door. `readRaw` is called
 * only for the holder of the token.
 */
export async function callIngest(ctx: Context, readRaw: () => Promise<unknown>): Promise<IngestAnswer> {
  checkPipelineToken(ctx);
  const input = ingestInput.safeParse(await readRaw());
  if (!input.success) throw new TRPCError({ code: 'BAD_REQUEST', cause: input.error });
  return ingestFacts(ctx, input.data);
}

async function ingestFacts({ service }: Context, input: IngestInput): Promise<IngestAnswer> {
  try {
    return await service.ingester.ingestFacts(input);
  } catch (error) {
    throw toPipelineError(error);
  }
}

export const pipelineRouter = router({
  /**
   * The door for the pipeline's facts: 1 to 500, applied in order in one transaction, all or nothing. Not part of the
   * public API. 401 bad token, 503 closed, 404 unknown integration, 400 with `error.data.factIndex`.
   */
  ingest: publicProcedure
    .use(({ ctx, next }) => {
      checkPipelineToken(ctx);
      return next();
    })
    .input(ingestInput)
    .output(ingestOutput)
    .mutation(({ ctx, input }) => ingestFacts(ctx, input)),
});
