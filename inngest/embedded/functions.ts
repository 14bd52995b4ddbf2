import { createHash } from 'node:crypto';
import { type ParsedCronItem, parseCronItem } from 'graphile-worker';

export type FetchHandler = (request: Request) => Promise<Response>;

/** The properties of a function that this engine supports. */
export interface EngineFunction {
  id: string;
  events: string[];
  crons: { expression: string; item: ParsedCronItem }[];
  /** Set on an `onFailure` handler: the function whose failures it handles. */
  failureOf: string | null;
  retries: number;
  concurrency: { limit: number; field: string | null } | null;
}

/** The fields of a function in the in-band sync that the engine reads. All other keys are refused. */
interface WireFunction {
  id: string;
  triggers?: { event?: string; expression?: string; cron?: string; jitter?: string }[];
  steps: { step: { retries?: { attempts?: number } } };
  concurrency?: WireConcurrency | number | WireConcurrency[];
}
type WireConcurrency = { limit: number; key?: string; scope?: string };

export const FAILED_EVENT = 'inngest/function.failed';
const UNDERSTOOD = new Set(['id', 'name', 'triggers', 'steps', 'concurrency']);
const DEFAULT_RETRIES = 3;
const MAX_KEY_LENGTH = 200;

/** Reads the functions from the SDK (in-band sync). Throws if one uses a feature that this engine does not support. */
export async function listFunctions(handler: FetchHandler): Promise<EngineFunction[]> {
  const response = await handler(
    new Request(`${APP_URL}/api/inngest`, {
      method: 'PUT',
      headers: { ...APP_HEADERS, 'x-inngest-sync-kind': 'in_band' },
      body: JSON.stringify({ url: `${APP_URL}/api/inngest` }),
    }),
  );
  const body = (await response.json()) as { functions?: WireFunction[] };
  if (!body.functions) throw new Error(`embedded engine: the SDK answered the sync with ${response.status}`);
  return body.functions.map(readFunction);
}

/** The address that the SDK believes to have. No request leaves the process. */
export const APP_URL = 'http://embedded.invalid';
export const APP_HEADERS = { host: 'embedded.invalid', 'content-type': 'application/json' };

function readFunction(wire: WireFunction): EngineFunction {
  for (const [key, value] of Object.entries(wire)) {
    if (!UNDERSTOOD.has(key) && value != null) throw unsupported(wire.id, `"${key}"`);
  }
  const read: EngineFunction = {
    id: wire.id,
    events: [],
    crons: [],
    failureOf: null,
    retries: wire.steps.step.retries?.attempts ?? DEFAULT_RETRIES,
    concurrency: readConcurrency(wire),
  };
  for (const { event, cron, expression, jitter } of wire.triggers ?? []) {
    if (jitter) throw unsupported(wire.id, 'a cron with jitter');
    if (cron) read.crons.push({ expression: cron, item: parseCron(wire.id, cron) });
    if (!event) continue;
    read.failureOf =
      event === FAILED_EVENT ? (/^event\.data\.function_id == '(.+)'$/.exec(expression ?? '')?.[1] ?? null) : null;
    if (expression && !read.failureOf) throw unsupported(wire.id, 'a trigger with "if"');
    if (event.includes('*')) throw unsupported(wire.id, `the event pattern "${event}"`);
    if (event.startsWith('inngest/') && event !== FAILED_EVENT) throw unsupported(wire.id, `the event "${event}"`);
    read.events.push(event);
  }
  return read;
}

function readConcurrency({ id, concurrency }: WireFunction): EngineFunction['concurrency'] {
  if (concurrency == null) return null;
  const options = (Array.isArray(concurrency) ? concurrency : [concurrency]).map((option) =>
    typeof option === 'number' ? { limit: option } : option,
  );
  const [option, ...more] = options as WireConcurrency[];
  if (!option || more.length > 0) throw unsupported(id, 'more than one concurrency limit');
  if (option.scope && option.scope !== 'fn') throw unsupported(id, `concurrency scope "${option.scope}"`);
  if (!(option.limit > 0)) throw unsupported(id, `concurrency limit ${option.limit}`);
  if (!option.key) return { limit: option.limit, field: null };
  const field = /^event\.data\.(\w+)$/.exec(option.key)?.[1];
  if (!field) throw unsupported(id, `concurrency key "${option.key}" (only event.data.<field>)`);
  return { limit: option.limit, field };
}

function parseCron(id: string, expression: string): ParsedCronItem {
  try {
    return parseCronItem({ task: id, match: expression, identifier: id });
  } catch {
    throw unsupported(id, `the cron expression "${expression}"`);
  }
}

/** Finds the concurrency key of a run from its event's data. */
export function findConcurrencyKey({ id, concurrency }: EngineFunction, data: unknown): string | null {
  if (!concurrency) return null;
  if (!concurrency.field) return id;
  const value = JSON.stringify((data as Record<string, unknown> | null | undefined)?.[concurrency.field] ?? null);
  return `${id}:${value.length > MAX_KEY_LENGTH ? createHash('sha256').update(value).digest('hex') : value}`;
}

function unsupported(functionId: string, what: string): Error {
  return new Error(`embedded engine: function "${functionId}" uses ${what}, which only a real Inngest server supports`);
}
