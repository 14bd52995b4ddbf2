import { Logger } from 'graphile-worker';

export interface Log {
  info(o: object, m: string): void;
  warn(o: object, m: string): void;
  error(o: object, m: string): void;
}

/** graphile-worker's errors as warnings of ours; it also talks about every job, which is dropped. */
export function graphileLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.warn({ source: 'graphile-worker' }, message.slice(0, 500));
  });
}
