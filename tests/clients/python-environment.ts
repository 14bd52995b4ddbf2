import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePython } from '../../clients/generate-python.mjs';
import { readBlocks } from '../support/documents';
import { installPythonTools, run } from '../support/generators/python-tools';

const PACKAGE = 'clients/python';
const PROGRAMS = 'tests/clients/python';

/** A virtual environment with the client, and nothing else than a list of packages. */
export interface PythonEnvironment {
  python: string;
  /** A folder with the programs of the tests, the examples of the README and the synchronous twin of the scenarios. */
  programs: string;
}

export interface PythonClient {
  /** A Python with what generates, builds and checks the client. */
  tools: string;
  wheel: string;
  /** With httpx alone. */
  plain: PythonEnvironment;
  /** With Flask and FastAPI too. */
  receivers: PythonEnvironment;
}

/** Builds the wheel and installs it into clean environments in `directory`. Throws if packages cannot be obtained. */
export async function installPythonClient(directory: string): Promise<PythonClient> {
  const tools = join(await installPythonTools(`${PACKAGE}/requirements.txt`), 'bin/python');
  const out = join(directory, 'dist');
  await run(tools, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', out], { cwd: PACKAGE });
  const wheel = join(out, (await readdir(out))[0]!);
  const programs = await preparePrograms(tools, join(directory, 'programs'));
  const [plain, receivers] = await Promise.all(
    ['runtime', 'receivers'].map(async (list) => {
      const home = join(directory, list);
      // What is cached stays as it is.
      await cp(await installPythonTools(`${PROGRAMS}/${list}.txt`), home, { recursive: true, verbatimSymlinks: true });
      const python = join(home, 'bin/python');
      const options = ['--quiet', '--disable-pip-version-check', '--no-index', '--no-deps'];
      await run(tools, ['-m', 'pip', '--python', python, 'install', ...options, wheel]);
      return { python, programs };
    }),
  );
  return { tools, wheel, plain: plain!, receivers: receivers! };
}

const UNASYNC = `import json, sys, unasync
files, names = json.loads(sys.argv[1])
unasync.unasync_files(files, [unasync.Rule("/async/", "/", names)])`;

async function preparePrograms(tools: string, folder: string): Promise<string> {
  const asynchronous = join(folder, 'async');
  await mkdir(asynchronous, { recursive: true });
  for (const name of await readdir(PROGRAMS))
    if (name.endsWith('.py')) await cp(join(PROGRAMS, name), join(folder, name));
  await cp(join(PROGRAMS, 'scenarios.py'), join(asynchronous, 'scenarios.py'));
  const names = { AsyncClient: 'Client' };
  await run(tools, ['-c', UNASYNC, JSON.stringify([[join(asynchronous, 'scenarios.py')], names])]);
  await cp(join(folder, 'scenarios.py'), join(folder, 'scenarios_sync.py'));
  await cp(join(asynchronous, 'scenarios.py'), join(folder, 'scenarios_async.py'));
  for (const [name, code] of readExamples()) await writeFile(join(folder, name), code);
  return folder;
}

/** The Python programs of the README, by name. */
export const readExamples = () =>
  new Map(
    readBlocks(`${PACKAGE}/README.md`)
      .filter(({ notRun }) => notRun === null)
      .map(({ name, code }) => [name!, `${code}\n`]),
  );

/** Generates the files of the package, and answers those that are not so in the repository. */
export async function findStaleFiles(): Promise<string[]> {
  const files = await generatePython(JSON.parse(await readFile('docs/openapi.json', 'utf8')));
  const stored = (path: string) => readFile(path, 'utf8').catch(() => null);
  const compared = Object.entries(files).map(async ([path, text]) => ((await stored(path)) === text ? [] : [path]));
  return (await Promise.all(compared)).flat();
}

/** Checks types strictly. Answers the lines with errors, as `file:line`. */
export async function checkPythonTypes(client: PythonClient, files: string[]): Promise<string[]> {
  const { python, programs } = client.receivers;
  const options = ['--strict', '--python-executable', python, '--cache-dir', join(programs, '.mypy')];
  const parameters = ['-m', 'mypy', ...options, '--no-error-summary', '--hide-error-context', ...files];
  const { stdout } = await run(client.tools, parameters, { cwd: programs }).catch((error) => {
    if (error.code !== 1) throw error;
    return error as { stdout: string };
  });
  return stdout.split('\n').filter((line) => / error: /.test(line));
}
