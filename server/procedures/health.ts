import { z } from 'zod';
import { healthSchema } from '../../contract/health';
import { API_VERSION } from '../../contract/version';
import { publicProcedure, router } from './trpc';

export const healthRouter = router({
  get: publicProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/health',
        operationId: 'getHealth',
        tags: ['Health'],
        protect: false,
        summary: 'Whether the service answers',
      },
    })
    .input(z.object({}))
    .output(healthSchema)
    .query(() => ({ status: 'ok', version: API_VERSION, timestamp: new Date().toISOString() })),
});
