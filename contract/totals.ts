import { z } from 'zod';
import { listAuditEntriesInput } from './audit';
import { listDeliveriesInput } from './deliveries';
import { listAlertsInput, listAnomaliesInput } from './findings';
import { listSessionsInput } from './sessions';

// How many rows a list has, for staff.

/** Rows that no count knows are counted up to here. */
export const MAX_COUNTED = 1_000;

/** Not exact: there are more than `count`. Null: counting would mean to read the list. */
export const totalSchema = z.object({ count: z.number(), isExact: z.boolean() }).nullable();
export type Total = z.infer<typeof totalSchema>;

/** The filters of each list. What else its input has is ignored. */
export const countSessionsInput = listSessionsInput;
export const countAnomaliesInput = listAnomaliesInput;
export const countAlertsInput = listAlertsInput;
export const countDeliveriesInput = listDeliveriesInput;
export const countAuditEntriesInput = listAuditEntriesInput;
