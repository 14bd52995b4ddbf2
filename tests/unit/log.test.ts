import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { describe, expect, it } from 'vitest';
import { serializeError } from '../../server/platform/log';

describe('an error in the log', () => {
  const failed = new DrizzleQueryError('insert into t values ($1)', ['whsec_secret'], new Error('connection lost'));

  it('keeps the statement and Postgres’ message of a failed query, and none of its parameters', () => {
    const described = serializeError(failed);
    expect(described).toMatchObject({ query: 'insert into t values ($1)', cause: { message: 'connection lost' } });
    expect(JSON.stringify(described)).not.toContain('whsec_secret');
  });

  it('shows no parameters through errors that wrap the failure', () => {
    const wrapped = new Error(failed.message, { cause: failed });
    expect(JSON.stringify(serializeError(wrapped))).not.toContain('whsec_secret');
  });

  it('keeps message, code and stack of any other error', () => {
    const error = Object.assign(new Error('boom'), { code: 'EBOOM' });
    expect(serializeError(error)).toMatchObject({
      message: 'boom',
      code: 'EBOOM',
      stack: expect.stringContaining('boom'),
    });
    expect(serializeError('text')).toEqual({ message: 'text' });
  });
});

/** Logs a line, then more once stdin ends, and then ends by itself. */
const LOGGING = `
  import { createLogger } from './server/platform/log.ts';
  const log = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
  log.info('first');
  process.stdin.resume().on('end', () => {
    let left = 5;
    setInterval(() => {
      log.info('more');
      if (--left === 0) process.exit(0);
    }, 120);
  });
`;

const startLogging = () => spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', LOGGING]);

describe('the log of a process', () => {
  it('is written while the process runs, and completely when it ends', async () => {
    const logging = startLogging();
    let text = '';
    logging.stderr.on('data', (chunk) => (text += chunk));
    await once(logging.stderr, 'data');
    expect(JSON.parse(text)).toMatchObject({ level: 'info', msg: 'first' });
    logging.stdin.end();
    expect(await once(logging, 'close')).toEqual([0, null]);
    expect(text.match(/"msg":"more"/g)).toHaveLength(5);
  });

  it('does not block the process when nobody reads it', async () => {
    const logging = startLogging();
    try {
      await once(logging.stderr, 'data');
      logging.stderr.destroy();
      logging.stdin.end();
      expect(await once(logging, 'exit', { signal: AbortSignal.timeout(15_000) })).toEqual([0, null]);
    } finally {
      logging.kill('SIGKILL');
    }
  });
});
