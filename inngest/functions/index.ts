import type { Inngest } from 'inngest';
import { type AlertJobs, createAlertFunctions } from './alerts';
import { createDeliveryFunctions, type DeliveryJobs } from './deliveries';
import { createErasureFunctions, type ErasureJobs } from './erasures';
import { createHousekeepingFunctions, type HousekeepingJobs } from './housekeeping';
import { createReportFunctions, type ReportFunctionJobs } from './reports';

/** Everything that the functions call. The functions decide when and how often, the jobs do the work. */
export type Jobs = DeliveryJobs & AlertJobs & ErasureJobs & ReportFunctionJobs & HousekeepingJobs;

/** Creates every function of the product, the same under Inngest and under the embedded engine. */
export function createFunctions(client: Inngest, jobs: Jobs) {
  return [
    ...createDeliveryFunctions(client, jobs),
    ...createAlertFunctions(client, jobs),
    ...createReportFunctions(client, jobs),
    ...createErasureFunctions(client, jobs),
    ...createHousekeepingFunctions(client, jobs),
  ];
}
