import { z } from 'zod';
import { riskThresholdsSchema, updateRiskThresholdsInput } from '../../contract/risk-thresholds';
import { getRiskThresholds, updateRiskThresholds } from '../domain/risk-thresholds';
import { integrationProcedure, router } from './trpc';

const tags = ['Risk thresholds'];

export const riskThresholdsRouter = router({
  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/settings/risk-thresholds',
        operationId: 'getRiskThresholds',
        tags,
        summary: 'Get the risk thresholds',
        description: 'The scores, in hundredths, from which a session is `medium` and `bot`.',
      },
    })
    .input(z.object({}))
    .output(riskThresholdsSchema)
    .query(({ ctx }) => getRiskThresholds(ctx.domain)),

  update: integrationProcedure
    .meta({
      openapi: {
        method: 'PUT',
        path: '/v1/settings/risk-thresholds',
        operationId: 'updateRiskThresholds',
        tags,
        summary: 'Replace the risk thresholds',
        description: 'Every session belongs to its new class at once. No webhook fires for it.',
      },
      scope: 'settings:write',
    })
    .input(updateRiskThresholdsInput)
    .output(riskThresholdsSchema)
    .mutation(({ ctx, input }) => updateRiskThresholds(ctx.domain, input)),
});
