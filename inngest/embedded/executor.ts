import { APP_HEADERS, APP_URL, type EngineFunction, type FetchHandler } from './functions';
import type { Job, PendingOp, Run } from './store';

/** What the SDK's answer to one call means for the run. */
export type RunVerdict =
  | { kind: 'completed' }
  | { kind: 'failed'; error: StepError }
  | { kind: 'retry'; error: StepError; delayMs: number }
  | { kind: 'memo'; stepId: string; result: string }
  | { kind: 'suspended'; ops: PendingOp[] };

export interface StepError {
  name: string;
  message: string;
  stack?: string;
}

/** An operation in the SDK's answer. */
interface Op {
  id: string;
  op: string;
  name?: string;
  data?: unknown;
  error?: unknown;
}

/** Inngest's limits for the result of a step and of a whole run, but in UTF-16 units instead of bytes. */
const MAX_RESULT_LENGTH = 4 * 1024 * 1024;
const MAX_STATE_LENGTH = 32 * 1024 * 1024;
const MAX_STEPS = 1000;
const MAX_ERROR_LENGTH = 4000;
const FIRST_BACKOFF_MS = 2000;
const MAX_BACKOFF_MS = 10 * 60_000;
const MAIN_STEP = 'step';

/** Calls the function once through the SDK: the step `job.step`, or whatever follows its finished steps. */
export async function callFunction(
  handler: FetchHandler,
  fn: EngineFunction,
  job: Job,
  run: Run,
  attempt: number,
): Promise<RunVerdict> {
  const isLastAttempt = attempt >= fn.retries;
  let response: Response;
  let body: unknown;
  try {
    response = await handler(buildRequest(fn, job, run, attempt));
    const text = await response.text();
    if (text.length > MAX_RESULT_LENGTH) return { kind: 'failed', error: engineError('its result exceeds 4 MiB') };
    if (text.length + run.steps.length > MAX_STATE_LENGTH) {
      return { kind: 'failed', error: engineError('the results of its steps exceed 32 MiB') };
    }
    body = text ? JSON.parse(text) : null;
  } catch (error) {
    return retryOrFail(readError(error), isLastAttempt, attempt, null);
  }
  if (response.status === 200) return { kind: 'completed' };
  const noRetry = isLastAttempt || response.headers.get('x-inngest-no-retry') === 'true';
  const retryAfter = response.headers.get('retry-after');
  if (response.status !== 206 || !Array.isArray(body))
    return retryOrFail(readError(body), noRetry, attempt, retryAfter);
  return readOps(body as Op[], run, attempt, noRetry, retryAfter);
}

function readOps(ops: Op[], run: Run, attempt: number, noRetry: boolean, retryAfter: string | null): RunVerdict {
  if (run.stepIds.length + ops.length > MAX_STEPS)
    return { kind: 'failed', error: engineError(`more than ${MAX_STEPS} steps`) };
  const [only, ...more] = ops;
  if (only && more.length === 0) {
    switch (only.op) {
      case 'RunComplete':
        return { kind: 'completed' };
      case 'StepRun':
        return { kind: 'memo', stepId: only.id, result: JSON.stringify({ data: only.data ?? null }) };
      case 'StepError':
        if (!noRetry) return retryOrFail(readError(only.error), false, attempt, retryAfter);
        return { kind: 'memo', stepId: only.id, result: JSON.stringify({ error: readError(only.error) }) };
      case 'StepFailed':
        return { kind: 'memo', stepId: only.id, result: JSON.stringify({ error: readError(only.error) }) };
    }
  }
  const pending: PendingOp[] = [];
  for (const { id, op, name } of ops) {
    if (op === 'StepPlanned') pending.push({ id, kind: 'step', at: null, delayMs: 0 });
    else if (op === 'Sleep') pending.push({ id, kind: 'wake', ...readSleep(name ?? '') });
    else return { kind: 'failed', error: engineError(`it does not support the operation ${op}`) };
  }
  if (pending.length === 0) return { kind: 'failed', error: engineError('the SDK answered with no operation') };
  return { kind: 'suspended', ops: pending };
}

function buildRequest(fn: EngineFunction, job: Job, run: Run, attempt: number): Request {
  const stepId = job.step ?? MAIN_STEP;
  const ctx = {
    run_id: String(job.run),
    attempt,
    max_attempts: fn.retries + 1,
    use_api: false,
    disable_immediate_execution: job.step !== undefined,
    stack: { stack: run.stepIds, current: run.stepIds.length },
  };
  const { event, steps } = run;
  // Without ctx.fn_id, because with it the SDK would report finished steps to a server instead of returning them.
  const body = `{"version":2,"event":${event},"events":[${event}],"steps":{${steps}},"ctx":${JSON.stringify(ctx)}}`;
  return new Request(`${APP_URL}/api/inngest?fnId=${encodeURIComponent(fn.id)}&stepId=${encodeURIComponent(stepId)}`, {
    method: 'POST',
    headers: { ...APP_HEADERS, 'x-run-id': String(job.run), 'x-inngest-req-version': '2' },
    body,
  });
}

function retryOrFail(error: StepError, noRetry: boolean, attempt: number, retryAfter: string | null): RunVerdict {
  if (noRetry) return { kind: 'failed', error };
  return { kind: 'retry', error, delayMs: readRetryAfter(retryAfter) ?? chooseBackoffMs(attempt) };
}

/** Computes the delay: 2 s, 4 s, 8 s … up to 10 minutes, plus up to a quarter of jitter to spread simultaneous failures. */
export function chooseBackoffMs(attempt: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS) * (1 + Math.random() / 4);
}

function readRetryAfter(header: string | null): number | null {
  if (!header) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : null;
}

const UNIT_MS = new Map(Object.entries({ w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 }));

/** Parses a sleep, which the SDK sends as an instant or as a duration such as `1h30m`. */
function readSleep(name: string): Pick<PendingOp, 'at' | 'delayMs'> {
  if (/^\d{4}-/.test(name)) return { at: name, delayMs: 0 };
  const parts = [...name.matchAll(/(\d+)([wdhms])/gy)];
  return { at: null, delayMs: parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS.get(unit!)!, 0) };
}

/** Reads an error of the SDK or a thrown value. Truncates its texts, because they are stored and logged. */
function readError(value: unknown): StepError {
  const { name, message, stack } = (value ?? {}) as Partial<StepError>;
  return {
    name: String(name ?? 'Error').slice(0, 200),
    message: String(message ?? value).slice(0, MAX_ERROR_LENGTH),
    ...(stack ? { stack: String(stack).slice(0, MAX_ERROR_LENGTH) } : {}),
  };
}

function engineError(what: string): StepError {
  return { name: 'EmbeddedEngineError', message: `embedded engine: ${what}` };
}
