import { z } from 'zod';
import { createViewInput, savedViewSchema, viewIdInput } from '../../contract/saved-views';
import { findInput, searchResultSchema } from '../../contract/search';
import { createView, deleteView, listViews } from '../domain/saved-views';
import { findEverything } from '../domain/search';
import { integrationProcedure, router } from './trpc';

// How staff find things: the search of everything, and the lists that they have named. Not part of the public API.

export const searchRouter = router({
  find: integrationProcedure
    .input(findInput)
    .output(z.array(searchResultSchema))
    .query(({ ctx, input }) => findEverything(ctx.domain, input)),
});

export const savedViewsRouter = router({
  list: integrationProcedure.output(z.array(savedViewSchema)).query(({ ctx }) => listViews(ctx.domain)),
  create: integrationProcedure
    .input(createViewInput)
    .output(savedViewSchema)
    .mutation(({ ctx, input }) => createView(ctx.domain, input)),
  delete: integrationProcedure
    .input(viewIdInput)
    .output(viewIdInput)
    .mutation(({ ctx, input }) => deleteView(ctx.domain, input)),
});
