import { z } from 'zod';
import { analyticsInput, analyticsSchema, scoreDistributionSchema } from '../../contract/analytics';
import { statsSchema } from '../../contract/stats';
import { usageInput, usageSchema } from '../../contract/usage';
import { getAnalytics, getScoreDistribution, getStats } from '../domain/analytics';
import { getUsage } from '../domain/usage';
import { integrationProcedure, router } from './trpc';

export const analyticsRouter = router({
  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/analytics',
        operationId: 'getAnalytics',
        tags: ['Analytics'],
        summary: 'Get analytics of a window that ends now',
        description:
          'Counts of the sessions that began in the window: a time series, and sums by risk class, user, origin and device. Every number covers the same sessions, so the series adds up to the summary.',
      },
      errors: ['UNSUPPORTED_OPERATION'],
    })
    .input(analyticsInput)
    .output(analyticsSchema)
    .query(({ ctx, input }) => getAnalytics(ctx.domain, input)),

  getScoreDistribution: integrationProcedure
    .output(scoreDistributionSchema)
    .query(({ ctx }) => getScoreDistribution(ctx.domain)),
});

export const statsRouter = router({
  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/stats',
        operationId: 'getStats',
        tags: ['Stats'],
        summary: 'Get counters of the integration',
        description: 'Counts over everything that the integration has, exact at the time of the request.',
      },
    })
    .input(z.object({}))
    .output(statsSchema)
    .query(({ ctx }) => getStats(ctx.domain)),
});

export const usageRouter = router({
  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/usage',
        operationId: 'getUsage',
        tags: ['Usage'],
        summary: 'Get the API consumption of the integration',
        description:
          'Requests of all its keys by whole UTC days, the last 30 by default and at most 366. Requests of the last seconds may still be missing.',
      },
    })
    .input(usageInput)
    .output(usageSchema)
    .query(({ ctx, input }) => getUsage(ctx.domain, input)),
});
