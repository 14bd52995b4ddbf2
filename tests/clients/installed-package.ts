import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { copyClients } from './copied-clients';

const run = promisify(execFile);
const NAME = 'bot-detection-client';

/** The client as a customer has it: packed, and installed into a folder outside of the repository. */
export interface InstalledPackage {
  home: string;
  /** Paths in the package. */
  files: string[];
  packedBytes: number;
  unpackedBytes: number;
  /** Loads an entry of the installed package into this process. */
  load<Module>(entry: string): Promise<Module>;
  /** Runs a script of the folder with plain Node. */
  runNode(script: string, env: Record<string, string>): Promise<{ stdout: string }>;
  /** Compiles programs of the folder, and answers the errors: `file.ts:line message`. */
  compile(files: string[], compiler?: 'typescript' | 'typescript-5'): Promise<string[]>;
  remove(): Promise<void>;
}

/** Packs the client as `npm publish` does, and installs it offline. */
export async function installClient(): Promise<InstalledPackage> {
  const sources = await copyClients();
  const home = await mkdtemp(join(tmpdir(), 'client-'));
  const env = { ...process.env, npm_config_update_notifier: 'false', npm_config_cache: join(home, '.npm') };
  const npm = async (cwd: string, ...parameters: string[]) => (await run('npm', parameters, { cwd, env })).stdout;
  const [packed] = JSON.parse(
    await npm(join(sources.folder, 'typescript'), 'pack', '--json', '--pack-destination', home),
  );
  await sources.remove();
  await writeFile(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await npm(home, 'install', '--offline', '--no-audit', '--no-fund', join(home, packed.filename));
  const installed = join(home, 'node_modules', NAME);
  return {
    home,
    files: packed.files.map(({ path }: { path: string }) => path).sort(),
    packedBytes: packed.size,
    unpackedBytes: packed.unpackedSize,
    load: (entry) => import(join(installed, 'dist', `${entry}.js`)),
    runNode: (script, scriptEnv) =>
      run(process.execPath, [join(home, script)], {
        cwd: home,
        env: { NODE_ENV: 'production', PATH: process.env.PATH, ...scriptEnv },
      }),
    async compile(files, compiler = 'typescript') {
      const script = resolve('node_modules', compiler, 'bin/tsc');
      const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022'];
      const parameters = [script, ...options, '--module', 'nodenext', '--types', 'node', '--pretty', 'false', ...files];
      const { stdout } = await run(process.execPath, parameters, { cwd: home }).catch((error) => error);
      return [...String(stdout).matchAll(/^(.+?)\((\d+),\d+\): error (.*)/gm)].map(
        ([, file, line, message]) => `${file}:${line} ${message}`,
      );
    },
    remove: () => rm(home, { recursive: true }),
  };
}

/** Lets programs in the folder import packages of the repository, such as frameworks and types. */
export async function linkPackages({ home }: InstalledPackage, names: string[]): Promise<void> {
  for (const name of names) {
    const path = join(home, 'node_modules', name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(resolve('node_modules', name), path);
  }
}

/** Copies programs of the tests into the folder. */
export async function copyPrograms({ home }: InstalledPackage, names: string[]): Promise<void> {
  for (const name of names) await copyFile(join('tests/clients/programs', name), join(home, name));
}
