import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

const REQUIREMENTS = resolve('tests/support/generators/requirements.txt');
const INSTALL_LIMIT_MS = 120_000;

/** Where the generators and what Python clients need are installed. Throws if they cannot be obtained. */
export async function installPythonTools(): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const directory = resolve('node_modules/.cache', `client-generators-${digest}`);
  if (existsSync(directory)) return directory;
  // A directory with that name is complete. Its scripts name this path, so only `python -m` works after the move.
  const unfinished = `${directory}-${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await run('python3', ['-m', 'venv', unfinished]);
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--requirement', REQUIREMENTS];
  await run(join(unfinished, 'bin/python'), ['-m', 'pip', 'install', ...options], { timeout: INSTALL_LIMIT_MS });
  await rename(unfinished, directory);
  return directory;
}
