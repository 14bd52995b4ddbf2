import { alertRulesRouter, alertsRouter } from './alerts';
import { analyticsRouter, statsRouter, usageRouter } from './analytics';
import { auditRouter } from './audit';
import { coursesRouter } from './courses';
import { deliveriesRouter } from './deliveries';
import { anomaliesRouter, findingRulesRouter, reportsRouter } from './findings';
import { healthRouter } from './health';
import { integrationRouter } from './integration';
import { apiKeysRouter, integrationsRouter } from './integrations';
import { pipelineRouter } from './pipeline';
import { riskThresholdsRouter } from './risk-thresholds';
import { sessionsRouter } from './sessions';
import { sitesRouter } from './sites';
import { staffRouter } from './staff';
import { router } from './trpc';
import { usersRouter } from './users';
import { webhooksRouter } from './webhooks';
import { writingRouter } from './writing';

/** All procedures. REST, the dashboard and the pipeline call them. */
export const appRouter = router({
  health: healthRouter,
  sessions: sessionsRouter,
  users: usersRouter,
  courses: coursesRouter,
  analytics: analyticsRouter,
  stats: statsRouter,
  usage: usageRouter,
  riskThresholds: riskThresholdsRouter,
  webhooks: webhooksRouter,
  deliveries: deliveriesRouter,
  integration: integrationRouter,
  integrations: integrationsRouter,
  apiKeys: apiKeysRouter,
  sites: sitesRouter,
  anomalies: anomaliesRouter,
  findingRules: findingRulesRouter,
  alerts: alertsRouter,
  alertRules: alertRulesRouter,
  reports: reportsRouter,
  writing: writingRouter,
  staff: staffRouter,
  audit: auditRouter,
  pipeline: pipelineRouter,
});
export type AppRouter = typeof appRouter;
