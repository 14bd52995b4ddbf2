import { auditPageSchema, listAuditEntriesInput } from '../../contract/audit';
import { listAuditEntries } from '../domain/audit-entries';
import { integrationAdminProcedure, router } from './trpc';

/** Who changed what, for admins: no route of the public API. */
export const auditRouter = router({
  list: integrationAdminProcedure
    .input(listAuditEntriesInput)
    .output(auditPageSchema)
    .query(({ ctx, input }) => listAuditEntries(ctx.domain, input)),
});
