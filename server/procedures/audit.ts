import {
  auditPageSchema,
  keyAuditEntrySchema,
  listAuditEntriesInput,
  listKeyAuditEntriesInput,
} from '../../contract/audit';
import { pageOf } from '../../contract/pagination';
import { countAuditEntriesInput, totalSchema } from '../../contract/totals';
import { listAuditEntries, listKeyAuditEntries } from '../domain/audit-entries';
import { countAuditEntries } from '../domain/totals';
import { integrationAdminProcedure, keyOrAdminProcedure, router } from './trpc';

/** The audit log, for admins. Not part of the public API. */
export const auditRouter = router({
  list: integrationAdminProcedure
    .input(listAuditEntriesInput)
    .output(auditPageSchema)
    .query(({ ctx, input }) => listAuditEntries(ctx.domain, input)),
  count: integrationAdminProcedure
    .input(countAuditEntriesInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countAuditEntries(ctx.domain, input)),
});

/** The audit log of an integration, for its keys. */
export const auditLogRouter = router({
  list: keyOrAdminProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/audit-log',
        operationId: 'listAuditEntries',
        tags: ['Audit log'],
        summary: 'List the audit log',
        description:
          'Who changed the integration, newest first: its keys, plan, thresholds, sites, webhooks, labels, devices, rules and reports. Of changes by keys the newest 10,000 of each action are kept, others stay.',
      },
    })
    .input(listKeyAuditEntriesInput)
    .output(pageOf(keyAuditEntrySchema))
    .query(({ ctx, input }) => listKeyAuditEntries(ctx.domain, input)),
});
