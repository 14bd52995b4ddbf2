import { AsyncLocalStorage } from 'node:async_hooks';
import { format, stripVTControlCharacters } from 'node:util';
import type { Logger } from './log';

/** The request that the current work belongs to. */
const requests = new AsyncLocalStorage<{ requestId: string }>();

/** Runs the work of a request. What libraries print in it is logged with the request's id. */
export const runRequest = <Result>(requestId: string, work: () => Result): Result => requests.run({ requestId }, work);

const LEVELS = { error: 'error', trace: 'error', warn: 'warn', log: 'info', info: 'info', debug: 'debug' } as const;

const REDIRECTED = Symbol.for('bot-detection.console-redirected');

/**
 * Sends the output of libraries through `console`, and Node's warnings, to the log: Next prints errors of pages and requests
 * on several lines, with the client's data. An error has the level that `findLevel` gives it. Only once in a process,
 * because Next's bundles hold another copy of this module.
 */
export function redirectConsole(log: Logger, findLevel: (error: Error) => 'debug' | 'warn' | 'error'): void {
  const shared = globalThis as { [REDIRECTED]?: true };
  if (shared[REDIRECTED]) return;
  shared[REDIRECTED] = true;
  for (const [method, level] of Object.entries(LEVELS) as [
    keyof typeof LEVELS,
    (typeof LEVELS)[keyof typeof LEVELS],
  ][]) {
    console[method] = (...values: unknown[]) => {
      const err = values.find((value) => value instanceof Error);
      const text = stripVTControlCharacters(format(...values.filter((value) => value !== err))).trim();
      log[err && level === 'error' ? findLevel(err) : level](
        { ...requests.getStore(), ...(err && { err }) },
        text || 'printed by a library',
      );
    };
  }
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'a warning of Node'));
}
