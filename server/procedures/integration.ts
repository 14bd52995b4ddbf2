import { z } from 'zod';
import { integrationSchema } from '../../contract/integrations';
import { getIntegration } from '../domain/integrations';
import { integrationProcedure, router } from './trpc';

export const integrationRouter = router({
  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/integration',
        operationId: 'getIntegration',
        tags: ['Self'],
        summary: 'Get the integration that the key resolves to',
      },
    })
    .input(z.object({}))
    .output(integrationSchema)
    .query(({ ctx }) => getIntegration(ctx.domain)),
});
