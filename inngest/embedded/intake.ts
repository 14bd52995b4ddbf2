import { randomUUID } from 'node:crypto';
import { type EngineFunction, FAILED_EVENT, findConcurrencyKey } from './functions';
import type { NewRun, Store } from './store';

/** Inngest's limits, but the event's length is in UTF-16 units instead of bytes. */
const MAX_EVENT_LENGTH = 512 * 1024;
const MAX_EVENTS = 5000;
const MAX_ID_LENGTH = 512;
const MAX_DELAY_MS = 366 * 86_400_000;

interface SentEvent {
  name: string;
  id?: string;
  ts?: number;
  data?: unknown;
}

/** Answers the SDK's `POST /e/<key>`: starts the runs and responds when they are committed. */
export async function takeEvents(
  request: Request,
  functions: ReadonlyMap<string, EngineFunction>,
  store: Store,
): Promise<Response> {
  const sent = (await request.json()) as SentEvent | SentEvent[];
  const events = Array.isArray(sent) ? sent : [sent];
  if (events.length > MAX_EVENTS) return refuse(`more than ${MAX_EVENTS} events`);
  const runs: NewRun[] = [];
  const seen = new Set<string>();
  const ids: string[] = [];
  for (const event of events) {
    const problem = findProblem(event);
    if (problem) return refuse(problem);
    const id = event.id || randomUUID();
    ids.push(id);
    if (seen.has(id)) continue;
    seen.add(id);
    const ts = event.ts || Date.now();
    const starts = listStarts(functions.values(), { ...event, id, ts });
    for (const start of starts) {
      if (start.event.length > MAX_EVENT_LENGTH) return refuse('an event exceeds 512 KiB');
      runs.push({ ...start, eventId: event.id || null, delayMs: Math.max(ts - Date.now(), 0) });
    }
  }
  await store.startRuns(runs);
  return Response.json({ ids, status: 200 });
}

/** Lists the runs that an event starts. `failedFunction` is set if the event reports the failure of that function. */
export function listStarts(
  functions: Iterable<EngineFunction>,
  event: Record<string, unknown> | null,
  failedFunction: string | null = null,
): NewRun[] {
  if (!event) return [];
  const runs: NewRun[] = [];
  let text: string | null = null;
  for (const fn of functions) {
    if (!fn.events.includes(event.name as string)) continue;
    if (event.name === FAILED_EVENT && fn.failureOf && fn.failureOf !== failedFunction) continue;
    text ??= JSON.stringify(event);
    runs.push(createRun(fn, text, event.data));
  }
  return runs;
}

export function createRun(fn: EngineFunction, event: string, data: unknown, eventId: string | null = null): NewRun {
  const limit = fn.concurrency?.limit ?? null;
  return { eventId, functionId: fn.id, event, key: findConcurrencyKey(fn, data), limit, delayMs: 0 };
}

function findProblem({ name, id, ts }: SentEvent): string | null {
  if (typeof name !== 'string' || !name) return 'an event has no name';
  if (id != null && (typeof id !== 'string' || id.length > MAX_ID_LENGTH || id.includes('\0'))) return 'a bad event id';
  if (ts != null && !(Number.isFinite(ts) && ts < Date.now() + MAX_DELAY_MS)) return 'a bad event ts';
  return null;
}

function refuse(error: string): Response {
  return Response.json({ ids: [], status: 400, error: `embedded engine: ${error}` }, { status: 400 });
}
