import { errorRatesSchema, reviewSampleSchema } from '../../contract/error-rates';
import { getErrorRates } from '../domain/error-rates';
import { setReviewSampleSize } from '../domain/review-draws';
import { integrationAdminProcedure, integrationProcedure, router } from './trpc';

/** Error rates of the score and the random sample behind them, for staff. Not part of the public API. */
export const errorRatesRouter = router({
  get: integrationProcedure.output(errorRatesSchema).query(({ ctx }) => getErrorRates(ctx.domain)),
  setSampleSize: integrationAdminProcedure
    .input(reviewSampleSchema)
    .output(reviewSampleSchema)
    .mutation(({ ctx, input }) => setReviewSampleSize(ctx.domain, input)),
});
