import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

it('a build without the development packages says what is missing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'build-'));
  for (const file of ['start.mjs', 'build.mjs', 'build-lock.mjs', 'external-packages.mjs'])
    cpSync(join('server', file), join(directory, 'server', file));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const { status, stderr } = spawnSync(process.execPath, ['server/start.mjs', 'build'], {
    cwd: directory,
    encoding: 'utf8',
  });
  rmSync(directory, { recursive: true });
  expect([status, stderr]).toEqual([1, 'Building needs the development packages: npm install --include=dev\n']);
});

it.each(['development', 'test', 'staging'])('what was built runs in production, also where NODE_ENV is %s', (value) => {
  const directory = mkdtempSync(join(tmpdir(), 'build-'));
  for (const file of ['start.mjs', 'build.mjs', 'build-lock.mjs', 'external-packages.mjs'])
    cpSync(join('server', file), join(directory, 'server', file));
  const esbuild = join(directory, 'node_modules/esbuild');
  mkdirSync(esbuild, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(esbuild, 'package.json'), '{"main":"index.mjs"}');
  const output = 'process.stdout.write(process.env.NODE_ENV)';
  writeFileSync(
    join(esbuild, 'index.mjs'),
    `import { writeFileSync } from 'node:fs';
     export const build = () => ['main', 'admin'].map((name) => writeFileSync('dist/' + name + '.mjs', '${output}'));`,
  );
  const { stdout } = spawnSync(process.execPath, ['server/start.mjs', 'admin'], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: value as 'test' },
  });
  rmSync(directory, { recursive: true });
  expect(stdout).toBe('production');
});

it('a signal ends the build of Next too, which would refuse the next one meanwhile', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'build-'));
  const next = join(directory, 'node_modules/next/dist/bin');
  mkdirSync(next, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{}');
  writeFileSync(
    join(next, 'next'),
    "process.stderr.write('built by ' + process.pid + '\\n'); setInterval(() => {}, 1_000);",
  );
  const module = JSON.stringify(resolve('server/build.mjs'));
  const starting = spawn(
    process.execPath,
    ['--input-type=module', '--eval', `import { buildIfNeeded } from ${module}; await buildIfNeeded('next');`],
    { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  starting.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  await expect.poll(() => said).toMatch(/built by \d+\n/);
  const builder = Number(said.match(/built by (\d+)\n/)![1]);
  const ended = once(starting, 'exit');
  starting.kill('SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(() => process.kill(builder, 0)).toThrow('ESRCH');
  rmSync(directory, { recursive: true });
});

describe('a part is built again', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'build-'));
    for (const file of ['build.mjs', 'build-lock.mjs', 'external-packages.mjs'])
      cpSync(join('server', file), join(directory, 'server', file));
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    };
    // Stands for both tools. It writes its output, and then fails if the sources say so.
    const build = `
      import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
      export function build(outputs) {
        appendFileSync('builds', '.');
        for (const [folder, name] of outputs) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(folder + '/' + name, '');
        }
        if (readFileSync('package.json', 'utf8').includes('broken')) process.exit(1);
      }`;
    put('node_modules/fake/index.mjs', build);
    put(
      'node_modules/esbuild/index.mjs',
      `import * as fake from '../fake/index.mjs';
       export const build = () => fake.build([['dist', 'main.mjs'], ['dist', 'admin.mjs']]);`,
    );
    put('node_modules/esbuild/package.json', '{"main":"index.mjs"}');
    put(
      'node_modules/next/dist/bin/next',
      "import('../../../fake/index.mjs').then(({ build }) => build([['.next', 'BUILD_ID']]))",
    );
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** Makes sure that a part is built, and counts how often it was. */
  function build(part: string, sources: string) {
    writeFileSync(join(directory, 'package.json'), sources);
    const script = `import { buildIfNeeded } from './server/build.mjs'; await buildIfNeeded('${part}');`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: directory });
    return [status, readFileSync(join(directory, 'builds'), 'utf8').length];
  }

  it.each(['server', 'next'])(
    'if a build of other sources did not end, which left something in its place: %s',
    (part) => {
      writeFileSync(join(directory, 'builds'), '');
      expect(build(part, '{}')).toEqual([0, 1]);
      expect(build(part, '{}')).toEqual([0, 1]);
      expect(build(part, '{"name":"broken"}')).toEqual([1, 2]);
      expect(build(part, '{}')).toEqual([0, 3]);
    },
  );

  it.each([
    ['server', 'dist/admin.mjs'],
    ['next', '.next/BUILD_ID'],
  ])('if its output is gone: %s', (part, output) => {
    writeFileSync(join(directory, 'builds'), '');
    build(part, '{}');
    writeFileSync(join(directory, 'builds'), '');
    rmSync(join(directory, output));
    expect(build(part, '{}')).toEqual([0, 1]);
  });
});

