import { z } from 'zod';
import {
  anomalyPageSchema,
  anomalySchema,
  findingRuleSchema,
  findingRuleSwitchSchema,
  incidentIdInput,
  listAnomaliesInput,
  listFindingsInput,
  reopenIncidentInput,
  reportPageSchema,
  reportSchema,
  setFindingRuleInput,
} from '../../contract/findings';
import {
  createScheduleInput,
  deletedReportSchema,
  reportIdInput,
  reportJobSchema,
  reportScheduleSchema,
  reportTemplateSchema,
  requestedReportSchema,
  requestReportInput,
} from '../../contract/reports';
import { countAnomaliesInput, totalSchema } from '../../contract/totals';
import { acknowledgeAnomaly, getAnomaly, listAnomalies, reopenAnomaly, resolveAnomaly } from '../domain/anomalies';
import { listDisabledRules, setFindingRule } from '../domain/finding-rules';
import { getReport, listReports } from '../domain/reports';
import { countAnomalies } from '../domain/totals';
import { integrationAdminProcedure, integrationProcedure, router } from './trpc';

// Anomalies and reports, for staff. Not part of the public API.

export const anomaliesRouter = router({
  list: integrationProcedure
    .input(listAnomaliesInput)
    .output(anomalyPageSchema)
    .query(({ ctx, input }) => listAnomalies(ctx.domain, input)),
  get: integrationProcedure
    .input(incidentIdInput)
    .output(anomalySchema)
    .query(({ ctx, input }) => getAnomaly(ctx.domain, input)),
  acknowledge: integrationProcedure
    .input(incidentIdInput)
    .output(anomalySchema)
    .mutation(({ ctx, input }) => acknowledgeAnomaly(ctx.domain, input)),
  resolve: integrationProcedure
    .input(incidentIdInput)
    .output(anomalySchema)
    .mutation(({ ctx, input }) => resolveAnomaly(ctx.domain, input)),
  reopen: integrationProcedure
    .input(reopenIncidentInput)
    .output(anomalySchema)
    .mutation(({ ctx, input }) => reopenAnomaly(ctx.domain, input)),
  count: integrationProcedure
    .input(countAnomaliesInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countAnomalies(ctx.domain, input)),
});

export const reportsRouter = router({
  list: integrationProcedure
    .input(listFindingsInput)
    .output(reportPageSchema)
    .query(({ ctx, input }) => listReports(ctx.domain, input)),
  get: integrationProcedure
    .input(reportIdInput)
    .output(reportSchema)
    .query(({ ctx, input }) => getReport(ctx.domain, input)),
  templates: integrationProcedure
    .output(z.array(reportTemplateSchema))
    .query(({ ctx }) => ctx.service.reports.listTemplates()),
  jobs: integrationProcedure
    .output(z.array(reportJobSchema))
    .query(({ ctx }) => ctx.service.reports.listJobs(ctx.domain)),
  request: integrationProcedure
    .input(requestReportInput)
    .output(requestedReportSchema)
    .mutation(({ ctx, input }) => ctx.service.reports.request(ctx.domain, input)),
  delete: integrationProcedure
    .input(reportIdInput)
    .output(deletedReportSchema)
    .mutation(({ ctx, input }) => ctx.service.reports.delete(ctx.domain, input.id)),
  listSchedules: integrationProcedure
    .output(z.array(reportScheduleSchema))
    .query(({ ctx }) => ctx.service.reports.listSchedules(ctx.domain)),
  createSchedule: integrationAdminProcedure
    .input(createScheduleInput)
    .output(requestedReportSchema)
    .mutation(({ ctx, input }) => ctx.service.reports.createSchedule(ctx.domain, input)),
  deleteSchedule: integrationAdminProcedure
    .input(reportIdInput)
    .output(deletedReportSchema)
    .mutation(({ ctx, input }) => ctx.service.reports.deleteSchedule(ctx.domain, input.id)),
});

/** What is looked for, and what of it is switched off. */
export const findingRulesRouter = router({
  list: integrationProcedure.output(z.array(findingRuleSchema)).query(async ({ ctx }) => {
    const disabled = await listDisabledRules(ctx.domain);
    return ctx.service.findings.rules.map(({ name: rule, definition }) => ({
      ...{ rule, definition, isEnabled: !disabled.includes(rule) },
    }));
  }),
  set: integrationAdminProcedure
    .input(setFindingRuleInput)
    .output(findingRuleSwitchSchema)
    .mutation(({ ctx, input }) => setFindingRule(ctx.domain, input)),
});
