import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { findApiError } from '../contract/errors';
import { text } from '../contract/fields';
import {
  apiKeyNameInput,
  integrationNameInput,
  keyDaysInput,
  keyIdInput,
  keyScopesInput,
  originsInput,
  planInput,
  setPlanInput,
} from '../contract/integrations';
import { createInvitationInput } from '../contract/invitations';
import { siteNameInput } from '../contract/sites';
import { createStaffInput, setStaffPasswordInput } from '../contract/staff';
import { asOperator } from './audit/acts';
import { createStaff, setStaffPassword } from './auth/accounts';
import { createInvitation } from './auth/invitations';
import { rescoreSessions } from './collector/rescoring';
import { createRandom, makeSessionFacts } from './demo/session-facts';
import { mintKey, revokeKey } from './domain/api-keys';
import { listLatestAuditEntries } from './domain/audit-entries';
import { rotateIdentitySecret, setAllowedOrigins, setUnsignedUsers } from './domain/collecting';
import { createIntegration, listIntegrations } from './domain/integrations';
import { createSite, listAllSites, listSites, revokeSite } from './domain/sites';
import { readEnv } from './platform/env';
import { writeLocalAddress } from './platform/local-address';
import { createLogger } from './platform/log';
import { escapeControls, escapeLines } from './platform/terminal';
import { createCommandService, describeFault, prepareRuntime, type Runtime, requireDatabase } from './runtime';
import { closeService, type Service } from './service';
import { setIntegrationPlan } from './webhooks/plans';

// The operator's commands. They use the same database as a running server.

const GRACE_MS = 5_000;

/** What a command takes from its process. */
export interface Surroundings {
  /** The environment's variables. */
  settings: Record<string, string | undefined>;
  /** Returns null if the operator gives none. */
  readPassword(): Promise<string | null>;
  /** Rejects with an InterruptedError when the operator interrupts the command. */
  interrupted?: Promise<never>;
}

/** What the process of a command prints, and its exit code. */
export interface CommandAnswer {
  code: 0 | 1;
  stdout: string;
  stderr: string;
}

interface Command {
  /** The flags as shown in the usage text. */
  usage: string;
  flags: z.ZodObject;
  run(service: Service, flags: never, runtime: Runtime): Promise<Record<string, unknown>>;
}

const command = <S extends z.ZodObject>(
  usage: string,
  flags: S,
  run: (service: Service, flags: z.output<S>, runtime: Runtime) => Promise<Record<string, unknown>>,
): Command => ({ usage, flags, run: run as Command['run'] });

