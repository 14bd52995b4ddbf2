import { auditPageSchema, listAuditEntriesInput } from '../../contract/audit';
import { countAuditEntriesInput, totalSchema } from '../../contract/totals';
import { listAuditEntries } from '../domain/audit-entries';
import { countAuditEntries } from '../domain/totals';
import { integrationAdminProcedure, router } from './trpc';

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
