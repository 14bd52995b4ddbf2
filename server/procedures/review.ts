import { z } from 'zod';
import {
  listCasesInput,
  listQueueInput,
  listVerdictsInput,
  reviewCaseSchema,
  reviewQueueSchema,
  setVerdictsInput,
  setVerdictsSchema,
  toldVerdictsSchema,
  undoVerdictsInput,
  undoVerdictsSchema,
} from '../../contract/review';
import { setVerdicts, undoVerdicts } from '../domain/bulk-verdicts';
import { listCases, listQueue, listVerdicts } from '../domain/review-queue';
import { integrationProcedure, router } from './trpc';

/** The review page, for staff. Not part of the public API. */
export const reviewRouter = router({
  listQueue: integrationProcedure
    .input(listQueueInput)
    .output(reviewQueueSchema)
    .query(({ ctx, input }) => listQueue(ctx.domain, input)),
  listCases: integrationProcedure
    .input(listCasesInput)
    .output(z.array(reviewCaseSchema))
    .query(({ ctx, input }) => listCases(ctx.domain, input)),
  listVerdicts: integrationProcedure
    .input(listVerdictsInput)
    .output(toldVerdictsSchema)
    .query(({ ctx, input }) => listVerdicts(ctx.domain, input)),
  setVerdicts: integrationProcedure
    .input(setVerdictsInput)
    .output(setVerdictsSchema)
    .mutation(({ ctx, input }) => setVerdicts(ctx.domain, input)),
  undoVerdicts: integrationProcedure
    .input(undoVerdictsInput)
    .output(undoVerdictsSchema)
    .mutation(({ ctx, input }) => undoVerdicts(ctx.domain, input)),
});
