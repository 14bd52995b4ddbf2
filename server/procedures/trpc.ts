import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, findApiError, OUTAGE_MESSAGE } from '../../contract/errors';
import type { KeyScope } from '../../contract/integrations';
import { STAFF_ROLES, type StaffRole } from '../../contract/staff';
import { wordIssue } from '../../contract/wording';
import type { Actor } from '../audit/acts';
import { type FoundIntegration, findIntegration } from '../domain/integrations';
import { isInvalidFactError } from '../pipeline/ingest';
import { isUnavailable } from '../service';
import type { WebhookContext } from '../webhooks/subscriptions';
import type { Caller, Context } from './context';

/**
 * Metadata of a procedure. With `openapi`, it is public under that method and path. `errors` lists the codes that only this
 * route can return, for the OpenAPI document. A public mutation must name the `scope` that a key needs for it; a query needs `read`.
 * `isLong`: it waits for a receiver or changes any number of rows, so no transaction may be open meanwhile.
 */
export type Meta = OpenApiMeta<{ errors?: ErrorCode[]; scope?: KeyScope; isLong?: boolean }>;

// Messages about invalid input use the API's words instead of the library's, for every caller.
z.config({ customError: wordIssue });

const trpc = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    errorFormatter({ shape, error }) {
      const factIndex = findFactIndex(error.cause);
      // Stack traces and messages of unexpected errors must not reach the client.
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

/** Describes a staff caller for the audit log. */
const toStaffActor = ({ staff, clientAddress }: Caller & { kind: 'staff' }): Actor => ({
  ...{ kind: 'Staff', id: staff.id, name: staff.email, clientAddress },
});

/** Makes the context of the domain functions. */
function provideIntegration({ service }: Context, found: FoundIntegration, actor: Actor) {
  const { integration, apiKeyMasked, apiKeyScopes } = found;
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
  return { actor, apiKeyMasked, apiKeyScopes, region: env.REGION, usage, quotas: env.quotas, ...webhooks };
}

/**
 * A procedure for callers with an API key and for staff who name an integration. It provides the context of the domain
 * functions. Viewers may call queries only. The type of the procedure decides this, so no new mutation can forget it. A mutation may
 * change what alert rules count: labels and thresholds.
 */
export const integrationProcedure = trpc.procedure.use(async ({ ctx, type, next }) => {
  const { caller, service } = ctx;
  if (caller.kind === 'api-key') {
    const { verified } = caller;
    const actor = { kind: 'ApiKey', id: verified.keyId, name: verified.apiKeyMasked } as const;
    const result = await next({
      ctx: { domain: provideIntegration(ctx, { apiKeyScopes: verified.scopes, ...verified }, actor) },
    });
    if (type === 'mutation') service.alertRules.noteChanges([verified.integration.id]);
    return result;
  }
  const member = checkStaff(ctx, type === 'query' ? STAFF_ROLES : WRITERS);
  const { integrationId } = member;
  if (integrationId === null) throw new TRPCError({ code: 'BAD_REQUEST', message: 'x-integration-id is required' });
  const found = await findIntegration(service.db, integrationId).catch(rethrowOutage);
  if (!found) throw new TRPCError({ code: 'NOT_FOUND', message: 'Integration not found' });
  const result = await next({ ctx: { domain: provideIntegration(ctx, found, toStaffActor(member)) } });
  if (type === 'mutation') service.alertRules.noteChanges([integrationId]);
  return showRefusal(result);
});

const WRITERS: readonly StaffRole[] = ['admin', 'analyst'];
const ADMINS: readonly StaffRole[] = ['admin'];

/** A procedure for all signed-in staff, without an integration. Viewers may call queries only. */
export const staffProcedure = trpc.procedure.use(async ({ ctx, type, next }) => {
  const member = checkStaff(ctx, type === 'query' ? STAFF_ROLES : WRITERS);
  const { db, env } = ctx.service;
  const audited = { db, actor: toStaffActor(member) };
  return showRefusal(await next({ ctx: { staff: member.staff, db, audited, region: env.REGION, ...ctx } }));
});

/** A procedure for admins. */
export const adminProcedure = staffProcedure.use(({ ctx, next }) => {
  checkStaff(ctx, ADMINS);
  return next();
});

/** A procedure for admins who name an integration. */
export const integrationAdminProcedure = integrationProcedure.use(({ ctx, next }) => {
  checkStaff(ctx, ADMINS);
  return next();
});

/** A procedure for callers with an API key and for admins who name an integration. */
export const keyOrAdminProcedure = integrationProcedure.use(({ ctx, next }) => {
  if (ctx.caller.kind !== 'api-key') checkStaff(ctx, ADMINS);
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

/**
 * Shows staff the reason if the domain functions refused a call or the database is away, as REST's envelope does for
 * customers.
 */
function showRefusal<Result extends { ok: boolean }>(result: Result): Result {
  if (result.ok) return result;
  const { error } = result as { error?: unknown };
  if (isUnavailable(error)) rethrowOutage(error);
  const refusal = findApiError(error);
  const code = refusal && TRPC_CODES[ERROR_CODES[refusal.code].status];
  if (code) throw new TRPCError({ code, message: refusal.message, cause: refusal });
  return result;
}

function rethrowOutage(cause: unknown): never {
  if (!isUnavailable(cause)) throw cause;
  throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: OUTAGE_MESSAGE, cause });
}

type Issues = { issues?: { path: PropertyKey[]; message: string }[] } | undefined;

/** Writes the schema's first issue in one line, instead of tRPC's JSON of all issues. */
export function findIssue(cause: unknown): string | null {
  const issue = (cause as Issues)?.issues?.[0];
  return issue ? `${issue.path.map(String).join('.') || 'input'}: ${issue.message}` : null;
}

/** Finds the field that the domain or the schema refused. Facts have `factIndex` instead. */
function findField(cause: unknown): string | null {
  const path = (cause as Issues)?.issues?.[0]?.path.map(String).join('.');
  return findApiError(cause)?.field ?? (path && !path.startsWith('facts') ? path : null);
}

/** Finds the index of the fact for which a batch was refused, by us or by the schema (`facts.3.botScore`). */
function findFactIndex(cause: unknown): number | null {
  if (isInvalidFactError(cause)) return cause.factIndex;
  const path = (cause as Issues)?.issues?.[0]?.path;
  return path?.[0] === 'facts' && typeof path[1] === 'number' ? path[1] : null;
}
