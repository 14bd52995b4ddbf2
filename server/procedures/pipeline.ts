import { ingestInput, ingestOutput } from '../pipeline/facts';
import { pipelineProcedure, router } from './trpc';

export const pipelineRouter = router({
  /**
   * The door for the pipeline's facts: 1 to 500, applied in order in one transaction, all or nothing. Not part of the
   * public API. 401 bad token, 503 closed, 404 unknown integration, 400 with `error.data.factIndex`.
   */
  ingest: pipelineProcedure
    .input(ingestInput)
    .output(ingestOutput)
    .mutation(({ ctx, input }) => ctx.service.ingester.ingestFacts(input)),
});
