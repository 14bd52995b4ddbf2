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
const BUFFER_CHARACTERS = 8 * 1024;

const openStderr = () => pino.destination({ fd: 2, sync: true });
/** One for all logs of the process. */
let buffer: pino.DestinationStream | null = null;

/**
 * A log's way to stderr. A system call for each line would cost a request more than everything else about its line. What
 * is buffered is written when the process ends, by whatever fault of ours; a serverless platform's process just stops.
 */
function openBuffer(env: { VERCEL?: string | undefined }): pino.DestinationStream {
  if (env.VERCEL) return openStderr();
  buffer ??= bufferLines(openStderr());
  return buffer;
}

/** pino has a buffer of its own; flushing it never returns where nobody reads stderr any more. */
function bufferLines(stderr: pino.DestinationStream) {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    if (text) stderr.write(text);
  };
  setInterval(flush, FLUSH_MS).unref();
  process.on('exit', flush);
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= BUFFER_CHARACTERS) flush();
    },
    /** pino calls it after a line of level fatal. */
    flushSync: flush,
  };
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
