import type { z } from 'zod';
import { listAuditEntriesInput } from './audit';
import { listDeliveriesInput } from './deliveries';
import { listAlertsInput, listAnomaliesInput } from './findings';
import { listSortedCoursesInput, listSortedSessionsInput, listSortedUsersInput } from './sorting';

// The filters and the order of a list as the query of an address: of saved views and of files.

/** What each list takes. */
export const LIST_INPUTS = {
  sessions: listSortedSessionsInput,
  users: listSortedUsersInput,
  courses: listSortedCoursesInput,
  anomalies: listAnomaliesInput,
  alerts: listAlertsInput,
  deliveries: listDeliveriesInput,
  audit: listAuditEntriesInput,
} satisfies Record<string, z.ZodObject>;
export type ListName = keyof typeof LIST_INPUTS;

/** Parameters of addresses that lists know by another name, by list and parameter. */
const RENAMED = new Map([['alerts rule', 'ruleId']]);

/** What a list takes, still in the words of the address, or why it does not. */
export type ListQuery = { input: Record<string, string | number> } | { field: string; fault: string };

/** Reads a query. Refuses what the list does not take, so that nothing is ignored in silence. */
export function readListQuery(list: ListName, query: string): ListQuery {
  const schema: z.ZodObject = LIST_INPUTS[list];
  const input: Record<string, string | number> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const field = RENAMED.get(`${list} ${name}`) ?? name;
    if (!Object.hasOwn(schema.shape, field) || field === 'cursor' || field === 'pageSize')
      return { field: name, fault: 'is no filter of this list' };
    if (Object.hasOwn(input, field)) return { field: name, fault: 'must be given once' };
    input[field] = takesNumber(schema.shape[field] as z.ZodType) ? readNumber(value) : value;
  }
  const issue = schema.safeParse(input).error?.issues[0];
  return issue ? { field: issue.path.join('.'), fault: issue.message } : { input };
}

/** An empty text would be 0. */
const readNumber = (text: string) => (text.trim() === '' ? Number.NaN : Number(text));

const takesNumber = (schema: z.ZodType) => schema.safeParse(0.5).success;
