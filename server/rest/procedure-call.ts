import type { TRPCError } from '@trpc/server';
import { ApiError } from '../../contract/errors';
import type { Context } from '../procedures/context';
import type { Route } from './routes';
import { runProcedure } from './trpc-internals';

/** Calls a route's procedure. Throws an ApiError if the schema refuses the input. Other errors are thrown unchanged. */
export async function callProcedure(route: Route, ctx: Context, input: Record<string, unknown>): Promise<unknown> {
  const { procedure, procedurePath: path, type } = route;
  try {
    return await runProcedure(procedure, { ctx, path, type, input });
  } catch (error) {
    throw toInputError(route, error as TRPCError) ?? error;
  }
}

/** Converts the schema's first issue to an ApiError in the API's words. Returns null for any other error. */
function toInputError(route: Route, error: TRPCError): ApiError | null {
  if (error.code !== 'BAD_REQUEST') return null;
  const issue = (error.cause as { issues?: { path: PropertyKey[]; message: string }[] } | undefined)?.issues?.[0];
  if (!issue) return null;
  const field = issue.path.map(String).join('.');
  if (!route.body) return new ApiError('INVALID_REQUEST', `${field} ${issue.message}`, { field });
  return new ApiError('INVALID_BODY', `${field || 'body'} ${issue.message}`, { field: field || 'body' });
}
