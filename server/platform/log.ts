import pino from 'pino';
import type { Env } from './env';
import { nameSources } from './stack-traces';
import { refuseToWait } from './stderr-internals';
import { escapeControls, escapeLines } from './terminal';

export type Logger = pino.Logger;

/** Creates the process's log on stderr. Stdout is for the output of commands. */
export function createLogger(env: Pick<Env, 'LOG_LEVEL' | 'LOG_FORMAT'> & { VERCEL?: string | undefined }): Logger {
  const format = env.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options: pino.LoggerOptions = {
    level: env.LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, format === 'pretty' ? prettyStream : openBuffer(env));
}

/** The longest time that a line stays in the buffer. */
const FLUSH_MS = 100;
const BUFFER_CHARACTERS = 8 * 1024;

/** What cannot be written now waits, up to this length. Further lines are lost. */
const UNWRITTEN_BYTES = 1024 * 1024;
/** How long the end of the process waits for the reader of stderr. */
const LAST_LINES_MS = 1_000;

// The log may be a file on a full disk. Without a listener, each error would be an unexpected one, which ends the process.
const ignoreFailedWrite = () => {};
process.stderr.on('error', ignoreFailedWrite);

/** JSON escapes only some of the characters that a terminal obeys. */
function openStderr(): pino.DestinationStream {
  // A pipe that nobody empties takes nothing more for now (EAGAIN). pino would wait for it, and the whole process with it.
  if (!process.stderr.isTTY) refuseToWait(process.stderr);
  let isEnding = () => false;
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: UNWRITTEN_BYTES, retryEAGAIN: () => isEnding() });
  let isDue = false;
  const writeWaiting = () => {
    isDue = false;
    stderr.write('');
  };
  stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EAGAIN' || isDue) return;
    isDue = true;
    setTimeout(writeWaiting, FLUSH_MS).unref();
  });
  process.on('exit', () => {
    const endsAt = performance.now() + LAST_LINES_MS;
    isEnding = () => performance.now() < endsAt;
    writeWaiting();
  });
  return { write: (lines) => void stderr.write(escapeLines(lines)) };
}

/** One buffer for all loggers of the process. */
let buffer: pino.DestinationStream | null = null;

/**
 * Opens stderr with a buffer. Without it, the system call per line would cost a request more than the rest of its log
 * line. The buffer is written when the process ends, even after an unexpected error. A serverless platform stops its
 * processes without notice, so lines are not buffered there.
 */
function openBuffer(env: { VERCEL?: string | undefined }): pino.DestinationStream {
  if (env.VERCEL) return openStderr();
  buffer ??= bufferLines(openStderr());
  return buffer;
}

/** Replaces pino's own buffer, whose flush never returns once nobody reads stderr. */
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
    /** pino calls this after a line of level fatal. */
    flushSync: flush,
  };
}

/**
 * Describes an error for the log. The message and stack of a failed query repeat its parameters (keys, secrets, notes),
 * and so do those of errors that wrap it. For such errors, only the statement and Postgres' own message are kept.
 */
export function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { query, code, cause } = error as Error & { query?: unknown; code?: unknown };
  const words = isAboutQuery(error)
    ? { message: 'a query failed', query: typeof query === 'string' ? query : undefined }
    : { message: error.message, code, stack: error.stack && nameSources(error.stack) };
  return { type: error.name, ...words, ...(cause === undefined ? {} : { cause: serializeError(cause) }) };
}

function isAboutQuery(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('query' in error && 'params' in error) || isAboutQuery(error.cause);
}

/** Leaves out stacks, which follow on separate lines. The message and the cause of an error stay. */
const dropStacks = (name: string, value: unknown) => (name === 'stack' ? undefined : value);

/** Writes one short line per record, for a person at a terminal. */
const prettyStream = {
  write(line: string) {
    const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown> & { err?: { stack?: string } };
    const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest, dropStacks)}` : '';
    const text = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${details}`;
    // Indented, so that a message cannot look like a record.
    const stack = rest.err?.stack ? `\n${escapeLines(rest.err.stack)}`.replaceAll('\n', '\n  ') : '';
    process.stderr.write(`${escapeControls(text)}${stack}\n`);
  },
};
