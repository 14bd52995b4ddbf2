import { timingSafeEqual } from 'node:crypto';
import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import { type ErrorCode, findApiError } from '../contract/errors';
import { wordIssue } from '../contract/wording';
import { isInvalidFactError } from '../pipeline/ingest';
import type { WebhookContext } from '../webhooks/subscriptions';
import type { Context } from './context';

/** A procedure with `openapi` is public under that method and path; `errors` are the codes of its own, for the document. */
export type Meta = OpenApiMeta<{ errors?: ErrorCode[] }>;

// Inputs are refused in the API's words, not in the library's, whoever calls.
z.config({ customError: wordIssue });

const trpc = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    errorFormatter({ shape, error }) {
      const factIndex = findFactIndex(error.cause);
      // Stack traces and messages of unexpected faults stay inside.
      const { stack: _, ...data } = shape.data;
      const message =
        error.code === 'INTERNAL_SERVER_ERROR' ? 'Internal error' : (findIssue(error.cause) ?? shape.message);
      return { ...shape, message, data: { ...data, ...(factIndex === null ? {} : { factIndex }) } };
    },
  });

export const router = trpc.router;

/** Open to everybody. */
export const publicProcedure = trpc.procedure;

/** For a caller with an API key: gives the domain functions their context. */
export const integrationProcedure = trpc.procedure.use(({ ctx, next }) => {
  if (ctx.caller.kind !== 'api-key') throw new TRPCError({ code: 'UNAUTHORIZED', message: 'An API key is required' });
  const { service, caller } = ctx;
  const { integration, apiKeyMasked } = caller.verified;
  const webhooks: WebhookContext = {
    integration,
    db: service.db,
    cursorKey: service.secrets.cursorKey,
    secrets: service.secrets,
    allowedHosts: service.env.WEBHOOK_ALLOW_HOSTS,
    publisher: service.dispatcher.publisher,
    sendTest: service.dispatcher.sendTest,
  };
  const { usage, env } = service;
  return next({ ctx: { domain: { ...webhooks, apiKeyMasked, region: env.REGION, usage, quotas: env.quotas } } });
});

/** Throws unless the caller knows the pipeline's token; the door is closed (503) where none is configured. */
export function checkPipelineToken({ service, caller }: Context): void {
  const expected = service.env.PIPELINE_TOKEN;
  if (!expected)
    throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The pipeline is closed: PIPELINE_TOKEN is not set' });
  if (caller.kind !== 'bearer' || caller.token === null || !isSameSecret(caller.token, expected))
    throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Invalid pipeline token' });
}

/** What a refusal of the pipeline's facts is to tRPC; other faults stay what they are. */
export function toPipelineError(cause: unknown): unknown {
  const apiError = findApiError(cause);
  if (apiError?.code === 'NOT_FOUND') return new TRPCError({ code: 'NOT_FOUND', message: apiError.message, cause });
  if (isInvalidFactError(cause)) return new TRPCError({ code: 'BAD_REQUEST', message: cause.message, cause });
  return cause;
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

type Issues = { issues?: { path: PropertyKey[]; message: string }[] } | undefined;

/** The schema's first complaint in one line, instead of tRPC's JSON of all of them. */
function findIssue(cause: unknown): string | null {
  const issue = (cause as Issues)?.issues?.[0];
  return issue ? `${issue.path.map(String).join('.') || 'input'}: ${issue.message}` : null;
}

/** The fact that a refused batch failed on: our own refusal, or the schema's (`facts.3.botScore`). */
function findFactIndex(cause: unknown): number | null {
  if (isInvalidFactError(cause)) return cause.factIndex;
  const path = (cause as Issues)?.issues?.[0]?.path;
  return path?.[0] === 'facts' && typeof path[1] === 'number' ? path[1] : null;
}
