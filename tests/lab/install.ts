import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALLED, PYTHON } from './driving/packages';

const FILES = ['package.json', 'package-lock.json', 'requirements.txt'];

/** Installs the laboratory's packages: those of npm, and those of Python in a separate environment. */
export function installPackages(say: (line: string) => void): void {
  mkdirSync(INSTALLED, { recursive: true });
  for (const file of FILES) copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(INSTALLED, file));
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: INSTALLED, stdio: 'inherit' });
  run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  try {
    run('python3', '-m', 'venv', 'python');
    run(PYTHON, '-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', 'requirements.txt');
  } catch (error) {
    say(`The drivers of Python are left out: ${(error as Error).message}`);
  }
}
