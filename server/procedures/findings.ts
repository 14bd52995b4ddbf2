import { z } from 'zod';
import {
  anomalyPageSchema,
  findingRuleSchema,
  findingRuleSwitchSchema,
  listAnomaliesInput,
  listFindingsInput,
  reportPageSchema,
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
import { listDisabledRules, setFindingRule } from '../domain/finding-rules';
import { listAnomalies, listReports } from '../domain/findings';
import { integrationAdminProcedure, integrationProcedure, router } from './trpc';

// Anomalies and reports, for staff. Not part of the public API.

export const anomaliesRouter = router({
  list: integrationProcedure
    .input(listAnomaliesInput)
    .output(anomalyPageSchema)
    .query(({ ctx, input }) => listAnomalies(ctx.domain, input)),
});

export const reportsRouter = router({
  list: integrationProcedure
    .input(listFindingsInput)
    .output(reportPageSchema)
    .query(({ ctx, input }) => listReports(ctx.domain, input)),
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
