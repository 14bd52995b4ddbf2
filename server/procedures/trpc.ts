import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, findApiError } from '../../contract/errors';
import { STAFF_ROLES, type StaffRole } from '../../contract/staff';
import { wordIssue } from '../../contract/wording';
import type { Actor } from '../audit/acts';
import { type FoundIntegration, findIntegration } from '../domain/integrations';
import { isInvalidFactError } from '../pipeline/ingest';
import { isUnavailable } from '../service';
import type { WebhookContext } from '../webhooks/subscriptions';
import type { Caller, Context } from './context';

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
      const field = findField(error.cause);
      return {
        ...shape,
        message,
        data: { ...data, ...(factIndex === null ? {} : { factIndex }), ...(field === null ? {} : { field }) },
      };
    },
  });

export const router = trpc.router;

/** Open to everybody. */
export const publicProcedure = trpc.procedure;

/** Who a caller is to the audit log. */
const toStaffActor = ({ staff, clientAddress }: Caller & { kind: 'staff' }): Actor => ({
  ...{ kind: 'Staff', id: staff.id, name: staff.email, clientAddress },
});

/** Makes the context of the domain functions. */
function provideIntegration({ service }: Context, { integration, apiKeyMasked }: FoundIntegration, actor: Actor) {
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
  return { ...webhooks, actor, apiKeyMasked, region: env.REGION, usage, quotas: env.quotas };
}

/**
 * For a caller with an API key, and for staff who name an integration: gives the domain functions their context. Whatever
 * changes something is closed to viewers, by the type of the procedure: a new one needs nobody to think of it.
 */
export const integrationProcedure = trpc.procedure.use(async ({ ctx, type, next }) => {
  const { caller, service } = ctx;
  if (caller.kind === 'api-key') {
    const { verified } = caller;
    const actor = { kind: 'ApiKey', id: verified.keyId, name: verified.apiKeyMasked } as const;
    return next({ ctx: { domain: provideIntegration(ctx, verified, actor) } });
  }
  const member = checkStaff(ctx, type === 'query' ? STAFF_ROLES : WRITERS);
  const { integrationId } = member;
  if (integrationId === null) throw new TRPCError({ code: 'BAD_REQUEST', message: 'x-integration-id is required' });
  const found = await findIntegration(service.db, integrationId).catch(tellOutage);
  if (!found) throw new TRPCError({ code: 'NOT_FOUND', message: 'Integration not found' });
  return tellStaff(await next({ ctx: { domain: provideIntegration(ctx, found, toStaffActor(member)) } }));
});

const WRITERS: readonly StaffRole[] = ['admin', 'analyst'];
const ADMINS: readonly StaffRole[] = ['admin'];

/** For everybody who is signed in to the dashboard, whatever integration they look at; viewers change nothing here either. */
export const staffProcedure = trpc.procedure.use(async ({ ctx, type, next }) => {
  const member = checkStaff(ctx, type === 'query' ? STAFF_ROLES : WRITERS);
  const { db, env } = ctx.service;
  const audited = { db, actor: toStaffActor(member) };
  return tellStaff(await next({ ctx: { ...ctx, staff: member.staff, db, audited, region: env.REGION } }));
});

/** For admins. */
export const adminProcedure = staffProcedure.use(({ ctx, next }) => {
  checkStaff(ctx, ADMINS);
  return next();
});

/** For admins who look at an integration. */
export const integrationAdminProcedure = integrationProcedure.use(({ ctx, next }) => {
  checkStaff(ctx, ADMINS);
  return next();
});

/** Throws UNAUTHORIZED unless the caller is staff, and FORBIDDEN unless they have one of the roles. */
function checkStaff({ caller }: Context, roles: readonly StaffRole[]) {
  if (caller.kind !== 'staff') throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in' });
  if (!roles.includes(caller.staff.role))
    throw new TRPCError({ code: 'FORBIDDEN', message: `The role ${caller.staff.role} does not permit this` });
  return caller;
}

const TRPC_CODES: Record<number, TRPCError['code']> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

/** Lets staff read what the domain refused, as REST's envelope does for customers, and that the database is away. */
function tellStaff<Result extends { ok: boolean }>(result: Result): Result {
  if (result.ok) return result;
  const { error } = result as { error?: unknown };
  if (isUnavailable(error)) tellOutage(error);
  const refusal = findApiError(error);
  const code = refusal && TRPC_CODES[ERROR_CODES[refusal.code].status];
  if (code) throw new TRPCError({ code, message: refusal.message, cause: refusal });
  return result;
}

function tellOutage(cause: unknown): never {
  if (!isUnavailable(cause)) throw cause;
  throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The service is temporarily unavailable', cause });
}

type Issues = { issues?: { path: PropertyKey[]; message: string }[] } | undefined;

/** The schema's first complaint in one line, instead of tRPC's JSON of all of them. */
function findIssue(cause: unknown): string | null {
  const issue = (cause as Issues)?.issues?.[0];
  return issue ? `${issue.path.map(String).join('.') || 'input'}: ${issue.message}` : null;
}

/** The field that the domain refused, or the schema of a call other than of facts. */
function findField(cause: unknown): string | null {
  const path = (cause as Issues)?.issues?.[0]?.path.map(String).join('.');
  return findApiError(cause)?.field ?? (path && !path.startsWith('facts') ? path : null);
}

/** The fact that a refused batch failed on: our own refusal, or the schema's (`facts.3.botScore`). */
function findFactIndex(cause: unknown): number | null {
  if (isInvalidFactError(cause)) return cause.factIndex;
  const path = (cause as Issues)?.issues?.[0]?.path;
  return path?.[0] === 'facts' && typeof path[1] === 'number' ? path[1] : null;
}
