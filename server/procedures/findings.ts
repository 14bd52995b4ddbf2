import {
  alertPageSchema,
  anomalyPageSchema,
  listAnomaliesInput,
  listFindingsInput,
  reportPageSchema,
} from '../../contract/findings';
import { listAlerts, listAnomalies, listReports } from '../domain/findings';
import { integrationProcedure, router } from './trpc';

// Anomalies, alerts and reports of the pipeline, for staff. Not part of the public API.

export const anomaliesRouter = router({
  list: integrationProcedure
    .input(listAnomaliesInput)
    .output(anomalyPageSchema)
    .query(({ ctx, input }) => listAnomalies(ctx.domain, input)),
});

export const alertsRouter = router({
  list: integrationProcedure
    .input(listFindingsInput)
    .output(alertPageSchema)
    .query(({ ctx, input }) => listAlerts(ctx.domain, input)),
});

export const reportsRouter = router({
  list: integrationProcedure
    .input(listFindingsInput)
    .output(reportPageSchema)
    .query(({ ctx, input }) => listReports(ctx.domain, input)),
});
