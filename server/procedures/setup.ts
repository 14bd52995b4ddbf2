import { setupSchema } from '../../contract/setup';
import { getSetup } from '../domain/setup';
import { integrationProcedure, router } from './trpc';

/** How far an integration is set up, for staff. Not part of the public API. */
export const setupRouter = router({
  get: integrationProcedure.output(setupSchema).query(({ ctx }) => getSetup(ctx.domain)),
});
