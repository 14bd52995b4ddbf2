import pino from 'pino';
import type { Env } from './env';

export type Logger = pino.Logger;

/** Creates the process's log on stderr: stdout belongs to what commands print. */
export function createLogger(env: Pick<Env, 'LOG_LEVEL' | 'LOG_FORMAT'> & { VERCEL?: string | undefined }): Logger {
  const format = env.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options: pino.LoggerOptions = {
    level: env.LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, format === 'pretty' ? prettyStream : openBuffer(env));
}

/** What a line waits at most until it is written, with those that came meanwhile. */
const FLUSH_MS = 100;
const BUFFER_BYTES = 8 * 1024;

const buffers = new Set<{ flushSync(): void }>();

/**
 * The log's way to stderr. A system call for each line would cost a request more than everything else about its line. What
 * is buffered is written when the process ends, by whatever fault of ours; a serverless platform's process just stops.
 */
function openBuffer(env: { VERCEL?: string | undefined }) {
  if (env.VERCEL) return pino.destination({ fd: 2, sync: true });
  const buffer = pino.destination({ fd: 2, sync: true, minLength: BUFFER_BYTES });
  if (buffers.size === 0) {
    const flushAll = () => {
      for (const one of buffers) one.flushSync();
    };
    setInterval(flushAll, FLUSH_MS).unref();
    process.on('exit', flushAll);
  }
  buffers.add(buffer);
  return buffer;
}

/**
 * An error as the log may show it. A failed query's own message and stack repeat its parameters (keys, secrets, notes), and
 * so do those of whatever wraps it: of such an error only the statement and what Postgres said remain.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { query, code, cause } = error as Error & { query?: unknown; code?: unknown };
  const words = isAboutQuery(error)
    ? { message: 'a query failed', query: typeof query === 'string' ? query : undefined }
    : { message: error.message, code, stack: error.stack };
  return { type: error.name, ...words, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}

function isAboutQuery(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('query' in error && 'params' in error) || isAboutQuery(error.cause);
}

/** One short line a record, for a person at a terminal. */
const prettyStream = {
  write(line: string) {
    const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown> & {
      err?: { stack?: string };
    };
    const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
    const stack = err?.stack ? `\n${err.stack}` : '';
    process.stderr.write(`${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${details}${stack}\n`);
  },
};
