import { healthRouter } from './health';
import { integrationRouter } from './integration';
import { pipelineRouter } from './pipeline';
import { sessionsRouter } from './sessions';
import { router } from './trpc';
import { webhooksRouter } from './webhooks';

/** The product's core: REST, the dashboard and the pipeline all call these procedures. */
export const appRouter = router({
  health: healthRouter,
  sessions: sessionsRouter,
  webhooks: webhooksRouter,
  integration: integrationRouter,
  pipeline: pipelineRouter,
});
export type AppRouter = typeof appRouter;
