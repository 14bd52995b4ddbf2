import { z } from 'zod';
import {
  alertRuleIdInput,
  alertRulePreviewSchema,
  alertRuleSchema,
  createAlertRuleInput,
  previewAlertRuleInput,
  setAlertRuleEnabledInput,
  updateAlertRuleInput,
} from '../../contract/alert-rules';
import {
  alertPageSchema,
  alertSchema,
  incidentIdInput,
  listAlertsInput,
  reopenIncidentInput,
} from '../../contract/findings';
import { countAlertsInput, totalSchema } from '../../contract/totals';
import {
  createAlertRule,
  deleteAlertRule,
  getAlertRule,
  listAlertRules,
  setAlertRuleEnabled,
  updateAlertRule,
} from '../domain/alert-rules';
import { acknowledgeAlert, getAlert, listAlerts, reopenAlert, resolveAlert } from '../domain/alerts';
import { countAlerts } from '../domain/totals';
import { integrationAdminProcedure, integrationProcedure, router } from './trpc';

// Alerts and the rules that fire them, for staff. Not part of the public API.

export const alertsRouter = router({
  list: integrationProcedure
    .input(listAlertsInput)
    .output(alertPageSchema)
    .query(({ ctx, input }) => listAlerts(ctx.domain, input)),
  count: integrationProcedure
    .input(countAlertsInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countAlerts(ctx.domain, input)),
  get: integrationProcedure
    .input(incidentIdInput)
    .output(alertSchema)
    .query(({ ctx, input }) => getAlert(ctx.domain, input)),
  acknowledge: integrationProcedure
    .input(incidentIdInput)
    .output(alertSchema)
    .mutation(({ ctx, input }) => acknowledgeAlert(ctx.domain, input)),
  resolve: integrationProcedure
    .input(incidentIdInput)
    .output(alertSchema)
    .mutation(({ ctx, input }) => resolveAlert(ctx.domain, input)),
  reopen: integrationProcedure
    .input(reopenIncidentInput)
    .output(alertSchema)
    .mutation(({ ctx, input }) => reopenAlert(ctx.domain, input)),
});

export const alertRulesRouter = router({
  list: integrationProcedure.output(z.array(alertRuleSchema)).query(({ ctx }) => listAlertRules(ctx.domain)),
  get: integrationProcedure
    .input(alertRuleIdInput)
    .output(alertRuleSchema)
    .query(({ ctx, input }) => getAlertRule(ctx.domain, input)),
  /** Says when a rule would have fired, before it is saved. */
  preview: integrationProcedure
    .input(previewAlertRuleInput)
    .output(alertRulePreviewSchema)
    .query(({ ctx, input }) => ctx.service.alertRules.preview(ctx.domain.integration.id, input)),
  create: integrationAdminProcedure
    .input(createAlertRuleInput)
    .output(alertRuleSchema)
    .mutation(({ ctx, input }) => createAlertRule(ctx.domain, input)),
  update: integrationAdminProcedure
    .input(updateAlertRuleInput)
    .output(alertRuleSchema)
    .mutation(({ ctx, input }) => updateAlertRule(ctx.domain, input)),
  setEnabled: integrationAdminProcedure
    .input(setAlertRuleEnabledInput)
    .output(alertRuleSchema)
    .mutation(({ ctx, input }) => setAlertRuleEnabled(ctx.domain, input)),
  delete: integrationAdminProcedure
    .input(alertRuleIdInput)
    .output(z.object({ id: z.string() }))
    .mutation(({ ctx, input }) => deleteAlertRule(ctx.domain, input)),
});
