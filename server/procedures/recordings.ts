import { foundRecordingSchema, recordingStateSchema } from '../../contract/recordings';
import { sessionIdInput } from '../../contract/sessions';
import { integrationProcedure, router } from './trpc';

/** What pointer and keys did in a session, for staff. Not part of the public API. */
export const recordingsRouter = router({
  /** Says whether there is one. It costs little, so a page can ask before it shows anything. */
  find: integrationProcedure
    .input(sessionIdInput)
    .output(recordingStateSchema)
    .query(({ ctx, input }) => ctx.service.recordings.find(ctx.domain, input)),
  get: integrationProcedure
    .input(sessionIdInput)
    .output(foundRecordingSchema)
    .query(({ ctx, input }) => ctx.service.recordings.read(ctx.domain, input)),
});
