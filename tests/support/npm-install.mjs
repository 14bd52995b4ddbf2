#!/usr/bin/env node
// The `npm` and `npx` of a reader who follows the documents in a test, where no registry may be reached. `npm install`
// takes packages from the repository's node_modules, in the versions that a document names, and refuses any other. npm itself
// installs a file, which must need no other package.
// `npx` runs what is installed. `npm start` and `npm run` run the script without npm, which would take half a second of CPU
// time each; tests/e2e runs them through npm. Everything else is done by npm.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const INSTALLED = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'node_modules');
/** The documents name a compiler that is older than the repository's. */
const INSTEAD = { typescript: 'typescript-5' };
const COMMANDS = {
  tsc: 'typescript/bin/tsc',
  tsx: 'tsx/dist/cli.mjs',
};

const [verb, ...args] = process.argv.slice(2);
const packages = args.filter((arg) => !arg.startsWith('-'));
if (basename(process.argv[1]) === 'npx') run(join('node_modules/.bin', verb), args);
else if (verb === 'start') runScript('start', []);
else if (verb === 'run') runScript(packages[0], args.slice(args.indexOf('--') + 1 || args.length));
else if (verb !== 'install') run('npm', process.argv.slice(2));
else if (packages[0]?.startsWith('./')) run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packages]);
else if (packages.length > 0) install();

function runScript(name, parameters) {
  const script = JSON.parse(readFileSync('package.json', 'utf8')).scripts[name];
  run('sh', ['-c', `${script} "$@"`, 'sh', ...parameters]);
}

function run(command, parameters) {
  // Skips this file, which comes first in the path.
  const PATH = process.env.PATH.split(':').slice(1).join(':');
  const { status, error } = spawnSync(command, parameters, { stdio: 'inherit', env: { ...process.env, PATH } });
  if (error) process.stderr.write(`${error.message}\n`);
  process.exit(status ?? 1);
}

function install() {
  mkdirSync('node_modules/.bin', { recursive: true });
  for (const spec of packages) {
    const [, name, version] = /^(@?[^@]+)@([\d.]+)$/.exec(spec) ?? [];
    if (!name) throw new Error(`${spec} names no version`);
    const found = JSON.parse(readFileSync(join(INSTALLED, INSTEAD[name] ?? name, 'package.json'), 'utf8')).version;
    if (!`${found}.`.startsWith(`${version}.`)) throw new Error(`${spec}: tried with ${found}`);
  }
  // Links everything that the package needs.
  for (const name of readdirSync(INSTALLED)) {
    const to = join('node_modules', name);
    if (name.startsWith('.') || existsSync(to)) continue;
    symlinkSync(join(INSTALLED, INSTEAD[name] ?? name), to);
  }
  for (const [command, script] of Object.entries(COMMANDS)) {
    const to = join('node_modules/.bin', command);
    if (!existsSync(to)) symlinkSync(join('..', script), to);
  }
}
