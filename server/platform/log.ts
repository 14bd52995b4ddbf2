import pino from 'pino';
import type { Env } from './env';

export type Logger = pino.Logger;

/** Creates the process's log on stderr: stdout belongs to what commands print. */
export function createLogger(env: Pick<Env, 'LOG_LEVEL' | 'LOG_FORMAT'>): Logger {
  const format = env.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options: pino.LoggerOptions = {
    level: env.LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, format === 'pretty' ? prettyStream : pino.destination({ fd: 2, sync: true }));
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
