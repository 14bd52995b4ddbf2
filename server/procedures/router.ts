import { alertRulesRouter, alertsRouter } from './alerts';
import { analyticsRouter, statsRouter, usageRouter } from './analytics';
import { auditLogRouter, auditRouter } from './audit';
import { coursesRouter } from './courses';
import { deliveriesRouter } from './deliveries';
import { errorRatesRouter } from './error-rates';
import { anomaliesRouter, findingRulesRouter, reportsRouter } from './findings';
import { healthRouter } from './health';
import { integrationRouter } from './integration';
import { apiKeysRouter, integrationsRouter } from './integrations';
import { invitationsRouter } from './invitations';
import { pipelineRouter } from './pipeline';
import { recordingsRouter } from './recordings';
import { reviewRouter } from './review';
import { riskThresholdsRouter } from './risk-thresholds';
import { savedViewsRouter, searchRouter } from './search';
import { sessionsRouter } from './sessions';
import { setupRouter } from './setup';
import { sitesRouter } from './sites';
import { staffRouter } from './staff';
import { router } from './trpc';
import { usersRouter } from './users';
import { webhookEventsRouter } from './webhook-events';
import { webhookStatesRouter } from './webhook-states';
import { webhooksRouter } from './webhooks';
import { writingRouter } from './writing';

/** All procedures. REST, the dashboard and the pipeline call them. */
export const appRouter = router({
  health: healthRouter,
  sessions: sessionsRouter,
  review: reviewRouter,
  users: usersRouter,
  courses: coursesRouter,
  analytics: analyticsRouter,
  stats: statsRouter,
  usage: usageRouter,
  riskThresholds: riskThresholdsRouter,
  errorRates: errorRatesRouter,
  webhooks: webhooksRouter,
  webhookEvents: webhookEventsRouter,
  webhookStates: webhookStatesRouter,
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
  recordings: recordingsRouter,
  setup: setupRouter,
  search: searchRouter,
  savedViews: savedViewsRouter,
  staff: staffRouter,
  invitations: invitationsRouter,
  audit: auditRouter,
  auditLog: auditLogRouter,
  pipeline: pipelineRouter,
});
export type AppRouter = typeof appRouter;