it.each([[], ['mian']])('a start without a known entry says which there are: %j', (...args) => {
  const { status, stderr } = spawnSync(process.execPath, ['server/start.mjs', ...args], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'usage: node server/start.mjs main|admin|build\n']);
});

describe('the lock of a build', () => {
  let directory: string;
  let lock: string;
  /** Once this file exists, builds end at once. */
  let mayEnd: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'build-lock-'));
    mayEnd = join(directory, 'may-end');
    lock = join(directory, 'dist', '.lock');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** Starts a process that takes the lock, says so, keeps it until builds may end, and releases it. */
  function startBuild() {
    const script = `
      import { appendFileSync, existsSync } from 'node:fs';
      import { holdBuildLock } from ${JSON.stringify(resolve('server/build-lock.mjs'))};
      const release = await holdBuildLock(${JSON.stringify(lock)});
      const log = (line) => appendFileSync(${JSON.stringify(join(directory, 'log'))}, line + '\\n');
      log('begin ' + process.pid);
      while (!existsSync(${JSON.stringify(mayEnd)})) await new Promise((resolve) => setTimeout(resolve, 20));
      log('end ' + process.pid);
      release();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    return { pid: child.pid!, child, readSaid: () => said, ended: once(child, 'exit') };
  }
  const readLog = () => {
    const path = join(directory, 'log');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  };

  it('lets one process build at a time; the others say what they wait for', async () => {
    const first = startBuild();
    await expect.poll(readLog).toEqual([`begin ${first.pid}`]);
    const waiting = [startBuild(), startBuild()];
    for (const { readSaid } of waiting)
      await expect.poll(readSaid).toBe(`Waiting for the build of process ${first.pid} (${lock}) …\n`);
    writeFileSync(mayEnd, '');
    await Promise.all([first, ...waiting].map(({ ended }) => ended));
    const lines = readLog();
    expect(lines).toHaveLength(6);
    for (let n = 0; n < lines.length; n += 2) {
      expect([lines[n], lines[n + 1]]).toEqual([lines[n], lines[n]!.replace('begin', 'end')]);
    }
    expect(existsSync(lock)).toBe(false);
  });

  it('is free again if its process was killed', async () => {
    rmSync(mayEnd);
    const killed = startBuild();
    await expect.poll(readLog).toContain(`begin ${killed.pid}`);
    killed.child.kill('SIGKILL');
    await killed.ended;
    writeFileSync(mayEnd, '');
    const next = startBuild();
    await next.ended;
    expect(readLog()).toContain(`end ${next.pid}`);
  });

  it('is free again after a quarter of an hour, whatever process has that id now', async () => {
    writeFileSync(lock, String(process.pid));
    const before = new Date(Date.now() - 15 * 60_000 - 1_000);
    utimesSync(lock, before, before);
    const next = startBuild();
    await next.ended;
    expect(readLog()).toContain(`end ${next.pid}`);
  });
});
