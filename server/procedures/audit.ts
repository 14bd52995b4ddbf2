import { auditPageSchema, listAuditEntriesInput } from '../../contract/audit';
import { listAuditEntries } from '../domain/audit-entries';
import { integrationAdminProcedure, router } from './trpc';

/** The audit log, for admins. Not part of the public API. */
export const auditRouter = router({
  list: integrationAdminProcedure
    .input(listAuditEntriesInput)
    .output(auditPageSchema)
    .query(({ ctx, input }) => listAuditEntries(ctx.domain, input)),
});
