import { Logger } from 'graphile-worker';

export interface Log {
  info(o: object, m: string): void;
  warn(o: object, m: string): void;
  error(o: object, m: string): void;
}

/** Logs graphile-worker's errors as warnings. Drops its other messages, which it writes for every job. */
export function createGraphileLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.warn({ source: 'graphile-worker' }, message.slice(0, 500));
  });
}
