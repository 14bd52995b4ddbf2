import { listWritingSessionsInput, writingSessionPageSchema } from '../../contract/writing';
import { listWritingSessions } from '../domain/writing';
import { integrationProcedure, router } from './trpc';

/** How texts came about, for staff. Not part of the public API. */
export const writingRouter = router({
  list: integrationProcedure
    .input(listWritingSessionsInput)
    .output(writingSessionPageSchema)
    .query(({ ctx, input }) => listWritingSessions(ctx.domain, input)),
});
