import { evidenceReportSchema } from '../../contract/evidence-report';
import { listVisitedPagesInput, sessionContextSchema, visitedPagesSchema } from '../../contract/session-context';
import { sessionIdInput } from '../../contract/sessions';
import { getEvidenceReport } from '../domain/evidence-report';
import { getSessionContext } from '../domain/session-context';
import { listVisitedPages } from '../domain/visited-pages';
import { integrationProcedure } from './trpc';

/** What stands next to a session, and its evidence as a document. For staff, not part of the public API. */
export const sessionContextProcedures = {
  getContext: integrationProcedure
    .input(sessionIdInput)
    .output(sessionContextSchema)
    .query(({ ctx, input }) => getSessionContext(ctx.domain, input)),

  listPages: integrationProcedure
    .input(listVisitedPagesInput)
    .output(visitedPagesSchema)
    .query(({ ctx, input }) => listVisitedPages(ctx.domain, input)),

  getEvidenceReport: integrationProcedure
    .input(sessionIdInput)
    .output(evidenceReportSchema)
    .query(({ ctx, input }) => getEvidenceReport(ctx.domain, input)),
};