const id = text(1, 256);
/** `Number` alone would also take `0x10` and `1e2`. */
const wholeNumber = z.string().transform((digits) => (/^\d+$/.test(digits) ? Number(digits) : Number.NaN));
const limit = z
  .string()
  .regex(/^([1-9]\d{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
  .default('50')
  .transform(Number);

const COMMANDS = new Map<string, Command>(
  Object.entries({
    'integration create': command(
      '--name N --plan free|starter|pro|enterprise [--origin https://… …]',
      z.object({ name: integrationNameInput, plan: planInput, origin: originsInput.default([]) }),
      ({ db }, { origin, ...flags }) => createIntegration(asOperator(db), { ...flags, allowedOrigins: origin }),
    ),
    'integration set-origins': command(
      '--integration I --origin https://… …',
      z.object({ integration: id, origin: originsInput }),
      ({ db }, { integration, origin }) =>
        setAllowedOrigins(asOperator(db), { integrationId: integration, allowedOrigins: origin }),
    ),
    'integration rotate-identity-secret': command(
      '--integration I',
      z.object({ integration: id }),
      ({ db, secrets }, { integration }) =>
        rotateIdentitySecret(asOperator(db), secrets, { integrationId: integration }),
    ),
    'integration set-unsigned-users': command(
      '--integration I --accept yes|no',
      z.object({ integration: id, accept: z.enum(['yes', 'no'], { error: 'must be yes or no' }) }),
      ({ db }, { integration, accept }) =>
        setUnsignedUsers(asOperator(db), { integrationId: integration, acceptsUnsignedUsers: accept === 'yes' }),
    ),
    'integration set-plan': command('--id I --plan P', setPlanInput, ({ db }, flags) =>
      setIntegrationPlan(asOperator(db), flags),
    ),
    'integration list': command('', z.object({}), async ({ db }) => ({ integrations: await listIntegrations(db) })),
    'site create': command(
      '--integration I [--name N]',
      z.object({ integration: id, name: siteNameInput }),
      ({ db }, flags) => createSite(asOperator(db), { integrationId: flags.integration, name: flags.name }),
    ),
    'site list': command(
      '[--integration I]',
      z.object({ integration: id.optional() }),
      async ({ db }, { integration }) => ({
        sites: await (integration === undefined ? listAllSites(db) : listSites(db, integration)),
      }),
    ),
    'site revoke': command('--site S', z.object({ site: id }), ({ db }, { site }) =>
      revokeSite(asOperator(db), { id: site }),
    ),
    'key mint': command(
      '--integration I [--name N] [--scope read|sessions:write|webhooks:write|settings:write|users:erase …] [--expires-in-days D]',
      z.object({
        ...{ integration: id, name: apiKeyNameInput, scope: keyScopesInput },
        'expires-in-days': wholeNumber.pipe(keyDaysInput).optional(),
      }),
      ({ db }, { integration, name, scope, 'expires-in-days': expiresInDays }) =>
        mintKey(asOperator(db), { integrationId: integration, name, scopes: scope, expiresInDays }),
    ),
    'key revoke': command('--id K', keyIdInput, ({ db }, flags) => revokeKey(asOperator(db), flags)),
    'staff create': command(
      '--email E [--password P] [--role admin|analyst|viewer] [--name N]',
      createStaffInput,
      ({ db }, flags) => createStaff(asOperator(db), flags),
    ),
    'staff invite': command(
      '--email E --name N [--role admin|analyst|viewer]',
      createInvitationInput,
      async ({ db, secrets, env }, flags) => {
        const { token, expiresAt } = await createInvitation({ ...asOperator(db), secrets }, flags);
        return { link: `${env.publicUrl ?? writeLocalAddress(env.HOST, env.PORT)}/invitation#${token}`, expiresAt };
      },
    ),
    'staff set-password': command('--email E [--password P]', setStaffPasswordInput, ({ db }, flags) =>
      setStaffPassword(asOperator(db), flags),
    ),
    'audit list': command(
      '[--integration I] [--limit N]',
      z.object({ integration: id.optional(), limit }),
      async ({ db }, flags) => ({
        entries: await listLatestAuditEntries(db, { integrationId: flags.integration, limit: flags.limit }),
      }),
    ),
    'detection rescore': command(
      '[--dry-run] [--integration I]',
      z.object({ integration: id.optional(), 'dry-run': z.boolean().default(false) }),
      async ({ db, ingester, env }, { integration = null, 'dry-run': isDryRun }) => {
        const request = { integrationId: integration, isDryRun, traceDays: env.TRACE_DAYS };
        return { ...(await rescoreSessions(asOperator(db), ingester, request)) };
      },
    ),
    'db migrate': command('', z.object({}), async (_service, _flags, { migrated }) => ({ applied: migrated })),
    'demo session': command(
      '--integration I [--kind bot|human]',
      z.object({ integration: id, kind: z.enum(['bot', 'human'], { error: 'must be bot or human' }).default('bot') }),
      async ({ ingester }, flags) => {
        const { sessionId, facts } = makeSessionFacts(flags.kind, Date.now(), createRandom(Date.now()));
        await ingester.ingestFacts({ integrationId: flags.integration, facts });
        return { sessionId };
      },
    ),
  }),
);

/** Commands that may make the embedded database. The others could find nothing in a new one. */
const FIRST_COMMANDS = new Set(['integration create', 'staff create', 'staff invite', 'db migrate']);
/** Flags that may be given more than once. */
const REPEATABLE = new Set(['origin', 'scope']);
/** Flags without a value. */
const SWITCHES = new Set(['dry-run']);

class UsageError extends Error {}
/** The operator has interrupted the command. */
export class InterruptedError extends UsageError {}

/** Runs a command: the words and flags that follow `npm run -s admin --`. Never rejects. */
export async function answerCommand(args: string[], surroundings: Surroundings): Promise<CommandAnswer> {
  try {
    return { code: 0, stdout: `${await runCommand(args, surroundings)}\n`, stderr: '' };
  } catch (error) {
    const isExpected = error instanceof UsageError || findApiError(error) !== null;
    const message = isExpected && error instanceof Error ? error.message : describeFault(error);
    return { code: 1, stdout: '', stderr: `${escapeLines(message)}\n` };
  }
}

async function parseCommand(args: string[], { readPassword }: Surroundings) {
  const name = args.slice(0, 2).join(' ');
  const found = COMMANDS.get(name);
  if (!found) throw new UsageError(`usage: npm run -s admin -- <command> [--json]\n${listCommands()}`);
  const names = Object.keys(found.flags.shape);
  const options = Object.fromEntries(
    names.map((flag) => {
      const type: 'boolean' | 'string' = SWITCHES.has(flag) ? 'boolean' : 'string';
      return [flag, { type, multiple: REPEATABLE.has(flag) }];
    }),
  );
  let values: Record<string, unknown>;
  try {
    values = parseArgs({ args: args.slice(2), options: { ...options, json: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.split('\n')[0]);
  }
  const { json, ...flags } = values;
  if ('password' in found.flags.shape) flags.password ??= (await readPassword()) ?? undefined;
  const parsed = found.flags.safeParse(flags);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const flag = String(issue.path[0]);
    throw new UsageError(`--${flag}: ${flags[flag] === undefined ? 'is required' : issue.message}`);
  }
  return { name, command: found, flags: parsed.data as never, isJson: json === true };
}

function listCommands(): string {
  return [...COMMANDS].map(([name, { usage }]) => `  ${name} ${usage}`.trimEnd()).join('\n');
}

async function runCommand(args: string[], surroundings: Surroundings): Promise<string> {
  const interrupted = surroundings.interrupted ?? new Promise<never>(() => {});
  const { name, command, flags, isJson } = await parseCommand(args, surroundings);
  const env = readEnv(surroundings.settings);
  if (!FIRST_COMMANDS.has(name)) await requireDatabase(env);
  const log = createLogger({
    LOG_LEVEL: env.LOG_LEVEL === 'info' ? 'warn' : env.LOG_LEVEL,
    LOG_FORMAT: env.LOG_FORMAT,
  });
  const stopping = new AbortController();
  interrupted.catch((reason: unknown) => stopping.abort(reason));
  const preparing = prepareRuntime(env, log, stopping.signal);
  // An interrupted start of the embedded Postgres ends first, so that it can be stopped, unless that takes long.
  const runtime = await (env.DATABASE_URL ? Promise.race([preparing, interrupted]) : preparing);
  try {
    await Promise.race([interrupted, null]);
    if (runtime.embedded?.isNew)
      log.warn({ dataDir: resolve(env.DATA_DIR) }, 'made a new database; is DATA_DIR that of the server?');
    const service = createCommandService(runtime);
    try {
      const result = await Promise.race([command.run(service, flags, runtime), interrupted]);
      return isJson ? escapeControls(JSON.stringify(result)) : showResult(result);
    } finally {
      await closeService(service, GRACE_MS);
    }
  } finally {
    await runtime.embedded?.stop();
  }
}

/** Names may hold anything. In a table they must not end a line or steer the terminal. */
const showValue = (value: unknown) =>
  escapeControls(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''));

/** Formats a result for people: one `name: value` per line, lists as tab-separated rows. */
function showResult(result: Record<string, unknown>): string {
  return Object.entries(result)
    .map(([name, value]) => (Array.isArray(value) ? showList(value) : `${name}: ${showValue(value)}`))
    .join('\n');
}

function showList(items: unknown[]): string {
  return items
    .map((item) =>
      typeof item === 'object' && item !== null ? Object.values(item).map(showValue).join('\t') : showValue(item),
    )
    .join('\n');
}
