import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Installs the laboratory's packages next to it: those of npm, and those of Python in an environment of their own. */
export function installPackages(say: (line: string) => void): void {
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: HERE, stdio: 'inherit' });
  run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  try {
    run('python3', '-m', 'venv', '.venv');
    run('.venv/bin/python', '-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', 'requirements.txt');
  } catch (error) {
    say(`The drivers of Python are left out: ${(error as Error).message}`);
  }
}
