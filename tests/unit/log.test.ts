import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serializeError } from '../../server/platform/log';
import { escapeControls, escapeLines } from '../../server/platform/terminal';
import { eventually } from '../support/eventually';

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

let directory: string;
let scripts = 0;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Bundles code for a process. Answers the path of its script. */
async function bundle(code: string): Promise<string> {
  const outfile = join(directory, `bundle-${++scripts}.mjs`);
  await build({
    stdin: { contents: code, sourcefile: 'logging.ts', loader: 'ts', resolveDir: process.cwd() },
    ...{ outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', sourcemap: true },
  });
  return outfile;
}

it('a stack in the log names the lines of the sources, not those of the bundle', async () => {
  const script = await bundle(`
    import { serializeError } from './server/platform/log.ts';
    const fail = () => { throw new Error('boom'); };
    try { fail(); } catch (error) { console.log(serializeError(error).stack); }`);
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toMatch(/^Error: boom\n {4}at fail \(.*logging\.ts:3:32\)\n/);
  expect(stdout).not.toContain('.mjs:');
});

/** Logs a line, then more once stdin ends, and then ends by itself. */
const makeLogging = (format: string) => `
  import { createLogger } from './server/platform/log.ts';
  const log = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: '${format}' });
  log.info('first');
  process.stdin.resume().on('end', () => {
    let left = 5;
    setInterval(() => {
      log.info('more');
      if (--left === 0) process.exit(0);
    }, 120);
  });
`;

describe('the log of a process', () => {
  const script = new Map<string, string>();
  beforeAll(async () => {
    for (const format of ['json', 'pretty']) script.set(format, await bundle(makeLogging(format)));
  });
  const startLogging = () => spawn(process.execPath, [script.get('json')!]);

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

  // Every write to it fails for want of space.
  describe.runIf(existsSync('/dev/full'))('on a disk that is full', () => {
    it.each(['json', 'pretty'])('does not end the process, in the format %s', async (format) => {
      const full = openSync('/dev/full', 'w');
      const logging = spawn(process.execPath, [script.get(format)!], { stdio: ['pipe', 'ignore', full] });
      closeSync(full);
      logging.stdin!.end();
      expect(await once(logging, 'exit')).toEqual([0, null]);
    });
  });

  describe('whose reader stalls', () => {
    /** Logs more than a pipe holds, says that it goes on, and ends when stdin does. */
    const startFlood = async () =>
      spawn(process.execPath, [
        await bundle(`
          import { spawnSync } from 'node:child_process';
          import { createLogger } from './server/platform/log.ts';
          // As a build does.
          spawnSync(process.execPath, ['--version'], { stdio: ['ignore', 'ignore', 2] });
          const log = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
          for (let n = 0; n < 3_000; n += 1) log.info({ n, text: 'x'.repeat(100) });
          process.stdout.write('goes on');
          process.stdin.resume().on('end', () => process.exit(0));
        `),
      ]);

    it('does not block the process, and has every line when it is read again', async () => {
      const logging = await startFlood();
      try {
        await once(logging.stdout, 'data', { signal: AbortSignal.timeout(15_000) });
        let text = '';
        logging.stderr.on('data', (chunk) => (text += chunk));
        await eventually(() => expect(text.split('\n')).toHaveLength(3_001));
        const read = text.trimEnd().split('\n');
        expect(read.map((line) => JSON.parse(line).n)).toEqual(Array.from(read, (_, n) => n));
      } finally {
        logging.kill('SIGKILL');
      }
    });

    it('does not keep the process from ending', async () => {
      const logging = await startFlood();
      try {
        logging.stdin.end();
        expect(await once(logging, 'exit', { signal: AbortSignal.timeout(15_000) })).toEqual([0, null]);
      } finally {
        logging.kill('SIGKILL');
      }
    });
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

/** Characters that clear a terminal, begin a sequence of 8 bits, end a line or turn the direction of text. */
const CONTROLS = '\u001b[2J\u009b31m\u0007\r\u0085\u007f\u2028\u2029\u202e\u2066';
const isObeyed = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

describe('control characters', () => {
  it('are escaped, and the JSON stays the same', () => {
    const record = { msg: `a${CONTROLS}\n\tb` };
    expect(escapeLines(JSON.stringify(record))).not.toMatch(isObeyed);
    expect(JSON.parse(escapeLines(JSON.stringify(record)))).toEqual(record);
    expect(escapeControls('a\tb\nc\u009b')).toBe('a\\u0009b\\nc\\u009b');
    expect(escapeLines('Käthe 日本 😀\nnext')).toBe('Käthe 日本 😀\nnext');
  });

  it.each(['json', 'pretty'])('do not reach a terminal through the log in the format %s', async (format) => {
    const code = `
      import { redirectConsole } from './server/platform/console.ts';
      import { createLogger } from './server/platform/log.ts';
      const log = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: '${format}' });
      const text = ${JSON.stringify(`${CONTROLS}\n{"level":"info"}`)};
      log.error({ err: new Error(text), field: text }, text);
      redirectConsole(log, () => 'error');
      redirectConsole(log, () => 'error');
      console.error('\\u001b[31m \\u2a2f \\u001b[39m', new Error(text), text);
      console.log('%s of %d', text, 2);
      process.emitWarning(text);
    `;
    const child = spawn(process.execPath, [await bundle(code)]);
    const read = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => (read.out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (read.err += text));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(read.out).toBe('');
    expect(read.err).not.toMatch(isObeyed);
    const lines = read.err.trimEnd().split('\n');
    // A line of a message never looks like a record.
    if (format === 'pretty') expect(lines.filter((line) => !/^(\d\d:\d\d:\d\d | )/.test(line))).toEqual([]);
    else {
      expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error', 'error', 'info', 'warn']);
      expect(lines.map((line) => JSON.parse(line).err?.message.includes('[2J'))).toEqual([true, true, undefined, true]);
    }
  });
});

it('what Next prints of an outage of the database is no fault of ours', async () => {
  const code = `
    import { findFaultLevel } from './db/errors.ts';
    import { redirectConsole } from './server/platform/console.ts';
    import { createLogger } from './server/platform/log.ts';
    redirectConsole(createLogger({ LOG_LEVEL: 'debug', LOG_FORMAT: 'json' }), findFaultLevel);
    const fail = (code) => new Error('a page failed', { cause: Object.assign(new Error('why'), { code }) });
    for (const code of ['DATABASE_AWAY', 'ECONNREFUSED', '23505']) console.error(fail(code));
    console.warn(fail('DATABASE_AWAY'));
  `;
  const child = spawn(process.execPath, [await bundle(code)]);
  let read = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (read += text));
  expect(await once(child, 'close')).toEqual([0, null]);
  const levels = read
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).level);
  expect(levels).toEqual(['debug', 'warn', 'error', 'warn']);
});

it.each(['json', 'pretty'])('the format %s says why a query failed, without its parameters', async (format) => {
  const code = `
    import { createLogger } from './server/platform/log.ts';
    const cause = new Error('deadlock detected');
    const failed = Object.assign(new Error('params: hunter2', { cause }), { query: 'update x', params: ['hunter2'] });
    createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: '${format}' }).error({ err: failed }, 'a call failed');
  `;
  const child = spawn(process.execPath, [await bundle(code)]);
  let read = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (read += text));
  expect(await once(child, 'close')).toEqual([0, null]);
  for (const part of ['a call failed', 'a query failed', 'update x', 'deadlock detected']) expect(read).toContain(part);
  expect(read).not.toContain('hunter2');
});
