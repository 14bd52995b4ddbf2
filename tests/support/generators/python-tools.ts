import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

const REQUIREMENTS = 'tests/support/generators/requirements.txt';
/** They bring a Java runtime, so loading them can take minutes. */
export const INSTALL_LIMIT_MS = 300_000;

/**
 * Where the packages of a list are installed: the generators and what Python clients need, unless another list is named. Throws if they
 * cannot be obtained.
 */
export async function installPythonTools(requirements = REQUIREMENTS): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const directory = resolve('node_modules/.cache', `python-${digest}`);
  if (existsSync(directory)) return directory;
  // A directory with that name is complete. Its scripts name this path, so only `python -m` works after the move.
  const unfinished = `${directory}-${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await run('python3', ['-m', 'venv', '--without-pip', unfinished]);
  const python = join(unfinished, 'bin/python');
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--no-deps',
    '--no-compile',
    '--only-binary',
    ':all:',
  ];
  const [command, ...pip] = await findPip(python);
  await run(command, [...pip, 'install', ...options, '--requirement', requirements], { timeout: INSTALL_LIMIT_MS });
  await rename(unfinished, directory).catch(async (error) => {
    // Another test file may have installed the same list meanwhile.
    if (!existsSync(directory)) throw error;
    await rm(unfinished, { recursive: true });
  });
  return directory;
}

/** The machine's own pip, or else one that comes with Python and takes seconds to install. */
async function findPip(python: string): Promise<[string, ...string[]]> {
  const parameters = ['-m', 'pip', '--python', python];
  const isThere = await run('python3', [...parameters, '--version']).then(
    () => true,
    () => false,
  );
  if (isThere) return ['python3', ...parameters];
  await run(python, ['-m', 'ensurepip']);
  return [python, '-m', 'pip'];
}
